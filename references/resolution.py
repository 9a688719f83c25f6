"""Details of a foreign key violation: which targets are missing, and which documents refer to one.

The results only describe the error; whether there is one is decided by the foreign keys.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import connections

from references.exceptions import DependentItemExists, Referrer

# A school can have millions of referrers. The error names ten of them, so at most ten are read per resource type.
_REFERRERS_NAMED = 10
# The ids are one array parameter: the ORM binds each id separately, which takes longer than the query itself.
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
    """The referential ids among `targets` that belong to no stored document."""
    wanted = set(targets)
    return wanted - stored(wanted, using) if wanted else wanted


def stored(ids: Iterable[UUID], using: str) -> set[UUID]:
    """The referential ids among `ids` that belong to a stored document."""
    with connections[using].cursor() as cursor:
        cursor.execute(_STORED, [list(ids)])
        return {found for (found,) in cursor}


def dependents(document_uuid: UUID, using: str) -> DependentItemExists | None:
    """The referrers of the document with this id, except itself; None if there are none."""
    with connections[using].cursor() as cursor:
        cursor.execute(_DEPENDENTS, {"document_uuid": document_uuid, "named": _REFERRERS_NAMED})
        rows = cursor.fetchall()
    if not rows:
        return None
    referrers = list(dict.fromkeys(Referrer(*referrer) for _, *referrer in rows))
    resources = sorted({each.resource for each in referrers})
    return DependentItemExists(rows[0][0], resources, referrers[:_REFERRERS_NAMED])
