"""Results in the admin."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import AdminSite
from django.contrib.admin.utils import build_q_object_from_lookup_parameters
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from edfi_api.common.logs import audit
from edfi_api.core.models import Document
from edfi_api.core.queries.csv_text import CONTENT_TYPE, csv_file
from edfi_api.core.security.organizations import names_in
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.features.validation.admin.overview import overview_page
from edfi_api.features.validation.admin.rule_page import CSV_COLUMNS, csv_rows, results_at, rule_page
from edfi_api.features.validation.models import ValidationDismissal, ValidationResult, ValidationRule
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.list_filters import ResolutionFilter, row_in
from edfi_api.web.admin_kit.read_only import ReadOnlyAdmin
from edfi_api.web.admin_kit.readable_values import MARK, MARKED, timestamp, written_timestamp
from edfi_api.web.admin_kit.related_links import as_list, links
from edfi_api.web.admin_kit.store_choice import OfDataStoreAdmin, address_with_store, shown_in, with_choice
from edfi_api.web.admin_kit.titles import DocumentKey, TitledAdmin, titled
from references.identity import as_uuid

_AND_BELOW = "SELECT descendant_id FROM organization_closure WHERE ancestor_id = %s UNION SELECT %s"
RESULTS_SHOWN = 50
_OTHERS_SHOWN = 50
_RESULT = "admin:validation_validationresult_change"

_DISMISSED = "dismissed"
_ADD = "validation.add_validationdismissal"
# Who accepts a violation looks at it again within a year.
_LONGEST = timedelta(days=366)


class DismissalForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """The form that says why a result is no problem, and until when."""

    class Meta:
        model = ValidationDismissal
        fields = ["reason", "until"]
        widgets = {"until": forms.DateInput(attrs={"type": "date"}), "reason": forms.Textarea(attrs={"rows": 3})}

    def clean_until(self) -> Any:
        until, today = self.cleaned_data["until"], timezone.localdate()
        if not today <= until <= today + _LONGEST:
            raise ValidationError(f"The day must be between {today} and {today + _LONGEST}.")
        return until


class ResultStateFilter(ResolutionFilter):
    """Open results are those that no one has dismissed."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        first, *others = super().lookups(request, model_admin)
        return [first, (_DISMISSED, _DISMISSED), *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.chosen not in {_DISMISSED, "open"}:
            return super().queryset(request, queryset)
        return _unresolved(queryset, are_dismissed=self.chosen == _DISMISSED)


def open_results(using: str) -> QuerySet[ValidationResult]:
    """Return the results that are open, as the list shows them: without those that are dismissed."""
    return _unresolved(ValidationResult.objects.using(using), are_dismissed=False)


def of_organization_and_below(results: QuerySet[Any], organization: int) -> QuerySet[Any]:
    """Return those of the results that are of an organization or of one below it."""
    with connections[results.db].cursor() as cursor:
        found = [id_ for (id_,) in cursor.execute(_AND_BELOW, [organization, organization])]
    # With a subquery PostgreSQL could not estimate how many results these have.
    return results.filter(organization__in=found)


def _unresolved(results: QuerySet[Any], *, are_dismissed: bool) -> QuerySet[Any]:
    is_dismissed = Exists(current(results.db).filter(result_key=OuterRef("result_key")))
    return results.filter(is_dismissed if are_dismissed else ~is_dismissed, resolved_at=None)


def current(using: str) -> QuerySet[ValidationDismissal]:
    """Dismissals whose last day is not over."""
    return ValidationDismissal.objects.using(using).filter(until__gte=timezone.localdate())


def summary(result: ValidationResult) -> str:
    """The dismissals of a violation, the latest first; a dash without any."""
    found = ValidationDismissal.objects.using(result._state.db).filter(result_key=result.result_key)
    lines = [
        f"until {each.until} by {each.username}, {written_timestamp(each.dismissed_at)}: {each.reason}"
        for each in found.order_by("-id")[:10]
    ]
    return "; ".join(lines) or "-"


def dismiss_page(request: HttpRequest, site: AdminSite, row: int) -> HttpResponse:
    """GET shows the form, POST stores the dismissal. Raises PermissionDenied."""
    if not request.user.has_perms([_ADD, "validation.view_validationresult"]):
        raise PermissionDenied
    using = shown_in(request).using
    result = get_object_or_404(ValidationResult.objects.using(using).select_related("rule"), pk=row)
    form = DismissalForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        dismissal = form.save(commit=False)
        dismissal.result_key, dismissal.username = result.result_key, request.user.get_username()
        dismissal.save(using=using)
        audit.log_change("validation result dismissed", by=request.user.get_username(), result=result.pk)
        messages.success(request, f"The result is dismissed until {dismissal.until}.")
        return HttpResponseRedirect(reverse(_RESULT, args=[row]))
    context = {
        **site.each_context(request),
        "title": "Dismiss a result",
        "subtitle": str(result.rule),
        "result": result,
        "form": form,
        "form_address": address_with_store(request),
    }
    return TemplateResponse(request, "admin/validation/validationresult/dismiss.html", context)


def may_dismiss(request: HttpRequest) -> bool:
    """Return whether the user may."""
    return bool(request.user.has_perm(_ADD))


class OrganizationFilter(admin.SimpleListFilter):
    """Results of an organization and those below. The list links to it, and it appears only when it is in the URL."""

    title = "organization"
    parameter_name = "organization"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, value)] if (value := self.value()) else []

    def has_output(self) -> bool:
        return self.value() is not None

    def queryset(self, request: HttpRequest, queryset: QuerySet[ValidationResult]) -> QuerySet[ValidationResult]:
        if self.value() is None:
            return queryset
        return of_organization_and_below(queryset, row_in(self.value() or ""))


