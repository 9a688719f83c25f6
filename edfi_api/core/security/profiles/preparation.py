"""Prepares writes under a part of a profile that hides members."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from edfi_api.core.documents.exceptions import CannotBeCreated, ContradictsHidden
from edfi_api.core.documents.extraction import StoredUris
from edfi_api.core.documents.incoming import IncomingDocument, PendingDocument, Preparers
from edfi_api.core.documents.leniency import Leniency
from edfi_api.core.documents.merge_preparation import MergePreparer
from edfi_api.core.security.profiles.catalog import OfParts, ProfilePart
from edfi_api.core.security.profiles.exceptions import ContradictionPreventedByProfile, CreationPreventedByProfile
from edfi_api.model.profiles.view import members_of

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProfilePreparer:
    """A preparer whose documents raise refusals that name the profile."""

    profile: str
    merging: MergePreparer

    def prepare_new(self, sent: Body, stored_uris: StoredUris, leniency: Leniency | None = None) -> PendingDocument:
        """Prepare a document as `MergePreparer.prepare_new` does; the merge raises CreationPreventedByProfile and
        ContradictionPreventedByProfile.
        """
        return self._naming_the_profile(self.merging.prepare_new(sent, stored_uris, leniency))

    def prepare_replacement(
        self, sent: Body, document_uuid: UUID, stored_uris: StoredUris, leniency: Leniency | None = None
    ) -> PendingDocument:
        """Prepare an update as `MergePreparer.prepare_replacement` does; the merge raises what that of `prepare_new`
        raises.
        """
        return self._naming_the_profile(self.merging.prepare_replacement(sent, document_uuid, stored_uris, leniency))

    def _naming_the_profile(self, pending: PendingDocument) -> PendingDocument:
        return PendingDocument(pending.resource, pending.identity, self._merge(pending.merged))

    def _merge(self, merge: Callable[[Body | None], IncomingDocument]) -> Callable[[Body | None], IncomingDocument]:
        def merged(stored: Body | None) -> IncomingDocument:
            try:
                return merge(stored)
            except CannotBeCreated as error:
                raise CreationPreventedByProfile(self.profile) from error
            except ContradictsHidden as error:
                raise ContradictionPreventedByProfile(self.profile) from error

        return merged


def profile_preparers(preparers: Preparers) -> OfParts[ProfilePreparer | None]:
    """The preparers of parts of profiles; None of a part that hides nothing."""

    def make(part: ProfilePart) -> ProfilePreparer | None:
        if part.view is None:
            return None
        full, members = preparers[part.resource.name], members_of(part.resource)
        return ProfilePreparer(part.profile, MergePreparer(full, members, part.view))

    return OfParts(make)
