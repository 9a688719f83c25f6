"""Filters of the list of refusals. The choices come from the counts of open entries, which are few."""

from operator import itemgetter
from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from edfi_api.core.security.models import ApiClient, Application, Vendor
from edfi_api.features.refusals.admin.summaries import cause_in_words, problem_in_words
from edfi_api.features.refusals.models import OpenRefusals, Refusal
from edfi_api.features.refusals.overview import LOOKED_AT, found_by_rules
from edfi_api.web.admin_kit.kinds import kinds_at
from edfi_api.web.admin_kit.list_filters import row_in
from references.identity import as_uuid

_LATEST = 1_000


class _OwnerFilter(admin.SimpleListFilter):
    """The owners of clients that have open entries. `clients` leads from an owner to its clients, `owner` from a client
    to its owner, in the language of Django's queries."""

    owners: QuerySet[Any]
    clients: str
    owner: str

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        refused = {f"{self.clients}__in": OpenRefusals.objects.values("client")}
        owners = self.owners.filter(**refused).distinct().order_by("name")
        return [(str(row), name) for row, name in owners.values_list("pk", "name")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> QuerySet[Refusal]:
        chosen = self.value()
        if chosen is None:
            return queryset
        clients = ApiClient.objects.filter(**{self.owner: row_in(chosen)}).values_list("pk", flat=True)
        return queryset.filter(client__in=list(clients))


class VendorFilter(_OwnerFilter):
    """The vendors whose clients have open entries."""

    title = "vendor"
    parameter_name = "vendor"
    owners = Vendor.objects.all()
    clients = "applications__api_clients"
    owner = "application__vendor"


class ApplicationFilter(_OwnerFilter):
    """The applications whose clients have open entries."""

    title = "application"
    parameter_name = "application"
    owners = Application.objects.all()
    clients = "api_clients"
    owner = "application"


class ClientFilter(admin.SimpleListFilter):
    """The clients that have open entries."""

    title = "client"
    parameter_name = "client"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        clients = ApiClient.objects.filter(pk__in=OpenRefusals.objects.values("client")).order_by("name")
        return [(str(row), name) for row, name in clients.values_list("pk", "name")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> QuerySet[Refusal]:
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(client=row_in(chosen))


class _TextFilter(admin.SimpleListFilter):
    parameter_name: str

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        known = OpenRefusals.objects.order_by(self.parameter_name).values_list(self.parameter_name, flat=True)
        return [(value, value) for value in known.distinct()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> QuerySet[Refusal]:
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(**{self.parameter_name: chosen})


class StatusFilter(admin.SimpleListFilter):
    """The statuses of the latest entries: those of all would be read from the whole table."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        latest = Refusal.objects.order_by("-id").values_list("status", flat=True)[:_LATEST]
        return [(str(status), str(status)) for status in sorted(set(latest))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> QuerySet[Refusal]:
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(status=row_in(chosen))


class ResourceFilter(_TextFilter):
    """The resources with open entries."""

    title = "kind"
    parameter_name = "resource"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        known = [(value, kinds_at(value)) for value, _ in super().lookups(request, model_admin)]
        return sorted(known, key=itemgetter(1))


class ProblemFilter(_TextFilter):
    """The problem types of open entries."""

    title = "problem"
    parameter_name = "problem"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        return [(value, problem_in_words(value)) for value, _ in super().lookups(request, model_admin)]


class WriteRuleFilter(admin.SimpleListFilter):
    """The custom rules that have refused something, or warned of it."""

    title = "rule"
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        return [(found.rule, found.rule) for found in found_by_rules()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> QuerySet[Refusal]:
        chosen = self.value()
        # The first condition is that of the index.
        return queryset if chosen is None else queryset.exclude(rules=[]).filter(rules__contains=[chosen])


class CauseGoneFilter(admin.SimpleListFilter):
    """Filters entries by whether what was missing has been written since, so that the client only has to send the
    document again."""

    title = "cause gone"
    parameter_name = "gone"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        return [("yes", "yes"), ("no", "no")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> QuerySet[Refusal]:
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(cause_gone=chosen == "yes")


class CauseFilter(admin.SimpleListFilter):
    """The cause to which a number of the overview links, among the open entries that the overview looks at. It appears
    only when it is in the URL, and can be cleared."""

    title = "cause"
    parameter_name = "cause"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        chosen = self.queryset(request, Refusal.objects.order_by())
        return [(str(self.value()), cause_in_words(text)) for text in chosen.values_list("cause_text", flat=True)[:1]]

    def has_output(self) -> bool:
        return self.value() is not None

    def queryset(self, request: HttpRequest, queryset: QuerySet[Refusal]) -> QuerySet[Refusal]:
        chosen = self.value()
        if chosen is None:
            return queryset
        cause = as_uuid(chosen)
        if cause is None:
            return queryset.none()
        found = queryset.filter(resolved_at=None, cause=cause)
        earlier = Refusal.objects.filter(resolved_at=None).order_by("-id").values_list("id", flat=True)
        before = earlier[LOOKED_AT : LOOKED_AT + 1]
        return found.filter(id__gt=before[0]) if before else found
