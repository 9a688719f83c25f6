"""The published OpenAPI documents of stored profiles, as they are at the time of a request."""

from pathlib import Path
from threading import Lock

import orjson
from cachetools import LRUCache

from edfi_api.core.security.profiles.catalog import ProfileCatalogs, StoredProfile
from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata.discovery import specifications
from edfi_api.web.metadata.profile_openapi import profile_document
from edfi_api.web.metadata.publication import ADDRESS, JSON, Publication, publication

# A profile of a few resources takes some 50 kB, one of all resources of a standard 6 MB.
_MOST_BYTES = 32 * 2**20


class ProfilePublications:
    """Documents are rendered when they are requested and kept while there is room, until their definition changes."""

    def __init__(self, surface: Surface, standard: Path) -> None:
        self._surface = surface
        self._standard = standard
        self._catalogs = ProfileCatalogs(surface)
        self._kept: LRUCache[StoredProfile, Publication] = LRUCache(_MOST_BYTES, getsizeof=_size)
        self._lock = Lock()

    def names(self, tenant_id: int | None) -> list[str]:
        """The tenant's and the shared profiles that fit the served standard, in the order in which they were first
        stored."""
        return [each.name for each in self._catalogs.current().visible_to(tenant_id) if not each.is_misfit]

    def list(self, tenant_id: int | None) -> Publication:
        """The list of all specifications, those of profiles at the end."""
        return publication(orjson.dumps(specifications(self._surface, ADDRESS, self.names(tenant_id))), JSON)

    def of(self, name: str, tenant_id: int | None) -> Publication | None:
        """The document of the tenant's or shared profile with this name, in any case; None if there is none that
        fits."""
        profile = self._catalogs.current().named(name, tenant_id)
        if profile is None or profile.is_misfit:
            return None
        with self._lock:
            return self._kept.get(profile) or self._rendered(profile)

    def _rendered(self, profile: StoredProfile) -> Publication:
        document = profile_document(self._surface, ADDRESS, profile, self._standard)
        rendered = publication(orjson.dumps(document), JSON)
        if _size(rendered) <= _MOST_BYTES:
            self._kept[profile] = rendered
        return rendered


def _size(kept: Publication) -> int:
    return sum(map(len, (*kept.pieces, *kept.deflated)))
