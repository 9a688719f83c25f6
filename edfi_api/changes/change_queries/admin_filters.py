"""Filters of the list of deleted documents. Only choices with rows are offered, each found by one index lookup."""

from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.db import connections
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from edfi_api.changes.change_queries.models import DeletedDocument
from edfi_api.models import ResourceType
from edfi_api.operation.administration.reference_filters import row_in
from edfi_api.operation.administration.store_choice import shown_in
from edfi_api.security.models import ApiClient

_IN_THE_ADMIN = "admin"
_THOSE_THAT_DELETED = """
SELECT client FROM unnest(%s::bigint[]) AS c (client)
 WHERE EXISTS (SELECT FROM deleted_document WHERE deleted_by = client)
"""


class DeletedResourceFilter(admin.SimpleListFilter):
    """The resources with deleted documents."""

    title = "resource"
    parameter_name = "resource"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        deletes = DeletedDocument.objects.filter(resource_type=OuterRef("pk"))
        types = ResourceType.objects.using(shown_in(request).using).filter(Exists(deletes)).order_by("name", "project")
        return [(str(row), name) for row, name in types.values_list("pk", "name")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[DeletedDocument]) -> QuerySet[DeletedDocument]:
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(resource_type_id=row_in(chosen))


class DeletedByFilter(admin.SimpleListFilter):
    """The API clients that have deleted documents, and one choice for all users of the admin."""

    title = "deleted by"
    parameter_name = "deleted_by"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        clients = dict(ApiClient.objects.order_by("name").values_list("pk", "name"))
        with connections[shown_in(request).using].cursor() as cursor:
            cursor.execute(_THOSE_THAT_DELETED, [list(clients)])
            deleting = {row for (row,) in cursor}
        choices = [(str(row), name) for row, name in clients.items() if row in deleting]
        return [*choices, (_IN_THE_ADMIN, "a user of the admin")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[DeletedDocument]) -> QuerySet[DeletedDocument]:
        chosen = self.value()
        if chosen is None:
            return queryset
        if chosen == _IN_THE_ADMIN:
            return queryset.filter(deleted_by=None, deleted_by_user__isnull=False)
        return queryset.filter(deleted_by=row_in(chosen))
