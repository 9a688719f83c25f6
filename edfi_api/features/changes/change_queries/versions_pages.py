"""The history of a document in the admin: its versions with what each changed, and restoring one of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

import orjson
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.core.documents import json_text
from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.features.changes.change_queries import history
from edfi_api.features.changes.change_queries.history import ABSENT, DELETE, NEWEST, Difference, Version, differences
from edfi_api.features.changes.change_queries.restoring import CannotRestore, kept_version, restore_version
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.web.admin_kit.document_panels import Panel, PanelOrder, Place, ShownDocument
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.list_filters import row_in
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.store_choice import address_with_store, shown_in, with_choice
from edfi_api.web.admin_kit.titles import DocumentKey, title_of, titles

_SHOWN, _IN_TIMELINE = 20, 10
_PAGE = "admin:edfi_api_document_versions"


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version as the page shows it; `changes` are texts by path."""

    version: Version
    at: SafeString | str
    key: str
    writer: str
    changes: list[tuple[str, str, str]]
    can_be_restored: bool


def version_pages(documents: "ModelAdmin[Any]") -> list[URLPattern]:
    """Return the route of the page of versions, below the admin of documents."""
    page = documents.admin_site.admin_view(VersionsView(documents))
    return [path("versions/<int:resource_type>/<uuid:document_uuid>/", page, name="edfi_api_document_versions")]


class VersionsView:
    """The view of the page of versions."""

    def __init__(self, documents: "ModelAdmin[Any]") -> None:
        self._documents = documents

    def __call__(self, request: HttpRequest, resource_type: int, document_uuid: UUID) -> HttpResponse:
        """GET shows a page of versions, POST restores one through the store."""
        if not self._documents.has_view_permission(request):
            raise PermissionDenied
        return with_choice(request, lambda: self._versions(request, resource_type, document_uuid))

    def _versions(self, request: HttpRequest, resource_type: int, document_uuid: UUID) -> HttpResponse:
        using = shown_in(request).using
        resource = _resource(resource_type, using)
        if request.method == "POST":
            return self._restore(request, resource, document_uuid)
        if "restore" in request.GET:
            return self._preview(request, resource, document_uuid)
        before = row_in(request.GET.get("before", "")) if "before" in request.GET else NEWEST
        found = history.versions(resource, document_uuid, _SHOWN + 1, before, using=using)
        if not found:
            raise Http404
        named = titles([DocumentKey(resource, version.natural_key) for version in found], using)
        context = {
            **self._documents.admin_site.each_context(request),
            "title": f"Versions of this {kind_in_words(resource.name.resource).in_a_sentence}",
            "subtitle": str(named[0]),
            "document": named[0],
            "versions": list(_shown(found, named, _may_restore(request), is_first_page=before == NEWEST)),
            "older": found[_SHOWN - 1].change_version if len(found) > _SHOWN else None,
        }
        return TemplateResponse(request, "edfi_api/document_versions.html", context)

    def _preview(self, request: HttpRequest, resource: Resource, document_uuid: UUID) -> HttpResponse:
        """Return what the restoration of a version would change, before it is asked for."""
        if not _may_restore(request):
            raise PermissionDenied
        using, number = shown_in(request).using, row_in(request.GET["restore"])
        try:
            kept = kept_version(resource, document_uuid, number, using)
        except CannotRestore as refusal:
            raise Http404 from refusal
        [newest] = history.versions(resource, document_uuid, 1, using=using)
        is_deleted = newest.operation == DELETE
        title = title_of(resource, kept.natural_key, using)
        context = {
            **self._documents.admin_site.each_context(request),
            "title": "Restore a version",
            "subtitle": str(title),
            "document": title,
            "version": kept,
            "at": timestamp(datetime.fromisoformat(kept.at)),
            "is_deleted": is_deleted,
            "changes": [] if is_deleted else [_texts(each) for each in differences(newest.body, kept.body)],
            "form_address": address_with_store(request),
        }
        return TemplateResponse(request, "edfi_api/restore_version.html", context)

    def _restore(self, request: HttpRequest, resource: Resource, document_uuid: UUID) -> HttpResponse:
        if not _may_restore(request):
            raise PermissionDenied
        version, using = row_in(request.POST.get("version", "")), shown_in(request).using
        try:
            restore_version(resource, document_uuid, version, using, request.user.get_username())
            document = Document.objects.using(using).get(document_uuid=document_uuid)
            self._documents.log_change(request, document, f"Restored version {version}.")
            self._documents.message_user(request, f"Version {version} is restored.", messages.SUCCESS)
        except CannotRestore as refusal:
            self._documents.message_user(request, f"Version {version} cannot be restored: {refusal}", messages.ERROR)
        except TooMuchContention:
            self._documents.message_user(
                request, "Nothing was restored, because of concurrent writes. Try again.", messages.ERROR
            )
        return HttpResponseRedirect(request.path)