class RuleFilter(admin.RelatedFieldListFilter):
    """The rules of the chosen data store; Django's filter offers those of the admin database."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        rules = ValidationRule.objects.using(shown_in(request).using).order_by("source", "identifier")
        return [(rule.pk, str(rule)) for rule in rules]


class ValuesOfRulesFilter(admin.AllValuesFieldListFilter):
    """A filter by the values of rules. The rules are read first: PostgreSQL has statistics of the results of a rule,
    but not of those of a severity."""

    def __init__(self, field: Any, request: HttpRequest, *others: Any, **options: Any) -> None:
        super().__init__(field, request, *others, **options)
        self.lookup_choices = self.lookup_choices.using(shown_in(request).using)

    def queryset(self, request: HttpRequest, queryset: QuerySet[ValidationResult]) -> QuerySet[ValidationResult]:
        if not self.used_parameters:
            return queryset
        given = cast(dict[str, Iterable[object]], self.used_parameters)
        of_rules = {name.removeprefix("rule__"): values for name, values in given.items()}
        rules = ValidationRule.objects.using(queryset.db).filter(build_q_object_from_lookup_parameters(of_rules))
        return queryset.filter(rule__in=list(rules.values_list("pk", flat=True)))


@admin.register(ValidationResult)
class ValidationResultAdmin(OfDataStoreAdmin, TitledAdmin, ReadOnlyAdmin):
    """A violation, with a link to its document."""

    list_display = ["what", "message", "rule", "severity", "where", "appeared_at", "resolved_at"]
    empty_text = "No rule has found anything. The command run_validation runs the rules over the stored documents."
    list_filter = [
        ResultStateFilter,
        ("rule__severity", ValuesOfRulesFilter),
        ("rule__category", ValuesOfRulesFilter),
        ("rule", RuleFilter),
        OrganizationFilter,
        "appeared_at",
    ]
    list_select_related = ["rule"]
    # Enables the search box; `get_search_results` does the search.
    search_fields = ["document_uuid"]
    search_help_text = "Id or whole natural key of a document, or the unique id of a student or staff member"
    ordering = ["-id"]
    change_form_template = "admin/validation/validationresult/change_form.html"
    fields = readonly_fields = (
        "rule", "message", "description", "context", "document", "what", "others", "organization", "student",
        "staff", "contact", "namespace", "key", "appeared_at", "resolved_at", "resolution", "dismissed",
        "validation_version",
    )  # fmt: skip

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("overview/", view(self.overview_view), name="validation_overview"),
            path("rule/<int:rule>/at/<int:organization>/", view(self.rule_view), name="validation_rule_at"),
            path("rule/<int:rule>/at/<int:organization>/csv/", view(self.csv_view), name="validation_rule_at_csv"),
            path("<int:row>/dismiss/", view(self.dismiss_view), name="validation_dismiss"),
        ]
        return [*own, *super().get_urls()]

    def dismiss_view(self, request: HttpRequest, row: int) -> HttpResponse:
        """The form for dismissing a result."""
        return with_choice(request, lambda: dismiss_page(request, self.admin_site, row))

    def rule_view(self, request: HttpRequest, rule: int, organization: int) -> HttpResponse:
        """Show what a rule finds at an organization; POST sets its state."""
        return self._of_rule(request, "results of a rule shown", rule, organization, self._rule_page)

    def csv_view(self, request: HttpRequest, rule: int, organization: int) -> HttpResponse:
        """The open results of a rule at an organization, for whoever corrects them."""
        return self._of_rule(request, "validation results exported", rule, organization, self._csv)

    def _of_rule(
        self, request: HttpRequest, event: str, rule: int, organization: int, view: Callable[..., HttpResponse]
    ) -> HttpResponse:
        self._refuse_without_permission(request)
        if organization >= 2**63:
            raise Http404
        self._audit(request, event, rule=rule, organization=organization)

        def answer() -> HttpResponse:
            rules = ValidationRule.objects.using(shown_in(request).using)
            return view(request, get_object_or_404(rules, pk=rule), organization)

        return with_choice(request, answer)

    def _rule_page(self, request: HttpRequest, rule: ValidationRule, organization: int) -> HttpResponse:
        return rule_page(request, self.admin_site, rule, organization, open_results(shown_in(request).using))

    def _csv(self, request: HttpRequest, rule: ValidationRule, organization: int) -> HttpResponse:
        at_organization = results_at(rule, organization).filter(resolved_at=None)
        results = open_results(shown_in(request).using).filter(pk__in=at_organization.values("pk"))
        file = csv_file(CSV_COLUMNS, csv_rows(results))
        file.seek(0)
        response = FileResponse(file, as_attachment=True, filename="results.csv", content_type=CONTENT_TYPE)
        return cast(HttpResponse, response)

    def _refuse_without_permission(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def overview_view(self, request: HttpRequest) -> HttpResponse:
        """Open results by rule and organization, and what came of them by week."""
        self._refuse_without_permission(request)
        return with_choice(request, lambda: overview_page(request, self.admin_site))

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        self._audit(request, "validation results listed")
        return super().changelist_view(request, extra_context)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        self._audit(request, "validation result shown", result=object_id)
        kwargs["extra_context"] = {"may_dismiss": may_dismiss(request)}
        return super().change_view(request, object_id, *args, **kwargs)

    def _audit(self, request: HttpRequest, event: str, **facts: object) -> None:
        """Results name persons. Refused requests are in the audit log anyway."""
        if self.has_view_permission(request):
            audit.log_change(event, by=request.user.get_username(), **facts)

    def document_key(self, row: Any) -> DocumentKey:
        name = resource_types.names(row._state.db).get(row.resource_type_id)
        return DocumentKey(current_surface().by_name.get(name) if name else None, row.natural_key or "")

    def heading(self, request: HttpRequest, row: Any) -> str:
        """The rule, and what it is about."""
        name = resource_types.names(row._state.db).get(row.resource_type_id)
        kind = kind_in_words(name.resource).singular if name and row.document_title else ""
        return ": ".join(filter(None, (str(row.rule), " ".join(filter(None, (kind, row.document_title))))))

    @admin.display(description="what")
    def what(self, result: Any) -> SafeString:
        return titled(result.document_title, result.natural_key or "")

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        found = super().get_changelist_instance(request)
        ids = {row.organization for row in found.result_list if row.organization is not None}
        names = names_in(ids, shown_in(request).using)
        for row in found.result_list:
            row.organization_name = names.get(row.organization) or row.organization
        return found

    @admin.display(description="organization")
    def where(self, result: Any) -> str | SafeString:
        if result.organization is None:
            return "-"
        return format_html('<a href="?organization={}">{}</a>', str(result.organization), str(result.organization_name))

    @admin.display
    def severity(self, result: ValidationResult) -> str:
        return result.rule.severity

    @admin.display
    def dismissed(self, result: ValidationResult) -> str:
        return summary(result)

    @admin.display
    def description(self, result: ValidationResult) -> str:
        return result.rule.description

    @admin.display
    def document(self, result: ValidationResult) -> str | SafeString:
        if result.document_uuid is None:
            return "-"
        documents = Document.objects.using(result._state.db)
        row = documents.filter(document_uuid=result.document_uuid).values_list("pk", flat=True).first()
        if row is None:
            return "no longer there"
        return _link_to(row, "The document, with the values marked", mark=result.context)

    @admin.display(description="other documents")
    def others(self, result: ValidationResult) -> str | SafeString:
        """Return the documents about which the result says something, too, as far as they are still there."""
        documents = Document.objects.using(result._state.db).filter(document_uuid__in=result.other_documents)
        found = documents.order_by("pk").select_related("resource_type").defer("body")[:_OTHERS_SHOWN]
        return as_list(links(list(found)))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ValidationResult], search_term: str
    ) -> tuple[QuerySet[ValidationResult], bool]:
        """Exactly, since parts would read all results."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if id_ := as_uuid(term):
            found = Q(document_uuid=id_) | Q(result_uuid=id_)
        else:
            found = Q(natural_key=term) | Q(student=term) | Q(staff=term)
        return queryset.filter(found), False


