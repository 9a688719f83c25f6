"""The `/deletes` and `/keyChanges` of each resource, and the available change versions."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.queries.parameters import refuse_filters
from edfi_api.features.changes.change_queries.tracked_changes import (
    Delete,
    TrackedKeyChange,
    TrackedWindow,
    newest_change_version,
)
from edfi_api.features.changes.change_queries.windows import read_window
from edfi_api.web.answered_requests import DocumentsRead
from edfi_api.web.viewsets.edfi_view import EdFiRequest, EdFiView
from edfi_api.web.viewsets.ods_representation import id_of_digits
from edfi_api.web.viewsets.resource_viewset import ResourceViewSet
from edfi_api.web.viewsets.responses import JsonTextResponse

Change = TypeVar("Change", Delete, TrackedKeyChange)


class TrackedResourceViewSet(ResourceViewSet):
    """The viewset of a resource with change queries."""

    segments = {**ResourceViewSet.segments, "deletes": "deletes", "keychanges": "key_changes"}

    def deletes(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        """Deleted documents, in the order of their deletion."""
        return self._changes(request, TrackedWindow.deletes, TrackedWindow.count_deletes, _delete)

    def key_changes(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        """Documents whose identity changed, in the order of the last change."""
        return self._changes(request, TrackedWindow.key_changes, TrackedWindow.count_key_changes, _key_change)

    def _changes(
        self,
        request: EdFiRequest,
        find: Callable[[TrackedWindow, int, int], list[Change]],
        count: Callable[[TrackedWindow], int],
        write: Callable[[Change], str],
    ) -> HttpResponse:
        page = self.paginator.read_offset(request)
        window = read_window(request.query_params)
        refuse_filters(request.query_params)
        policy = self.authorize(request).policy
        if policy is not None:
            policy.predicate()  # Raises a refusal if the client cannot be allowed to read any document.
        tracked = TrackedWindow(self.resource, window, policy, using=self.using)
        headers = {"Total-Count": str(count(tracked))} if page.wants_total else {}
        found = find(tracked, page.size, page.offset)
        if OdsCompatibility.COMPLETE_DOCUMENTS.applies:
            write = partial(_with_digits, write)
        text = f"[{','.join(map(write, found))}]".encode()
        what, query = self.action.replace("_", " "), request.META.get("QUERY_STRING", "")
        request._request.done = DocumentsRead(len(found), len(text), what, query)  # type: ignore[attr-defined]
        return JsonTextResponse(text, headers)


class AvailableChangeVersionsView(EdFiView):
    """Oldest and newest change version, for any authenticated client
    (meadowlark/docs/reference/contract.md#change-queries)."""

    detail = None

    def get(self, request: Request, **kwargs: Any) -> Response:
        newest = newest_change_version(self.using)
        versions = {"oldestChangeVersion": 0, "newestChangeVersion": newest}
        if OdsCompatibility.CAPITAL_CHANGE_VERSIONS.applies:
            versions |= {"OldestChangeVersion": 0, "NewestChangeVersion": newest}
        return Response(versions)


def _delete(change: Delete) -> str:
    return f'{{"id":"{change.document_uuid}","changeVersion":{change.change_version},"keyValues":{change.key_values}}}'


def _key_change(change: TrackedKeyChange) -> str:
    return (
        f'{{"id":"{change.document_uuid}","changeVersion":{change.change_version},'
        f'"oldKeyValues":{change.old_key_values},"newKeyValues":{change.new_key_values}}}'
    )


def _with_digits(write: Callable[[Change], str], change: Change) -> str:
    """Write a change as the ODS/API has the id."""
    id_ = str(change.document_uuid)
    return write(change).replace(id_, id_of_digits(id_), 1)
