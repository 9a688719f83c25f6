"""Client, resource, method and header → the part of a profile that a request is under, or the refusal."""

from dataclasses import dataclass

from edfi_api.model.profiles.definition import Usage
from edfi_api.model.surface.resource import Resource
from edfi_api.profiles.catalog import ProfileCatalog, ProfilePart, StoredProfile
from edfi_api.profiles.exceptions import (
    NoPartForUsage,
    OtherResourceInMediaType,
    ProfileRequired,
    ResourceNotInProfile,
    UnknownProfile,
    WrongProfileUsage,
)
from edfi_api.profiles.media_types import ProfileMediaType

_HEADERS = {Usage.READABLE: "Accept", Usage.WRITABLE: "Content-Type"}
_METHODS = {Usage.READABLE: ["GET"], Usage.WRITABLE: ["POST", "PUT"]}


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
        if named is None or named.is_misfit:
            raise UnknownProfile(requested.profile, _HEADERS[self.usage])
        return named

    def _check_media_type(self, requested: ProfileMediaType) -> None:
        if requested.resource.lower() != self.resource.name.resource.lower():
            raise OtherResourceInMediaType(requested.resource, self.resource.name.resource)
        if requested.usage is not self.usage:
            raise WrongProfileUsage(requested.usage, self.method)

    def _refusal(self, named: StoredProfile, requested: ProfileMediaType, own: list[ProfilePart]) -> Exception:
        """Why an existing profile has no part for the request."""
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