def timeline(shown: ShownDocument) -> Iterator[Panel]:
    """Yield the block with the latest versions of a document."""
    if shown.resource is None:
        return
    document = shown.document
    found = history.versions(shown.resource, document.document_uuid, _IN_TIMELINE, using=shown.using)
    lines = [
        (timestamp(datetime.fromisoformat(version.at)), version.operation.replace("_", " "), writer)
        for version, writer in zip(found, _writers(found), strict=True)
    ]
    content = format_html(
        '<ol class="related-links">{}</ol><p><a href="{}">What each of them changed</a></p>',
        format_html_join("", '<li>{} {} <span class="quiet">by</span> {}</li>', lines),
        versions_address(document.resource_type_id, document.document_uuid),
    )
    yield Panel("timeline", "Versions", content, Place.BODY, PanelOrder.VERSIONS)


def versions_address(resource_type: int, document_uuid: UUID) -> str:
    """The page of versions."""
    return reverse(_PAGE, args=[resource_type, document_uuid])


def link(resource_type: int, document_uuid: UUID) -> SafeString:
    """A link to the page."""
    return format_html('<a href="{}">Versions</a>', versions_address(resource_type, document_uuid))


def _may_restore(request: HttpRequest) -> bool:
    """A restored version is an update, or an insert if the document was deleted."""
    return request.user.has_perms(["edfi_api.add_document", "edfi_api.change_document"])


def _resource(number: int, using: str) -> Resource:
    name: ResourceName | None = resource_types.names(using).get(number)
    resource = current_surface().by_name.get(name) if name else None
    if resource is None:
        raise Http404
    return resource


def _shown(
    found: list[Version], named: Sequence[str], may_restore: bool, *, is_first_page: bool
) -> Iterator[ShownVersion]:
    writers = _writers(found)
    for number, (version, older) in enumerate(pairwise([*found, None])):
        if version is None or number == _SHOWN:
            return
        is_current = is_first_page and number == 0 and version.operation != DELETE
        can_be_restored = may_restore and version.text is not None and not is_current
        at = timestamp(datetime.fromisoformat(version.at))
        yield ShownVersion(version, at, named[number], writers[number], _changes(version, older), can_be_restored)


def _writers(found: list[Version]) -> list[str]:
    """The names of clients and users; a dash for commands."""
    names = dict(ApiClient.objects.filter(pk__in=history.clients_of(found)).values_list("pk", "name"))
    return [f"{version.user} (admin)" if version.user else names.get(version.client or 0, "-") for version in found]


def _changes(version: Version, older: Version | None) -> list[tuple[str, str, str]]:
    if older is None or version.text is None or older.text is None:
        return []
    return [_texts(each) for each in differences(older.body, version.body)]


def _texts(found: Difference) -> tuple[str, str, str]:
    return found.path, _text(found.old), _text(found.new)


def _text(value: Any) -> str:
    if value is ABSENT:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value, default=json_text.exact_number).decode()
