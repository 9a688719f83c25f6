"""Deleted documents in the admin: filters, search, view and restore; and what its front page says of purges."""

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import reduce
from operator import itemgetter, or_
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.contrib.postgres.fields import ArrayField
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Exists, F, Func, JSONField, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.core.models import Document, ResourceType
from edfi_api.core.security.models import ApiClient
from edfi_api.features.changes.change_queries.models import DeletedDocument, PurgeRun
from edfi_api.features.changes.change_queries.restoring import CannotRestore, restore
from edfi_api.features.changes.change_queries.versions_pages import link
from edfi_api.web.admin_kit import natural_keys
from edfi_api.web.admin_kit.authorship import name_of
from edfi_api.web.admin_kit.deletion import MOST_AT_ONCE
from edfi_api.web.admin_kit.key_search import HELP
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.lines import StatusLine, shown_with, span
from edfi_api.web.admin_kit.list_filters import row_in
from edfi_api.web.admin_kit.read_only import ReadOnlyAdmin
from edfi_api.web.admin_kit.store_choice import OfDataStoreAdmin, shown_in
from edfi_api.web.admin_kit.titles import DocumentKey, TitledAdmin, resource_of, titled
from references.identity import as_uuid

# Housekeeping runs once a day.
_LONGEST_WITHOUT_PURGE = timedelta(days=2)

_IN_THE_ADMIN = "admin"
_THOSE_THAT_DELETED = """
SELECT client FROM unnest(%s::bigint[]) AS c (client)
 WHERE EXISTS (SELECT FROM deleted_document WHERE deleted_by = client)
"""


class DeletedResourceFilter(admin.SimpleListFilter):
    """The resources with deleted documents. Only choices with rows are offered, each found by one index lookup."""

    title = "kind"
    parameter_name = "resource"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        deletes = DeletedDocument.objects.filter(resource_type=OuterRef("pk"))
        types = ResourceType.objects.using(shown_in(request).using).filter(Exists(deletes)).order_by("name", "project")
        known = [(str(row), kind_in_words(name).plural) for row, name in types.values_list("pk", "name")]
        return sorted(known, key=itemgetter(1))

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


