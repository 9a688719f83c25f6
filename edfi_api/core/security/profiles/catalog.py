"""The stored profiles as one process serves them: read once per version of the claims, compiled at first use.

A definition that does not fit the served standard any more is incompatible: nothing can be requested by it, and the
resources that it names are closed to clients that have no other profile for them.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

from django.db import DEFAULT_DB_ALIAS

from edfi_api.core.documents.document_validator import DocumentValidators, PendingDocument, ValidatedDocument
from edfi_api.core.documents.exceptions import CannotBeCreated, ContradictsHidden
from edfi_api.core.documents.extraction import StoredUris
from edfi_api.core.documents.merge_validator import MergeValidator
from edfi_api.core.documents.violations import Leniency
from edfi_api.core.documents.visible_part import Projection, TextProjection, compile_projection, compile_text_projection
from edfi_api.core.security.models import ClaimsVersion
from edfi_api.core.security.profiles.exceptions import (
    ContradictionPreventedByProfile,
    CreationPreventedByProfile,
    NoUsableProfile,
)
from edfi_api.core.security.profiles.models import Profile
from edfi_api.core.storage.database_state import database_state
from edfi_api.model.profiles.checking import CheckedProfile, ProfileChecker
from edfi_api.model.profiles.definition import ProfileDefinition, ResourceParts, UnreadableDefinition, Usage
from edfi_api.model.profiles.json_files import canonical_rule, read_canonical_json
from edfi_api.model.profiles.view import ObjectView, members_of
from edfi_api.model.surface.resource import Resource, ResourceName, Surface

Compiled = TypeVar("Compiled")


@dataclass(frozen=True, eq=False)
class ProfilePart:
    """The part of a profile that a request is under; `view` is None if the part hides nothing.

    `tag` distinguishes the entity tags of what is read through the profile: it is that of the read part, whichever part
    this is.
    """

    profile: str
    resource: Resource
    usage: Usage
    view: ObjectView | None
    tag: str

    @property
    def media_type(self) -> str:
        """The media type of what is read or written through the part, in lower case as this server writes it."""
        return f"application/vnd.ed-fi.{self.resource.name.resource}.{self.profile}.{self.usage.value}+json".lower()

    @cached_property
    def project(self) -> Projection:
        """The function from a body to its visible part."""
        return _itself if self.view is None else compile_projection(self.view)

    @cached_property
    def project_text(self) -> TextProjection:
        """The function from the JSON text of a body to that of its visible part."""
        return _itself if self.view is None else compile_text_projection(self.view)


def _itself(whole: Any) -> Any:
    return whole


class OfParts(Generic[Compiled]):
    """The results of `make` for parts of profiles, each made at first use; dropped together with its part."""

    def __init__(self, make: Callable[[ProfilePart], Compiled]) -> None:
        self._make = make
        self._compiled: WeakKeyDictionary[ProfilePart, Compiled] = WeakKeyDictionary()

    def __getitem__(self, part: ProfilePart) -> Compiled:
        found = self._compiled.get(part)
        return self._compiled.setdefault(part, self._make(part)) if found is None else found


class StoredProfile:
    """A stored profile, checked against the surface at first use."""

    def __init__(
        self, row_id: int, name: str, definition: str, checker: ProfileChecker, tenant_id: int | None = None
    ) -> None:
        self.row_id = row_id
        # None if it is shared by all tenants.
        self.tenant_id = tenant_id
        self.name = name
        self._text = definition
        self._checker = checker
        self._compiled: dict[tuple[ResourceName, Usage], ProfilePart] = {}

    def is_the_same(self, name: str, definition: str) -> bool:
        """Return whether it has this name and definition."""
        return (self.name, self._text) == (name, definition)

    @property
    def is_incompatible(self) -> bool:
        """Whether the definition does not fit the served standard."""
        return self._checked is None

    def names(self, resource: Resource) -> bool:
        """Return whether the definition names the resource, for any usage; of an incompatible one by name alone."""
        return resource.name in self._parts or (self.is_incompatible and self._names_by_text(resource))

    def part(self, resource: Resource, usage: Usage) -> ProfilePart | None:
        """The part for a resource and usage, the same object each time; None without one, and if it is incompatible."""
        if self._checked is None or (resource.name, usage) not in self._checked.views:
            return None
        known = self._compiled.get((resource.name, usage))
        if known is None:
            view = self._checked.views[resource.name, usage]
            part = ProfilePart(self.name, resource, usage, view, self._tags[resource.name])
            known = self._compiled.setdefault((resource.name, usage), part)
        return known

    def tag(self, resource: Resource) -> str:
        """Return the tag of the parts for the resource, which is empty if there are none."""
        return self._tags.get(resource.name, "")

    def usages(self, resource: Resource) -> list[Usage]:
        """The usages for which the profile has a part of the resource."""
        return [usage for usage in Usage if self.part(resource, usage) is not None]

    @cached_property
    def definition(self) -> ProfileDefinition | None:
        """The definition; None if the stored text cannot be read."""
        try:
            return read_canonical_json(self._text.encode())
        except UnreadableDefinition:
            return None

    @cached_property
    def _checked(self) -> CheckedProfile | None:
        checked = None if self.definition is None else self._checker.check(self.definition)
        return None if checked is None or checked.has_errors else checked

    @cached_property
    def _parts(self) -> Mapping[ResourceName, ResourceParts]:
        if self._checked is None or self.definition is None:
            return {}
        found = ((self._checker.resource(parts), parts) for parts in self.definition.resources)
        return {resource.name: parts for resource, parts in found if resource is not None}

    @cached_property
    def _tags(self) -> Mapping[ResourceName, str]:
        """Eight hex digits of what is read through the profile, equal on all servers."""
        return {name: _tag(self.name, parts) for name, parts in self._parts.items()}

    def _names_by_text(self, resource: Resource) -> bool:
        """Return whether the profile names the resource. Nothing is known of a text that cannot be read, so it closes
        every resource.
        """
        if self.definition is None:
            return True
        return any(parts.name.lower() == resource.name.resource.lower() for parts in self.definition.resources)


def _tag(profile: str, parts: ResourceParts) -> str:
    rule = b"" if parts.read is None else canonical_rule(parts.read)
    return hashlib.sha256(profile.encode() + b"\n" + rule).hexdigest()[:8]


@dataclass(frozen=True)
class ProfileCatalog:
    """All stored profiles at one version of the claims."""

    version: int
    by_id: Mapping[int, StoredProfile]

    @cached_property
    def _by_name(self) -> Mapping[tuple[int | None, str], StoredProfile]:
        """Return the profiles by tenant and name in lower case."""
        return {(profile.tenant_id, profile.name.lower()): profile for profile in self.by_id.values()}

    def named(self, name: str, tenant_id: int | None) -> StoredProfile | None:
        """The profile with this name, in any case, that is the tenant's or shared."""
        lowered = name.lower()
        return self._by_name.get((tenant_id, lowered)) or self._by_name.get((None, lowered))

    def visible_to(self, tenant_id: int | None) -> list[StoredProfile]:
        """Return the profiles of the tenant and the shared ones, in the order in which they were first stored."""
        return [profile for profile in self.by_id.values() if profile.tenant_id in (None, tenant_id)]

    def assigned(self, ids: Iterable[int]) -> list[StoredProfile]:
        """The profiles with these ids, by name. One that was removed since is left out."""
        found = (self.by_id[each] for each in ids if each in self.by_id)
        return sorted(found, key=lambda profile: profile.name.lower())

    def parts(self, ids: Iterable[int], resource: Resource, usage: Usage) -> list[ProfilePart]:
        """The parts of those of these profiles that cover the resource for the usage, by name of profile.

        Raises NoUsableProfile if there are none, but an incompatible one that names the resource.
        """
        assigned = self.assigned(ids)
        found = [part for profile in assigned if (part := profile.part(resource, usage))]
        if not found and any(profile.is_incompatible and profile.names(resource) for profile in assigned):
            raise NoUsableProfile
        return found


