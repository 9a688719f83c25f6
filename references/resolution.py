"""After a refusal by the database: which targets are missing, and which documents refer to one.

Asked only to word an answer, never to decide; the foreign keys have decided.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import connections

from references.exceptions import DependentItemExists, Referrer

# A school is referred to by everything its students have: of each type as many are looked at as keep an answer cheap.
_LOOKED_AT_OF_EACH_TYPE = 100
# One parameter, however many there are; the ORM makes one of each, which took more time than the query.
_STORED = "SELECT referential_id FROM alias WHERE referential_id = ANY (%s)"
_DEPENDENTS = """
SELECT t.name, d.natural_key, t.project, d.id
  FROM document target JOIN alias a ON a.document_id = target.id CROSS JOIN resource_type t
 CROSS JOIN LATERAL (
    SELECT r.document_id FROM reference r
     WHERE r.alias_id = a.referential_id AND r.resource_type_id = t.id AND r.document_id <> target.id
     ORDER BY r.document_id LIMIT %(looked_at)s
 ) r JOIN document d ON d.id = r.document_id
 WHERE target.document_uuid = %(document_uuid)s
 ORDER BY d.id
"""


def missing(targets: Iterable[UUID], using: str) -> set[UUID]:
    """The referential ids among `targets` that no document has."""
    wanted = set(targets)
    return wanted - stored(wanted, using)


def stored(ids: Iterable[UUID], using: str) -> set[UUID]:
    """The referential ids among these that a document has."""
    with connections[using].cursor() as cursor:
        cursor.execute(_STORED, [list(ids)])
        return {found for (found,) in cursor}


def dependents(document_uuid: UUID, using: str) -> DependentItemExists | None:
    """What refers to the document with this id, itself excepted; None if nothing does."""
    with connections[using].cursor() as cursor:
        cursor.execute(_DEPENDENTS, {"document_uuid": document_uuid, "looked_at": _LOOKED_AT_OF_EACH_TYPE})
        referrers = list(dict.fromkeys(Referrer(*row) for row in cursor))
    return DependentItemExists(sorted({each.resource for each in referrers}), referrers) if referrers else None
