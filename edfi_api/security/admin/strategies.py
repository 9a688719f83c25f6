"""Authorization strategies by action, as forms on the pages of resource claims and of grants."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.postgres.forms import SimpleArrayField

from edfi_api.startup import current_surface

from ..claims.model import Action
from ..claims.strategy_faults import advice_on_views, unknown_for
from ..models import DefaultStrategies, OverridingStrategies
from ..policies.table import STRATEGIES


class StrategiesField(forms.MultipleChoiceField):
    """Choices are Ed-Fi's strategies and any others that are already stored."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"choices": _strategy_choices, "widget": forms.SelectMultiple(attrs={"size": 6})})


def _strategy_choices() -> list[tuple[str, str]]:
    stored = [
        name
        for model in (DefaultStrategies, OverridingStrategies)
        for names in model.objects.values_list("strategies", flat=True)
        for name in names
    ]
    return [(name, name) for name in dict.fromkeys([*STRATEGIES, *stored])]


class StrategiesForm(forms.ModelForm):  # type: ignore[type-arg]
    """The strategies of one action."""

    strategies = StrategiesField(
        required=False,
        help_text="Several: one of the relationship strategies has to let a document through, and all of the others.",
    )
    custom_views = SimpleArrayField(
        forms.CharField(), required=False, help_text="Further ones, such as StudentWithCTEProgram, separated by commas."
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        names = list(dict.fromkeys([*cleaned.get("strategies", ()), *cleaned.get("custom_views", ())]))
        if not names:
            self.add_error("strategies", "Choose a strategy, or name a custom view.")
        if unknown := unknown_for(cleaned.get("action", ""), names, current_surface()):
            self.add_error(
                "strategies", f"Unknown, or not for this action: {', '.join(unknown)}.{advice_on_views(unknown)}"
            )
        return cleaned | {"strategies": names}


class StrategiesInline(admin.TabularInline):  # type: ignore[type-arg]
    """Strategies by action."""

    form = StrategiesForm
    fields = ["action", "strategies", "custom_views"]
    extra = 0
    max_num = len(Action)


class DefaultStrategiesInline(StrategiesInline):
    """The default strategies of a resource claim."""

    model = DefaultStrategies
    verbose_name_plural = "Default strategies of this claim and of all below it; the nearest to a resource count"


class OverridingStrategiesInline(StrategiesInline):
    """The strategies that a grant uses in place of the defaults."""

    model = OverridingStrategies
    verbose_name_plural = "Strategies in place of the defaults"