class _Kept:
    """The catalog of a database, as this process has read it."""

    def __init__(self, using: str) -> None:
        self.catalog = ProfileCatalog(0, {})
        self.lock = Lock()


class ProfileCatalogs:
    """The catalogs of a surface, read again when the claims have changed."""

    def __init__(self, surface: Surface) -> None:
        self._checker = ProfileChecker(surface)

    def at(self, version: int, using: str = DEFAULT_DB_ALIAS) -> ProfileCatalog:
        """The catalog of this version of the claims, or of a later one."""
        kept = database_state(using).value(_Kept)
        if kept.catalog.version < version:
            with kept.lock:
                if kept.catalog.version < version:
                    kept.catalog = self._read(kept.catalog.by_id, using)
        return kept.catalog

    def current(self, using: str = DEFAULT_DB_ALIAS) -> ProfileCatalog:
        """The catalog as it is now, for requests without a client; a query."""
        return self.at(_claims_version(using), using)

    def _read(self, known: Mapping[int, StoredProfile], using: str) -> ProfileCatalog:
        # The version is read first: a change after this read leads to another reading, never to a missed change.
        version = _claims_version(using)
        rows = Profile.objects.using(using).order_by("pk").values_list("pk", "name", "definition", "tenant_id")
        return ProfileCatalog(version, {row[0]: self._stored(known.get(row[0]), *row) for row in rows})

    def _stored(
        self, known: StoredProfile | None, row_id: int, name: str, definition: str, tenant_id: int | None
    ) -> StoredProfile:
        """The profile that is known already if nothing about it has changed, so that it is not compiled again."""
        if known is not None and known.is_the_same(name, definition):
            return known
        return StoredProfile(row_id, name, definition, self._checker, tenant_id)


