"""What the pages of this app have in common, such as forms of authorization strategies by action."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.forms import SimpleArrayField
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.claims.validation import advice_on_views, unknown_for, warnings_about
from edfi_api.core.security.models import Application, DefaultStrategies, OverridingStrategies
from edfi_api.core.security.organizations import OrganizationNames, data_stores_of, organization_names
from edfi_api.core.security.profiles.loading import assign_profiles, notices
from edfi_api.core.security.profiles.models import Profile
from edfi_api.core.security.strategies.table import STRATEGIES
from edfi_api.core.served import current_surface
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.web.admin_kit.authorship import admin_user

MOST_SHOWN = 100


def links(rows: Any, model: str) -> SafeString:
    """Links to the pages of these rows, one per line."""
    lines = ((reverse(f"admin:security_{model}_change", args=[row.pk]), row) for row in rows)
    return format_html_join("", '<a href="{}">{}</a><br>', lines) or SafeString("-")


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


def named_organizations(ids: Sequence[int], data_stores: Sequence[int]) -> SafeString:
    """A line for each id."""
    shown = ids[:MOST_SHOWN]
    lines = list(_lines(shown, organization_names(shown, data_stores))) if ids else []
    if len(ids) > MOST_SHOWN:
        lines.append(f"and {len(ids) - MOST_SHOWN} more")
    return format_html_join("", "{}<br>", ((line,) for line in lines)) or SafeString("-")


def unknown_organizations(ids: Sequence[int], data_stores: Sequence[int]) -> list[str]:
    """A sentence about those that do not exist: no error, since an application may be made before them."""
    found = organization_names(ids, data_stores)
    unknown = sorted(set(ids) - found.names.keys()) if found.is_complete else []
    return [f"There is no education organization {', '.join(map(str, unknown))} yet."] if unknown else []


def _lines(ids: Sequence[int], found: OrganizationNames) -> Iterator[str]:
    without_name = "does not exist yet" if found.is_complete else "not found; not every data store answers"
    for id_ in ids:
        yield f"{id_}: {found.names.get(id_, without_name)}"


def assign(request: HttpRequest, application: Application, profiles: Iterable[Profile]) -> None:
    """Bind the clients of the application by these profiles, with the notices about each as warnings."""
    assigned = assign_profiles(application, [profile.name for profile in profiles], by=admin_user(request))
    checker = ProfileChecker(current_surface())
    for notice in (notice for profile in assigned for notice in notices(profile, checker)):
        messages.warning(request, f"{application}: {notice}")


def remark(request: HttpRequest, application: Application) -> None:
    """Show the warnings about the application's claim set and organizations as warnings on the next page."""
    unknown = unknown_organizations(application.education_organization_ids, data_stores_of(application))
    for text in (*warnings_about(application), *unknown):
        messages.warning(request, f"{application}: {text}")
