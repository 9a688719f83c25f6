"""After a refusal by the database: which targets are missing, and which documents refer to one.

Asked only to word an answer, never to decide; the foreign keys have decided.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import connections

from references.exceptions import DependentItemExists, Referrer

# A school is referred to by everything its students have: no more are looked at of each type than are named of all.
_REFERRERS_NAMED = 10
# One parameter, however many there are; the ORM makes one of each, which took more time than the query.
_STORED = "SELECT referential_id FROM alias WHERE referential_id = ANY (%s)"
_DEPENDENTS = """
SELECT target.id, t.project, t.name, d.document_uuid, d.natural_key
  FROM document target JOIN alias a ON a.document_id = target.id CROSS JOIN resource_type t
 CROSS JOIN LATERAL (
    SELECT r.document_id FROM reference r
     WHERE r.alias_id = a.referential_id AND r.resource_type_id = t.id AND r.document_id <> target.id
     ORDER BY r.document_id LIMIT %(named)s
 ) r JOIN document d ON d.id = r.document_id
 WHERE target.document_uuid = %(document_uuid)s
 ORDER BY d.id
"""


def missing(targets: Iterable[UUID], using: str) -> set[UUID]:
    """The referential ids among `targets` that no document has."""
    wanted = set(targets)
    return wanted - stored(wanted, using) if wanted else wanted


def stored(ids: Iterable[UUID], using: str) -> set[UUID]:
    """The referential ids among these that a document has."""
    with connections[using].cursor() as cursor:
        cursor.execute(_STORED, [list(ids)])
        return {found for (found,) in cursor}


def dependents(document_uuid: UUID, using: str) -> DependentItemExists | None:
    """What refers to the document with this id, itself excepted; None if nothing does."""
    with connections[using].cursor() as cursor:
        cursor.execute(_DEPENDENTS, {"document_uuid": document_uuid, "named": _REFERRERS_NAMED})
        rows = cursor.fetchall()
    if not rows:
        return None
    referrers = list(dict.fromkeys(Referrer(*referrer) for _, *referrer in rows))
    resources = sorted({each.resource for each in referrers})
    return DependentItemExists(rows[0][0], resources, referrers[:_REFERRERS_NAMED])