def _claims_version(using: str) -> int:
    version: int = ClaimsVersion.objects.using(using).values_list("version", flat=True).get()
    return version


Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProfileValidator:
    """A validator whose documents raise refusals that name the profile."""

    profile: str
    merging: MergeValidator

    def validate_new(self, sent: Body, stored_uris: StoredUris, leniency: Leniency | None = None) -> PendingDocument:
        """Prepare a document as `MergeValidator.validate_new` does; the merge raises CreationPreventedByProfile and
        ContradictionPreventedByProfile.
        """
        return self._naming_the_profile(self.merging.validate_new(sent, stored_uris, leniency))

    def validate_replacement(
        self, sent: Body, document_uuid: UUID, stored_uris: StoredUris, leniency: Leniency | None = None
    ) -> PendingDocument:
        """Prepare an update as `MergeValidator.validate_replacement` does; the merge raises what that of `validate_new`
        raises.
        """
        return self._naming_the_profile(self.merging.validate_replacement(sent, document_uuid, stored_uris, leniency))

    def _naming_the_profile(self, pending: PendingDocument) -> PendingDocument:
        return PendingDocument(pending.resource, pending.identity, self._merge(pending.merged))

    def _merge(self, merge: Callable[[Body | None], ValidatedDocument]) -> Callable[[Body | None], ValidatedDocument]:
        def merged(stored: Body | None) -> ValidatedDocument:
            try:
                return merge(stored)
            except CannotBeCreated as error:
                raise CreationPreventedByProfile(self.profile) from error
            except ContradictsHidden as error:
                raise ContradictionPreventedByProfile(self.profile) from error

        return merged


def profile_validators(validators: DocumentValidators) -> OfParts[ProfileValidator | None]:
    """The validators of parts of profiles; None of a part that hides nothing."""

    def make(part: ProfilePart) -> ProfileValidator | None:
        if part.view is None:
            return None
        full, members = validators[part.resource.name], members_of(part.resource)
        return ProfileValidator(part.profile, MergeValidator(full, members, part.view))

    return OfParts(make)
