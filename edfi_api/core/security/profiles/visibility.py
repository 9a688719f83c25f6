"""What the profiles of a client leave of documents that answers contain beside the requested one."""

from collections.abc import Callable
from dataclasses import dataclass

from edfi_api.core.documents.visible_part import is_always_visible
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.profiles.catalog import ProfileCatalogs, ProfilePart
from edfi_api.core.security.profiles.exceptions import NoUsableProfile
from edfi_api.model.profiles.definition import Usage
from edfi_api.model.surface.resource import JsonPath, Resource


@dataclass(frozen=True, slots=True)
class Visibility:
    """What is visible to a client. `parts` returns those through which it can read a resource: all of it without any;
    it raises NoUsableProfile if the only profile for the resource does not fit any more.

    Whatever at least one part shows is visible.
    """

    parts: Callable[[Resource], list[ProfilePart]]

    def is_open(self, resource: Resource) -> bool:
        """Whether the client can read the resource, in full or through a profile."""
        try:
            self.parts(resource)
        except NoUsableProfile:
            return False
        return True

    def shows(self, resource: Resource, path: JsonPath) -> bool:
        """Whether every value at the path is visible."""
        if not self.is_open(resource):
            return False
        parts = self.parts(resource)
        return not parts or any(part.view is None or is_always_visible(path, part.view) for part in parts)

    def shows_references(self, referrer: Resource, target: Resource) -> bool:
        """Whether every place by which documents of one resource can refer to those of the other is visible."""
        names = {target.name} if target.superclass is None else {target.name, target.superclass.name}
        references = [reference.path for reference in referrer.references if reference.target in names]
        descriptors = [descriptor.path for descriptor in referrer.descriptors if descriptor.target in names]
        return self.is_open(referrer) and all(self.shows(referrer, path) for path in (*references, *descriptors))


def visibility_of(client: AuthenticatedClient, profiles: ProfileCatalogs) -> Visibility:
    """What is visible to a client, by its assigned profiles."""
    if not client.profile_ids:
        return Visibility(lambda _: [])
    catalog = profiles.at(client.claims_version)
    return Visibility(lambda resource: catalog.parts(client.profile_ids, resource, Usage.READABLE))
