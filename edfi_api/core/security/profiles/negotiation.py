"""Client, resource, method and header → the part of a profile that a request is under, or the refusal.

Headers name a profile by a media type: `application/vnd.ed-fi.{resource}.{profile}.{readable|writable}+json`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from edfi_api.core.documents.visible_part import is_always_visible
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.profiles.catalog import ProfileCatalog, ProfileCatalogs, ProfilePart, StoredProfile
from edfi_api.core.security.profiles.exceptions import (
    MalformedProfileMediaType,
    NoPartForUsage,
    NoUsableProfile,
    OtherResourceInMediaType,
    ProfileRequired,
    ResourceNotInProfile,
    UnknownProfile,
    WrongProfileUsage,
)
from edfi_api.core.storage.write_requests import WriteCondition
from edfi_api.model.profiles.definition import Usage
from edfi_api.model.surface.resource import JsonPath, Resource

_BEGINNING = "application/vnd.ed-fi."
_FORM = re.compile(
    r"application/vnd\.ed-fi\.(?P<resource>[a-z][a-z0-9]*)\.(?P<profile>[a-z][a-z0-9_-]*)"
    r"\.(?P<usage>readable|writable)\+json",
    re.ASCII | re.IGNORECASE,
)
_WEIGHT = re.compile(r"q\s*=\s*(?P<weight>0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)", re.ASCII | re.IGNORECASE)
# Nearly all requests have the same few. Clients may send any others, of up to 64 kB.
_MOST_HEADERS = 32
_HEADERS = {Usage.READABLE: "Accept", Usage.WRITABLE: "Content-Type"}
_METHODS = {Usage.READABLE: ["GET"], Usage.WRITABLE: ["POST", "PUT"]}


@dataclass(frozen=True, slots=True)
class ProfileMediaType:
    """A media type of profiles, as the client spelt it."""

    resource: str
    profile: str
    usage: Usage


def is_of_a_profile(declared: str) -> bool:
    """Return whether a media type begins like those of profiles."""
    return declared.lower().startswith(_BEGINNING)


@lru_cache(_MOST_HEADERS)
def in_content_type(header: str) -> ProfileMediaType | None:
    """The media type of a profile in `Content-Type`; None for any other. Raises MalformedProfileMediaType."""
    declared = header.partition(";")[0].strip()
    return _parsed(declared) if is_of_a_profile(declared) else None


@lru_cache(_MOST_HEADERS)
def in_accept(header: str) -> ProfileMediaType | None:
    """The media type of a profile in the list of `Accept`; None without one. Of several the one with the highest weight
    counts (RFC 9110 §12.5.1).

    Raises MalformedProfileMediaType, also for several different ones of the highest weight.
    """
    if _BEGINNING not in header.lower():
        return None
    found: dict[str, tuple[float, str]] = {}
    for each in header.split(","):
        media_type, *parameters = map(str.strip, each.split(";"))
        if is_of_a_profile(media_type) and (weight := _weight(parameters)) > 0:
            found[media_type.lower()] = max((weight, media_type), found.get(media_type.lower(), (0.0, "")))
    highest = max((weight for weight, _ in found.values()), default=0.0)
    preferred = [media_type for weight, media_type in found.values() if weight == highest]
    if len(preferred) > 1:
        raise MalformedProfileMediaType
    return _parsed(preferred[0]) if preferred else None


def _weight(parameters: list[str]) -> float:
    """Return the weight of an element of `Accept`; 1 without one, and with one that cannot be read."""
    found = (_WEIGHT.fullmatch(each) for each in parameters)
    return next((float(each["weight"]) for each in found if each), 1.0)


def _parsed(declared: str) -> ProfileMediaType:
    match = _FORM.fullmatch(declared)
    if match is None:
        raise MalformedProfileMediaType
    return ProfileMediaType(match["resource"], match["profile"], Usage(match["usage"].lower()))


@dataclass(frozen=True, slots=True)
class ProfiledResource:
    """A resource under the profiles of its clients."""

    resource: Resource
    catalogs: ProfileCatalogs

    def part(
        self,
        client: AuthenticatedClient,
        requested: ProfileMediaType | None,
        method: str,
        route_methods: tuple[str, ...],
    ) -> ProfilePart | None:
        """The part that the client requests or is assigned. Raises what `Negotiation.part` does. Callers leave it out
        for a client without profiles that requests none."""
        catalog = self.catalogs.at(client.claims_version)
        return Negotiation(catalog, client.tenant_id, client.profile_ids, self.resource, method, route_methods).part(
            requested
        )

    def condition(self, condition: WriteCondition, client: AuthenticatedClient) -> WriteCondition:
        """The condition of a write. Of a client that reads the resource through its profiles only, no other tags match:
        neither those of the whole document nor those of other profiles."""
        if not client.profile_ids:
            return condition
        catalog = self.catalogs.at(client.claims_version)
        try:
            if not catalog.parts(client.profile_ids, self.resource, Usage.READABLE):
                return condition
        except NoUsableProfile:
            return condition.read_through(frozenset())
        own = (profile.tag(self.resource) for profile in catalog.assigned(client.profile_ids))
        return condition.read_through(frozenset(own) - {""})


@dataclass(frozen=True, slots=True)
class Negotiation:
    """A request for a resource by a client with these assigned profiles; `route_methods` are those of its route."""

    catalog: ProfileCatalog
    tenant_id: int | None
    assigned_ids: tuple[int, ...]
    resource: Resource
    method: str
    route_methods: tuple[str, ...]

    @property
    def usage(self) -> Usage:
        return Usage.READABLE if self.method in ("GET", "HEAD") else Usage.WRITABLE

    def part(self, requested: ProfileMediaType | None) -> ProfilePart | None:
        """The part that applies; None if the client reads or writes the whole resource.

        `requested` is the media type of a profile in the request's header. Raises, checked in this order,
        UnknownProfile, NoUsableProfile, ProfileRequired, OtherResourceInMediaType, WrongProfileUsage,
        ResourceNotInProfile and NoPartForUsage.
        """
        named = None if requested is None else self._named(requested)
        own = self.catalog.parts(self.assigned_ids, self.resource, self.usage)
        if requested is None or named is None:
            return _only(own)
        if own and named.row_id not in self.assigned_ids:
            raise _required(own)
        self._check_media_type(requested)
        part = named.part(self.resource, self.usage)
        if part is None:
            raise self._refusal(named, requested, own)
        return part

    def _named(self, requested: ProfileMediaType) -> StoredProfile:
        named = self.catalog.named(requested.profile, self.tenant_id)
        if named is None or named.is_incompatible:
            raise UnknownProfile(requested.profile, _HEADERS[self.usage], self._usable())
        return named

    def _usable(self) -> list[str]:
        """The media types that the client may name for the resource and usage."""
        try:
            own = self.catalog.parts(self.assigned_ids, self.resource, self.usage)
        except NoUsableProfile:
            return []
        all_ = (profile.part(self.resource, self.usage) for profile in self.catalog.visible_to(self.tenant_id))
        return [part.media_type for part in own or all_ if part is not None]

    def _check_media_type(self, requested: ProfileMediaType) -> None:
        if requested.resource.lower() != self.resource.name.resource.lower():
            raise OtherResourceInMediaType(requested.resource, self.resource.name.resource)
        if requested.usage is not self.usage:
            raise WrongProfileUsage(requested.usage, self.method)

    def _refusal(self, named: StoredProfile, requested: ProfileMediaType, own: list[ProfilePart]) -> Exception:
        """Return why an existing profile has no part for the request."""
        name = self.resource.name.resource
        if named.names(self.resource):
            left = {"DELETE", *(method for usage in named.usages(self.resource) for method in _METHODS[usage])}
            allowed = [method for method in self.route_methods if method in left]
            return NoPartForUsage(name, requested.profile, self.usage, allowed)
        if own:
            return _required(own)
        return ResourceNotInProfile(name, requested.profile)


def _only(own: list[ProfilePart]) -> ProfilePart | None:
    if len(own) > 1:
        raise _required(own)
    return own[0] if own else None


def _required(own: list[ProfilePart]) -> ProfileRequired:
    return ProfileRequired([part.media_type for part in own])


@dataclass(frozen=True, slots=True)
class Visibility:
    """The documents and members that are visible to a client. `parts` returns those through which it can read a
    resource: all of it without any; it raises NoUsableProfile if the only profile for the resource does not fit any
    more.

    Whatever at least one part shows is visible.
    """

    parts: Callable[[Resource], list[ProfilePart]]

    def is_open(self, resource: Resource) -> bool:
        """Return whether the client can read the resource, in full or through a profile."""
        try:
            self.parts(resource)
        except NoUsableProfile:
            return False
        return True

    def shows(self, resource: Resource, path: JsonPath) -> bool:
        """Return whether every value at the path is visible."""
        if not self.is_open(resource):
            return False
        parts = self.parts(resource)
        return not parts or any(part.view is None or is_always_visible(path, part.view) for part in parts)

    def shows_references(self, referrer: Resource, target: Resource) -> bool:
        """Return whether every place by which documents of one resource can refer to those of the other is visible."""
        names = {target.name} if target.superclass is None else {target.name, target.superclass.name}
        references = [reference.path for reference in referrer.references if reference.target in names]
        descriptors = [descriptor.path for descriptor in referrer.descriptors if descriptor.target in names]
        return self.is_open(referrer) and all(self.shows(referrer, path) for path in (*references, *descriptors))


def visibility_of(client: AuthenticatedClient, profiles: ProfileCatalogs) -> Visibility:
    """Return what is visible to a client, by its assigned profiles."""
    if not client.profile_ids:
        return Visibility(lambda _: [])
    catalog = profiles.at(client.claims_version)
    return Visibility(lambda resource: catalog.parts(client.profile_ids, resource, Usage.READABLE))
