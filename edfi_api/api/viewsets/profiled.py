"""API profiles in requests and answers: the one that a request names, and what they leave of what is served."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.documents.incoming import IncomingDocument, PendingDocument, Preparer
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource
from edfi_api.profiles import media_types
from edfi_api.profiles.catalog import OfParts, ProfileCatalogs, ProfilePart
from edfi_api.profiles.exceptions import NoUsableProfile
from edfi_api.profiles.media_types import ProfileMediaType
from edfi_api.profiles.negotiation import Negotiation
from edfi_api.profiles.preparation import ProfilePreparer
from edfi_api.profiles.visibility import Visibility
from edfi_api.queries.query_by_example import QueryByExample
from edfi_api.security.authenticated_client import AuthenticatedClient
from edfi_api.storage.conditions import WriteCondition
from edfi_api.storage.exceptions import KeyChangeContradicts
from edfi_api.storage.merges import MergeRequest
from edfi_api.storage.requests import WriteRequest
from edfi_api.storage.stored import Written

_INDEX = re.compile(r"\[\d+\]")


class WrittenPart(NamedTuple):
    """How documents are written under a part of a profile, or without one: what prepares them, and the class of the
    request to the store. Under a part that hides members they are merged with the stored ones."""

    part: ProfilePart | None
    preparer: Preparer | ProfilePreparer
    request_class: Callable[..., WriteRequest | MergeRequest]


@dataclass(frozen=True, slots=True)
class ProfiledResource:
    """A resource as a whole and under parts of profiles. `preparers` and `queries` are those of the parts."""

    resource: Resource
    catalogs: ProfileCatalogs
    preparer: Preparer
    preparers: OfParts[ProfilePreparer | None]
    queries: OfParts[QueryByExample]

    def read_part(self, request: EdFiRequest, route_methods: tuple[str, ...]) -> ProfilePart | None:
        """The part that `Accept` names or the client is assigned. Raises MalformedProfileMediaType and what
        `Negotiation.part` does."""
        return self._part(request, media_types.in_accept(request.META.get("HTTP_ACCEPT", "")), route_methods)

    def written_part(self, request: EdFiRequest, route_methods: tuple[str, ...]) -> WrittenPart:
        """The same of `Content-Type`, and how documents are written under it."""
        part = self._part(request, media_types.in_content_type(request.META.get("CONTENT_TYPE", "")), route_methods)
        merging = None if part is None else self.preparers[part]
        if merging is None:
            return WrittenPart(part, self.preparer, WriteRequest)
        return WrittenPart(part, merging, MergeRequest)

    def condition(self, condition: WriteCondition, client: AuthenticatedClient) -> WriteCondition:
        """The condition of a request, also on what the client reads through profiles."""
        tags = {version.partition(".")[2] for version in condition.part_versions}
        if not tags:
            return condition
        catalog = self.catalogs.at(client.claims_version)
        try:
            readable = catalog.readable_parts(client.profile_ids, client.tenant_id, self.resource)
        except NoUsableProfile:
            return condition
        parts = [part for part in readable if part.tag in tags and part.read_view is not None]
        return replace(condition, versions_of=lambda body: {f"{part.version(0, body)}.{part.tag}" for part in parts})

    def _part(
        self, request: EdFiRequest, requested: ProfileMediaType | None, route_methods: tuple[str, ...]
    ) -> ProfilePart | None:
        client = request.user
        if requested is None and not client.profile_ids:
            return None
        catalog = self.catalogs.at(client.claims_version)
        method = "GET" if request.method == "HEAD" else str(request.method)
        return Negotiation(catalog, client.tenant_id, client.profile_ids, self.resource, method, route_methods).part(
            requested
        )


def profiled_headers(part: ProfilePart | None) -> dict[str, str]:
    """`Content-Type` of documents that are served through a profile; without one nothing differs."""
    return {} if part is None else {"Content-Type": part.media_type}


def stored(written: Written, prepared: IncomingDocument | PendingDocument) -> Written:
    """The result of a write with the text of the stored body, which it has only of a merge."""
    return written._replace(text=prepared.text) if isinstance(prepared, IncomingDocument) else written


def without_hidden(refusal: KeyChangeContradicts, visibility: Visibility) -> KeyChangeContradicts:
    """The refusal without its violations if one is at a hidden place of the referrer: each contains the values of all
    places that have to agree."""
    places = [JsonPath.parse(_INDEX.sub(ALL_ITEMS, violation.path)) for violation in refusal.violations]
    if all(visibility.shows(refusal.resource, place) for place in places):
        return refusal
    return replace(refusal, violations=[])
