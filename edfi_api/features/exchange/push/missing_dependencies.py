"""What a refused document refers to, and the remote API does not have, as far as that is known here."""

from collections.abc import Collection, Iterable
from uuid import UUID

from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.features.exchange.push.outbound_changes import OutboundChange, preparer_of
from edfi_api.features.exchange.push.sent_documents import SentDocuments
from edfi_api.features.exchange.push.target import Outcome
from edfi_api.model.surface.resource import Resource, ResourceName
from references.exceptions import MissingTarget

# Statuses by which APIs say that a reference does not resolve.
_MAY_BE_UNRESOLVED = frozenset({400, 404, 409})


class MissingDependencies:
    """Looks among what a connection has sent: documents of these resources, without those that are refused now. Others
    may be there all the same, and are left out."""

    def __init__(self, sent: SentDocuments, resources: Iterable[Resource], refused: Iterable[Outcome]) -> None:
        self._sent = sent
        self._names = {name for each in resources for name in _names(each)}
        self._refused = frozenset[UUID]().union(*(each.outbound.identities for each in refused))

    def of(self, outcome: Outcome) -> list[MissingTarget]:
        """Return the missing targets in the order of the body."""
        outbound = outcome.outbound
        if outbound.is_delete or outcome.status not in _MAY_BE_UNRESOLVED:
            return []
        targets = self._targets(outbound)
        there = self._sent.identities_there(target.referential_id for target in targets if target.referential_id)
        return [each for each in targets if each.referential_id not in there - self._refused]

    def _targets(self, outbound: OutboundChange) -> list[MissingTarget]:
        try:
            references = preparer_of(outbound.resource).extractor.references(outbound.body or {})
        except (DataValidationFailed, KeyError):
            return []
        own: Collection[UUID] = outbound.identities
        return [
            each.as_missing() for each in references if each.target in self._names and each.referential_id not in own
        ]


def _names(resource: Resource) -> list[ResourceName]:
    """The names by which references may refer to a resource."""
    return [resource.name, *([resource.superclass.name] if resource.superclass else [])]
