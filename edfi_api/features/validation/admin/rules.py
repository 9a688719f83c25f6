"""Rules and runs in the admin."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.common.logs import audit
from edfi_api.features.validation.admin.results import open_results
from edfi_api.features.validation.models import ValidationRule, ValidationRun, ValidationRunRule
from edfi_api.features.validation.values import UnusableValue, parsed
from edfi_api.web.admin_kit.read_only import ReadOnlyAdmin
from edfi_api.web.admin_kit.store_choice import OfDataStoreAdmin

_RUNS_SHOWN = 10
_SWITCHES = {"is_switched_off", "is_switched_on"}


@admin.register(ValidationRule)
class ValidationRuleAdmin(OfDataStoreAdmin, ReadOnlyAdmin):
    """A rule: what its file says, how it ran, and what can be set here: whether it is run, and parameters."""

    list_display = [
        "identifier",
        "source",
        "short_description",
        "severity",
        "category",
        "state",
        "last_outcome",
        "open",
    ]
    list_filter = ["severity", "category", "source", "is_switched_off", "is_switched_on"]
    search_fields = ["identifier", "short_description"]
    ordering = ["source", "identifier"]
    readonly_fields = (
        "identifier", "source", "version", "short_description", "description", "severity", "category", "resource",
        "language", "file", "state", "retired_at", "open", "last_runs", "declared_parameters",
    )  # fmt: skip
    fields = (*readonly_fields, "is_switched_off", "is_switched_on", "parameters")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_change_permission(self, request, obj)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change, **options)
        declared = obj.declared_parameters if obj else {}

        def clean_parameters(self: Any) -> dict[str, str]:
            return checked_parameters(self.cleaned_data["parameters"], declared)

        def clean(self: Any) -> None:
            form.clean(self)
            if self.cleaned_data.get("is_switched_off") and self.cleaned_data.get("is_switched_on"):
                raise ValidationError("A rule cannot be switched both off and on.")

        return type(form.__name__, (form,), {"clean_parameters": clean_parameters, "clean": clean})

    def save_model(self, request: HttpRequest, obj: ValidationRule, form: Any, change: bool) -> None:
        changed = {*_SWITCHES, "parameters"}
        if _SWITCHES.intersection(form.changed_data):
            obj.modified_at = timezone.now()  # Clients read the status of the rule.
            changed.add("modified_at")
        obj.save(update_fields=changed)
        audit.log_change("rule changed", changed=", ".join(form.changed_data), by=request.user, **obj.audit_facts)

    @admin.display
    def state(self, rule: ValidationRule) -> str:
        if rule.is_switched_off or rule.is_switched_on:
            return "switched off" if rule.is_switched_off else "switched on"
        if not rule.is_active:
            return "inactive"
        return "active" if rule.retired_at is None else "retired"

    @admin.display(description="open results")
    def open(self, rule: ValidationRule) -> SafeString:
        number = open_results(str(rule._state.db)).filter(rule=rule)[:10_001].count()
        address = reverse("admin:validation_validationresult_changelist")
        return format_html('<a href="{}?rule__id__exact={}">{}</a>', address, rule.pk, f"{number:,}")

    @admin.display(description="last outcome")
    def last_outcome(self, rule: ValidationRule) -> str:
        last = rule.runs.order_by("-run_id").first()
        return f"{last.outcome}, {last.seconds:.1f} s" if last else "-"

    @admin.display(description="last runs")
    def last_runs(self, rule: ValidationRule) -> SafeString:
        runs = rule.runs.select_related("run").order_by("-run_id")[:_RUNS_SHOWN]
        return format_html_join("", "{}: {}<br>", ((each.run, described(each)) for each in runs))


@admin.register(ValidationRun)
class ValidationRunAdmin(OfDataStoreAdmin, ReadOnlyAdmin):
    """A run, and what it did with each rule."""

    list_display = ["run_identifier", "status", "started_at", "finished_at", "rules_run", "rules_failed"]
    list_filter = ["status"]
    ordering = ["-id"]
    fields = readonly_fields = (
        "run_identifier", "host", "started_by", "started_at", "finished_at", "status", "change_version", "of_rules",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[ValidationRun]:
        failed = Count("rules", filter=~Q(rules__outcome="published"))
        found: QuerySet[ValidationRun] = super().get_queryset(request).annotate(number=Count("rules"), failed=failed)
        return found

    @admin.display(description="rules")
    def rules_run(self, run: Any) -> int:
        return int(run.number)

    @admin.display(description="not published")
    def rules_failed(self, run: Any) -> int:
        return int(run.failed)

    @admin.display(description="rules")
    def of_rules(self, run: ValidationRun) -> SafeString:
        rules = run.rules.select_related("rule").order_by("rule__source", "rule__identifier")
        return format_html_join("", "{}: {}<br>", ((each.rule, described(each)) for each in rules))


def checked_parameters(given: Any, declared: dict[str, Any]) -> dict[str, str]:
    """Texts for the declared parameters of a rule. Raises ValidationError."""
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise ValidationError("An object of texts is needed.")
    for name, text in given.items():
        if name not in declared:
            raise ValidationError(f"There is no parameter {name}.")
        try:
            parsed(name, declared[name]["type"], text)
        except UnusableValue as error:
            raise ValidationError(str(error)) from error
    return given


def described(run: ValidationRunRule) -> str:
    """Return what a run did with a rule, in words."""
    counts = f"{run.found} found, {run.appeared} appeared, {run.changed} changed, {run.resolved} resolved"
    reason = f" ({run.reason})" if run.reason else ""
    return f"{run.outcome}{reason}, {'full' if run.is_full else 'incremental'}, {run.seconds:.1f} s: {counts}"