@admin.register(DeletedDocument)
class DeletedDocumentAdmin(OfDataStoreAdmin, TitledAdmin, ReadOnlyAdmin):
    """Deleted documents, with time and author of the delete; the action restores them as `restore_document` does."""

    empty_text = (
        "Nothing was deleted. Deleted documents are listed here until their bodies are purged, and can be restored."
    )
    list_display = ["key", "kind", "deleted_at", "deleter", "state"]
    list_filter = [DeletedResourceFilter, DeletedByFilter, "deleted_at"]
    list_select_related = ["resource_type"]
    # Enables the search field; `get_search_results` implements the search.
    search_fields = ["document_uuid"]
    search_help_text = HELP
    ordering = ["-change_version"]
    actions = ["restore"]
    readonly_fields = ["resource", "key", "state", "versions", "creator", "modifier", "deleter", "body_text"]

    def get_fieldsets(self, request: HttpRequest, obj: DeletedDocument | None = None) -> list[tuple[Any, Any]]:
        versions = ["versions"] if request.user.has_perm("edfi_api.view_document") else []
        return [
            (None, {"fields": ["resource", "key", "document_uuid", "state", *versions]}),
            ("Body", {"fields": ["body_text"]}),
            ("Past", {"fields": ["created_at", "creator", "last_modified_at", "modifier"]}),
            ("Delete", {"fields": ["deleted_at", "deleter", "change_version"]}),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeletedDocument]:
        deleted: QuerySet[DeletedDocument] = super().get_queryset(request)
        live = Document.objects.using(deleted.db).filter(document_uuid=OuterRef("document_uuid"))
        return deleted.annotate(is_live=Exists(live))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[DeletedDocument], search_term: str
    ) -> tuple[QuerySet[DeletedDocument], bool]:
        """Search by document id or by natural key."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if id_ := as_uuid(term):
            return queryset.filter(document_uuid=id_), False
        return _with_key(term, queryset), False

    def has_restore_permission(self, request: HttpRequest) -> bool:
        """Restoring requires the permission to add documents."""
        return request.user.has_perm("edfi_api.add_document")

    @admin.action(description="Restore selected documents", permissions=["restore"])
    def restore(self, request: HttpRequest, queryset: QuerySet[DeletedDocument]) -> None:
        """Latest deletes first: a target can only be deleted after its referrers, so it is restored before them."""
        chosen = list(queryset.order_by("-change_version")[: MOST_AT_ONCE + 1])
        if len(chosen) > MOST_AT_ONCE:
            reason = f"Nothing was restored: more than {MOST_AT_ONCE} documents at once. Use restore_document."
            self.message_user(request, reason, messages.ERROR)
            return
        for deleted in chosen:
            try:
                restore(deleted.document_uuid, queryset.db, request.user.get_username())
                self.log_change(request, deleted, "Restored.")
                self.message_user(request, f"{deleted} is restored.", messages.SUCCESS)
            except CannotRestore as refusal:
                self.message_user(request, f"{deleted} cannot be restored: {refusal}", messages.ERROR)

    @admin.display(description="document")
    def key(self, deleted: Any) -> SafeString:
        return titled(deleted.document_title, deleted.natural_key)

    def document_key(self, row: Any) -> DocumentKey:
        return DocumentKey(resource_of(row.resource_type), row.natural_key, row.body)

    @admin.display(ordering="resource_type")
    def kind(self, deleted: DeletedDocument) -> str:
        return kind_in_words(deleted.resource_type.name).singular

    @admin.display
    def resource(self, deleted: DeletedDocument) -> str:
        return deleted.resource_type.name

    @admin.display
    def versions(self, deleted: DeletedDocument) -> SafeString:
        return link(deleted.resource_type_id, deleted.document_uuid)

    @admin.display(description="created by")
    def creator(self, deleted: Any) -> str:
        return name_of(deleted.created_by) or "-"

    @admin.display(description="last modified by")
    def modifier(self, deleted: Any) -> str:
        return name_of(deleted.last_modified_by) or "-"

    @admin.display(description="deleted by")
    def deleter(self, deleted: Any) -> str:
        """The API client or the admin user; `-` if it was deleted by SQL outside the application."""
        return f"{deleted.deleted_by_user} (admin)" if deleted.deleted_by_user else name_of(deleted.deleted_by) or "-"

    @admin.display
    def state(self, deleted: Any) -> str:
        if deleted.is_live:
            return "restored"
        return "purged" if deleted.body is None else "can be restored"

    @admin.display(description="body")
    def body_text(self, deleted: DeletedDocument) -> SafeString:
        if deleted.body is None:
            return format_html("-")
        return format_html("<pre>{}</pre>", json.dumps(deleted.body, indent=2, ensure_ascii=False))


def _with_key(text: str, deleted: QuerySet[DeletedDocument]) -> QuerySet[DeletedDocument]:
    """The deleted documents that match the text, which has one of the forms that the search for documents accepts
    (`key_search.py`): a value, `name=value`, a natural key, the URI of a descriptor. Whole values are
    compared case-insensitively, by the index over the key values."""
    elements = natural_keys.elements(text)
    uri = natural_keys.without_prefix(text)
    wanted = [[element.value for element in elements]]
    if "#" in uri:
        wanted.append(list(uri.rpartition("#")[::2]))
    key_texts = Func(F("key_values"), function="key_texts", output_field=ArrayField(TextField()))
    searched = [Value(dict(enumerate(values)), JSONField()) for values in wanted]
    conditions = [Q(key_texts__contains=Func(values, function="key_texts")) for values in searched]
    found = deleted.alias(key_texts=key_texts, ended_key=Concat("natural_key", Value("#"), output_field=TextField()))
    found = found.filter(reduce(or_, conditions))
    for name, value in elements:
        if name:
            found = found.filter(ended_key__icontains=f"{name}={value}#")
    return found


@shown_with("edfi_api.view_document")
def last_purge(using: str) -> Iterator[StatusLine]:
    """Yield when old versions and deleted documents of a database were last purged."""
    last = PurgeRun.objects.using(using).order_by("-finished_at").first()
    if last is None:
        is_due = _is_older_than(_LONGEST_WITHOUT_PURGE, using)
        yield StatusLine("Last purge", "never: see run_schedule" if is_due else "not yet due", is_due)
        return
    age = timezone.now() - last.finished_at
    yield StatusLine("Last purge", f"{span(age)} ago", age > _LONGEST_WITHOUT_PURGE)


def _is_older_than(age: timedelta, using: str) -> bool:
    """Return whether the database was made longer ago than that."""
    first = MigrationRecorder(connections[using]).migration_qs.order_by("applied").first()
    return first is None or timezone.now() - first.applied > age
