"""`/history/v1/{project}/{endpoint}/{id}`: the versions of a document, the newest first."""

from itertools import pairwise
from typing import Any

import orjson
from django.http.response import HttpResponseBase

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text
from edfi_api.core.documents.member_names import OtherNames
from edfi_api.core.queries.listing import Field, natural_number, read_filters
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.profiles.catalog import ProfileCatalogs, ProfilePart
from edfi_api.core.security.profiles.negotiation import visibility_of
from edfi_api.core.storage import store
from edfi_api.features.changes.change_queries import history
from edfi_api.features.changes.change_queries.history import ABSENT, DELETE, Version, differences
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.edfi_view import AuthorizedView, EdFiRequest
from edfi_api.web.viewsets.requests import document_uuid
from edfi_api.web.viewsets.responses import JsonTextResponse

_MOST = 100
_LIMIT = f"Limit must be omitted or set to a numeric value between 1 and {_MOST}."
_PARAMETERS = (
    Field("limit", "", natural_number(_MOST, _LIMIT, smallest=1)),
    Field("beforeChangeVersion", "", natural_number(history.NEWEST, "BeforeChangeVersion must be a change version.")),
)


class HistoryView(AuthorizedView):
    """Authorized as GET of the document and as ReadChanges of each of its versions."""

    detail = None
    # DRF's `as_view` accepts only attributes that the class has; `of` sets these.
    surface: Surface = None  # type: ignore[assignment]
    profiles: ProfileCatalogs = None  # type: ignore[assignment]

    @classmethod
    def of(cls, surface: Surface) -> Any:
        """The view of all resources of a surface."""
        return cls.as_view(surface=surface, profiles=ProfileCatalogs(surface))

    def get(self, request: EdFiRequest, project: str, endpoint: str, document_id: str) -> HttpResponseBase:
        """Raises what GET of the document and of its changes raise. Unlike GET, it finds deleted documents, too."""
        resource = self.surface.by_endpoint.get((project.lower(), endpoint.lower()))
        if resource is None:
            raise ResourceNotFound
        self.resource = resource
        parts = visibility_of(request.user, self.profiles).parts(resource)
        uuid, (size, before) = document_uuid(document_id), _page(request)
        self.action = "retrieve"
        # Raises the refusal if the document exists but may not be read.
        live = store.get(resource, uuid, policy=self.authorize(request).policy, using=self.using)
        self.action = "deletes"
        policy = self.authorize(request).policy
        found = history.versions(resource, uuid, size + 1, before, using=self.using)
        shown = history.visible(found, resource, uuid, policy, before, using=self.using)
        if live is None and not shown:
            raise ResourceNotFound
        written = _Written(resource, parts, _names(request, shown))
        answer = [written.members(newer, older) for newer, older in pairwise([*shown, None]) if newer is not None]
        headers = {}
        if len(found) > size:
            answer = [each for each in answer if each["changeVersion"] != found[-1].change_version]
            headers["Next-Change-Version"] = str(found[-2].change_version)
        return JsonTextResponse(orjson.dumps(answer, default=json_text.exact_number), headers)


class _Written:
    """Versions as JSON, through the part of a profile; without bodies if several parts apply."""

    def __init__(self, resource: Resource, parts: list[ProfilePart], names: dict[int, str]) -> None:
        self._other_names = OtherNames.of(resource.served_names)
        self._parts = parts
        self._names = names

    def members(self, version: Version, older: Version | None) -> dict[str, Any]:
        """The version, and what it changed of the older one."""
        members: dict[str, Any] = {
            "changeVersion": version.change_version,
            "operation": version.operation,
            "at": version.at,
            "naturalKey": version.natural_key,
        }
        if version.client in self._names:
            members["client"] = self._names[version.client]
        body = self._body(version)
        if body is None:
            return members
        members["body"] = body
        before = self._body(older) if older is not None and older.operation != DELETE else None
        if before is not None:
            members["changes"] = [_change(each.path, each.old, each.new) for each in differences(before, body)]
        return members

    def _body(self, version: Version) -> dict[str, Any] | None:
        if version.text is None or len(self._parts) > 1:
            return None
        body: dict[str, Any] = version.body
        part = self._parts[0] if self._parts else None
        if part is not None and part.view is not None:
            body = part.project(body)
        self._other_names.rename(body)
        return body


def _change(path: str, old: Any, new: Any) -> dict[str, Any]:
    values = {"from": old, "to": new}
    return {"path": path, **{name: value for name, value in values.items() if value is not ABSENT}}


def _names(request: EdFiRequest, shown: list[Version]) -> dict[int, str]:
    """The names of the clients of the same vendor; others are none of the client's business."""
    own = ApiClient.objects.filter(pk=request.user.row_id).values("application__vendor")
    known = ApiClient.objects.filter(pk__in=history.clients_of(shown), application__vendor__in=own)
    return dict(known.values_list("pk", "name"))


def _page(request: EdFiRequest) -> tuple[int, int]:
    """Return how many versions, and before which one. Raises UnknownQueryField and ParameterValidationFailed."""
    found = read_filters(_PARAMETERS, request.query_params).or_failed_validation()
    given = {each.field.name: each.value for each in found}
    size = given.get("limit", min(_MOST, api_settings.DEFAULT_PAGE_SIZE))
    return size, given.get("beforeChangeVersion", history.NEWEST)
