"""The ledger of refusals in the admin: a list with filters, an overview, the activity of clients, CSV."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.views.main import SEARCH_VAR
from django.core.exceptions import PermissionDenied
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q, QuerySet, Value
from django.http import HttpRequest, HttpResponse
from django.http.response import FileResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.common.contributions import contributions
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.core.queries.csv_text import CONTENT_TYPE, csv_file
from edfi_api.core.security.models import ApiClient
from edfi_api.core.writes.rules.configured import configured_rules
from edfi_api.features.refusals import overview
from edfi_api.features.refusals.admin import overview_tables, summaries
from edfi_api.features.refusals.admin.cause_page import cause_of, cause_page
from edfi_api.features.refusals.admin.filters import (
    ApplicationFilter,
    CauseFilter,
    CauseGoneFilter,
    ClientFilter,
    ProblemFilter,
    ResourceFilter,
    StatusFilter,
    VendorFilter,
    WriteRuleFilter,
)
from edfi_api.features.refusals.admin.summaries import outcome, problem_in_words, why
from edfi_api.features.refusals.export import COLUMNS, exported_rows
from edfi_api.features.refusals.models import Refusal
from edfi_api.features.refusals.personal_data import is_hashed
from edfi_api.web.admin_kit.authorship import name_of
from edfi_api.web.admin_kit.key_search import organization_in
from edfi_api.web.admin_kit.list_filters import ResolutionFilter, row_in
from edfi_api.web.admin_kit.read_only import ROWS_COUNTED, ReadOnlyAdmin
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.tables import tables_page
from edfi_api.web.admin_kit.titles import DocumentKey, TitledAdmin, key_elements_of, titled
from edfi_api.web.problem_details.problem import HINT

MOST_EXPORTED = 1_000_000
VIEW_KEYS = "refusals.view_refusal_keys"
_HIDDEN = "hidden"
_SUMMARIES = 5
# Filters by them would reveal natural keys and messages character by character.
_FIELDS_WITH_KEYS = {"subject", "natural_key", "paths", "errors", "hints", "cause", "cause_text", "awaited"}


def _shows_keys(request: HttpRequest) -> bool:
    return request.user.has_perm(VIEW_KEYS) and not is_hashed()


def _why_hidden(request: HttpRequest) -> str:
    """Return why the list shows neither keys nor messages; empty if it does."""
    if is_hashed():
        return "This server keeps neither natural keys nor values of refused writes (MEADOWLARK_REFUSAL_KEYS)."
    if not request.user.has_perm(VIEW_KEYS):
        return "Natural keys and messages are shown to users with the permission to view those of refusals."
    return ""


@admin.register(Refusal)
class RefusalAdmin(TitledAdmin, ReadOnlyAdmin):
    """Natural keys and messages are shown with the permission `view_refusal_keys`, which is audited."""

    list_display = ["when", "who", "what", "why", "shown_state"]
    list_display_links = ["what"]
    empty_text = "Nothing was refused. What clients send and the server does not take is listed here, with the reason."
    list_filter = [
        ResolutionFilter,
        "direction",
        VendorFilter,
        ApplicationFilter,
        ClientFilter,
        ResourceFilter,
        ProblemFilter,
        WriteRuleFilter,
        StatusFilter,
        CauseGoneFilter,
        CauseFilter,
        "last_at",
    ]
    search_fields = ["correlation_id"]
    search_help_text = (
        "A natural key or a part of one, a correlation id, or organization=255901; among the latest "
        f"{ROWS_COUNTED:,} refusals"
    )
    ordering = ["-id"]
    actions = ["export_csv", "send_again"]
    fieldsets = [
        (None, {"fields": ["what", "who", "why", "summary", "missing", "document"]}),
        ("Messages", {"fields": ["messages_text"]}),
        (
            "Details",
            {
                "fields": [
                    "operation", "direction", "status", "problem", "title", "rules", "organization", "count",
                    "first_at", "last_at", "shown_state", "cause_gone", "resolution", "resolved_at", "correlation_id",
                ]
            },
        ),
    ]  # fmt: skip
    readonly_fields = [
        "what", "who", "why", "summary", "missing", "document", "messages_text", "shown_state",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Refusal]:
        # The methods that show a row do not get the request, so the permission is an annotation of each row.
        shows_keys = Value(_shows_keys(request))
        found: QuerySet[Refusal] = super().get_queryset(request)
        return found.annotate(shows_keys=shows_keys)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse filters in the URL by fields that the user may not view."""
        if lookup.partition("__")[0] in _FIELDS_WITH_KEYS and not request.user.has_perm(VIEW_KEYS):
            return False
        return super().lookup_allowed(lookup, value, request)

    def has_export_permission(self, request: HttpRequest) -> bool:
        """The file has natural keys and messages."""
        return request.user.has_perm(VIEW_KEYS)

    def has_send_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may have connections send, as those may who change connections."""
        return request.user.has_perm("exchange.change_connection")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Refusal], search_term: str
    ) -> tuple[QuerySet[Refusal], bool]:
        """Among the latest entries only, so that a search takes the same time however many there are."""
        term = search_term.strip()
        if not term:
            return queryset, False
        latest = summaries.latest(queryset)
        if (organization := organization_in(term)) is not None:
            return latest.filter(organization=organization), False
        found = Q(correlation_id=term)
        if request.user.has_perm(VIEW_KEYS):
            found |= Q(natural_key__icontains=term) | Q(cause_text__icontains=term)
            for key in self._keys_of_names(request, term):
                found |= summaries.with_element(key)
        return latest.filter(found), False

    def _keys_of_names(self, request: HttpRequest, term: str) -> list[str]:
        """`studentUniqueId=604822` for each of the stored persons and organizations with this name."""
        return key_elements_of(term, DEFAULT_DB_ALIAS) if request.user.has_perm("edfi_api.view_document") else []

    def get_urls(self) -> list[URLPattern]:
        own = [
            path("overview/", self.admin_site.admin_view(self.overview_view), name="refusals_overview"),
            path("cause/<uuid:refusal>/", self.admin_site.admin_view(self.cause_view), name="cause"),
            path("cause/<uuid:refusal>/csv/", self.admin_site.admin_view(self.cause_csv_view), name="cause_csv"),
            path("activity/", self.admin_site.admin_view(self.activity_view), name="refusals_activity"),
            path("rules/", self.admin_site.admin_view(self.rules_view), name="refusals_rules"),
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        self._audit(request, "refusals listed")
        response = super().changelist_view(request, extra_context)
        context = getattr(response, "context_data", None) or {}
        context["why_hidden"] = _why_hidden(request)
        if SEARCH_VAR in request.GET and request.user.has_perm(VIEW_KEYS) and (found := context.get("cl")):
            context["summaries"] = [
                summaries.summary(entry, with_title=True) for entry in found.result_list[:_SUMMARIES]
            ]
        return response

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        self._audit(request, "refusal shown", refusal=object_id)
        return super().change_view(request, object_id, *args, **kwargs)

    def overview_view(self, request: HttpRequest) -> HttpResponse:
        """Tables of open entries; each number links to the list."""
        self._refuse_without_permission(request)
        tables = [
            overview_tables.open_by("vendor", "By vendor and kind", overview.table("vendor")),
            overview_tables.open_by("problem", "By problem and kind", overview.table("problem")),
        ]
        self._audit(request, "causes of refusals shown")
        shows_keys = _shows_keys(request)
        tables.insert(0, overview_tables.causes(overview.top_causes(), shows_keys=shows_keys))
        return tables_page(request, self.admin_site, tables, title="Open refusals", above=overview_tables.above())

    def cause_view(self, request: HttpRequest, refusal: UUID) -> HttpResponse:
        """The cause of a refusal, with all others that have it; POST sets its state."""
        self._refuse_without_permission(request)
        entry = get_object_or_404(Refusal, pk=refusal)
        self._audit(request, "cause of refusals shown", refusal=refusal)
        return cause_page(request, self.admin_site, entry, shows_keys=_shows_keys(request))

    def cause_csv_view(self, request: HttpRequest, refusal: UUID) -> HttpResponseBase:
        """The open refusals with the cause of one, for the vendor's contact."""
        if not self.has_view_permission(request) or not self.has_export_permission(request):
            raise PermissionDenied
        entry = get_object_or_404(Refusal, pk=refusal)
        return self.export_csv(request, cause_of(entry).filter(resolved_at=None))

    def activity_view(self, request: HttpRequest) -> HttpResponse:
        """Return what each client has sent, or one by resource."""
        self._refuse_without_permission(request)
        chosen = request.GET.get("client")
        if chosen is None:
            tables = [overview_tables.activity(overview.activity())]
        else:
            client = get_object_or_404(ApiClient.objects.filter(pk=row_in(chosen)))
            tables = [overview_tables.activity_of(client.name, client.pk, overview.activity_of(client.pk))]
        return tables_page(request, self.admin_site, tables, title="Activity of clients", above=overview_tables.above())

    def rules_view(self, request: HttpRequest) -> HttpResponse:
        """The rules of writes, and what each has found."""
        self._refuse_without_permission(request)
        tables = [overview_tables.rules(configured_rules().rules, overview.found_by_rules())]
        return tables_page(request, self.admin_site, tables, title="Rules of writes", above=overview_tables.above())

    @admin.action(description="Export as CSV", permissions=["export"])
    def export_csv(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> HttpResponseBase:
        """The selected entries; with "select all", those of the filters."""
        audit.log_change("refusals exported", by=request.user.get_username())
        rows = exported_rows(queryset.order_by("id")[:MOST_EXPORTED])
        file = csv_file(COLUMNS, rows)
        file.seek(0)
        return FileResponse(file, as_attachment=True, filename="refusals.csv", content_type=CONTENT_TYPE)

    @admin.action(description="Send again to the remote API", permissions=["send"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> None:
        """Documents that were refused there; the worker of the connection sends them."""
        entries = queryset.order_by("id")[:MOST_EXPORTED]
        number = sum(send_again(entries) for send_again in contributions("senders_of_refused_documents"))
        audit.log_change("refused documents to be sent again", by=request.user.get_username(), documents=number)
        self.message_user(
            request,
            f"{counted(number, 'document')} will be sent by push_changes. What was refused here is not among them: its "
            "client has to send it again.",
            messages.SUCCESS if number else messages.WARNING,
        )

    def document_key(self, row: Any) -> DocumentKey:
        if not row.shows_keys:
            return DocumentKey(None, "")
        return DocumentKey(summaries.resource_of_entry(row), row.natural_key or "")

    def heading(self, request: HttpRequest, row: Any) -> str:
        """Return what was sent, and the kind of the problem."""
        sent = " ".join(filter(None, (summaries.kind_of_entry(row), row.document_title)))
        return f"{sent}: {problem_in_words(row.problem)}"

    def database_of(self, row: Any) -> str:
        return summaries.database_of(row)

    @admin.display(description="when")
    def when(self, entry: Any) -> SafeString | str:
        return timestamp(entry.last_at)

    @admin.display(description="who")
    def who(self, entry: Any) -> SafeString | str:
        """A link to the client, if it is still there."""
        name = name_of(entry.client)
        if name is None:
            return f"client {entry.client}"
        return format_html('<a href="{}">{}</a>', reverse("admin:security_apiclient_change", args=[entry.client]), name)

    @admin.display(description="what")
    def what(self, entry: Any) -> SafeString:
        name = format_html('<span class="quiet">{}</span>', summaries.kind_of_entry(entry))
        if not entry.shows_keys:
            return name
        return format_html("{} {}", name, titled(entry.document_title, entry.natural_key or ""))

    @admin.display(description="why")
    def why(self, entry: Any) -> str:
        """May name the key of a missing target; without the permission to see keys, the kind of the problem."""
        return why(entry) if entry.shows_keys else entry.title

    @admin.display(description="state")
    def shown_state(self, entry: Any) -> SafeString:
        state = outcome(entry)
        more = format_html(" {}", timestamp(entry.resolved_at)) if entry.resolved_at else ""
        return format_html('<span class="state {}">{}</span>{}', state.partition(",")[0], state, more)

    @admin.display
    def summary(self, entry: Any) -> SafeString | str:
        return summaries.summary(entry) if entry.shows_keys else _HIDDEN

    @admin.display(description="what is missing")
    def missing(self, entry: Any) -> SafeString | str:
        return summaries.missing(entry) if entry.shows_keys else _HIDDEN

    @admin.display(description="messages")
    def messages_text(self, entry: Any) -> SafeString | str:
        if not entry.shows_keys:
            return _HIDDEN
        lines = [(path_, text) for path_, texts in entry.paths.items() for text in texts]
        lines += [("", text) for text in [*entry.errors, *(f"{HINT}{hint}" for hint in entry.hints)]]
        return format_html_join("", "<div>{} {}</div>", lines) or "-"

    @admin.display(description="stored document")
    def document(self, entry: Refusal) -> SafeString | str:
        """A link to the document that has this key, or the address of the request, if it is there."""
        return summaries.stored(entry)

    def _refuse_without_permission(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _audit(self, request: HttpRequest, event: str, **facts: object) -> None:
        if request.user.has_perm(VIEW_KEYS):
            audit.log_change(event, by=request.user.get_username(), **facts)
