"""After a refusal by the database: which targets are missing, and which documents refer to one.

Asked only to word an answer, never to decide; the foreign keys have decided.
"""

from collections.abc import Iterable
from uuid import UUID

from references.exceptions import DependentItemExists, Referrer
from references.models import Alias, Reference

# A school is referred to by everything its students have. Naming the types among so many rows, and that many
# documents, keeps the answer's cost bounded; a rarer type beyond them stays unnamed.
_ROWS_LOOKED_AT = 10_000
_REFERRERS_NAMED = 10


def missing(targets: Iterable[UUID], using: str) -> set[UUID]:
    """The referential ids among `targets` that no document has."""
    wanted = set(targets)
    found = Alias.objects.using(using).filter(pk__in=wanted).values_list("referential_id", flat=True)
    return wanted - set(found)


def dependents(document_uuid: UUID, using: str) -> DependentItemExists | None:
    """What refers to the document with this id, itself excepted; None if nothing does."""
    references = Reference.objects.using(using).filter(alias__document__document_uuid=document_uuid)
    others = references.exclude(document__document_uuid=document_uuid)
    type_ = "document__resource_type"
    facts = (f"{type_}__name", "document__natural_key", f"{type_}__project", "document_id")
    referrers = list(dict.fromkeys(Referrer(*row) for row in others.values_list(*facts)[:_ROWS_LOOKED_AT]))
    if not referrers:
        return None
    return DependentItemExists(sorted({referrer.resource for referrer in referrers}), referrers[:_REFERRERS_NAMED])