def _link_to(document: int, text: str, mark: Mapping[str, object]) -> SafeString:
    """Return a link to the page of the document, which marks the members of these names and values."""
    address = reverse("admin:edfi_api_document_change", args=[document])
    marked = urlencode({MARK: [str(value) for value in mark.values() if value is not None]}, doseq=True)
    return format_html('<a href="{}">{}</a>', f"{address}?{marked}#{MARKED}" if marked else address, text)


def results_of(document: Document) -> list[Any]:
    """Return the results about a document, for a person also about what refers to it, and for an organization about
    what belongs to it; open ones first, and dismissed ones after them. Each has the last day of its dismissal."""
    using = document._state.db or DEFAULT_DB_ALIAS
    about = Q(document_uuid=document.document_uuid)
    if document.is_person:
        about |= Q(student=document.student) if document.student else Q(staff=document.staff or "")
    if document.hierarchy:
        about |= Q(organization=document.hierarchy[0])
    dismissals_of_result = current(using).filter(result_key=OuterRef("result_key")).order_by("-until")
    found = ValidationResult.objects.using(using).select_related("rule").filter(about)
    described = found.annotate(dismissed_until=Subquery(dismissals_of_result.values("until")[:1]))
    ordered = described.order_by(
        F("resolved_at").desc(nulls_first=True), F("dismissed_until").desc(nulls_first=True), "-id"
    )
    return list(ordered[: RESULTS_SHOWN + 1])


def line_of(result: Any) -> SafeString:
    """Return what a result of `results_of` says, with a link to it."""
    state: str | SafeString = "open"
    if result.resolved_at:
        state = format_html("resolved {}", timestamp(result.resolved_at))
    elif result.dismissed_until:
        state = f"dismissed until {result.dismissed_until}"
    text = '<a href="{}">{}</a>: {} <span class="quiet">{}</span>'
    return format_html(text, reverse(_RESULT, args=[result.pk]), result.rule, result.message, state)
