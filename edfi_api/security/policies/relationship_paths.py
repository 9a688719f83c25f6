"""Access paths of the relationship strategies: from each organization that is reached to its documents, or to those of
its people, which the table `reached_document` lists."""

from dataclasses import dataclass

from edfi_api.documents.securables import SecurableKind
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.row_policy import AccessPath

from .reach import Pathway, Reach
from .reachable import BELOW, CLAIMED, Reachable, association_types

# Up to this many organizations, finding the first documents is as fast as a page without a policy.
_FEW = 32


@dataclass(frozen=True, slots=True)
class _Branch:
    """The documents of one organization `o`; or, with a pathway, those of the people associated with it."""

    pathway: Pathway | None = None

    def rows(self, limit: str, last: str = "%(last)s") -> str:
        """A query for the first documents in order."""
        if self.pathway is None:
            return f"""
SELECT d.id FROM document d
 WHERE d.resource_type_id = %(type)s AND d.organization = o.id AND d.id BETWEEN %(first)s AND {last}
 ORDER BY d.id LIMIT {limit}
"""
        return f"""
SELECT r.id FROM unnest({association_types(self.pathway)}) association (type) CROSS JOIN LATERAL (
    SELECT DISTINCT r.document_id AS id FROM reached_document r
     WHERE r.resource_type_id = %(type)s AND r.association_type_id = association.type AND r.organization = o.id
       AND r.document_id BETWEEN %(first)s AND {last}
     ORDER BY r.document_id LIMIT {limit}
) r
"""


def by_organization(reach: Reach, remaining: Sql | None) -> AccessPath:
    """To documents that have an organization."""
    organizations = Reachable(reach).organizations
    return AccessPath(
        Sql(_of_each(organizations, _Branch(), "%(looked_at)s")),
        Sql(_of_each(organizations, _Branch(), "NULL")),
        _has_many(organizations),
        remaining,
    )


def by_person(kind: SecurableKind, reach: Reach, has_organization: bool, remaining: Sql | None) -> AccessPath:
    """To documents about people of this kind.

    If the documents have an organization, which the strategy does not check, no index leads from people to them: all
    documents of the resource are compared, in an index.
    """
    branch = _Branch(reach.pathway(kind))
    first, all_ = (_of_each(BELOW, branch, limit) for limit in ("%(looked_at)s", "NULL"))
    if not has_organization:
        return AccessPath(Sql(first), Sql(all_), _has_many(BELOW), remaining)
    compared = f"""
SELECT d.id FROM document d
 WHERE d.resource_type_id = %(type)s AND d.organization IS NOT NULL AND d.id BETWEEN %(first)s AND %(last)s
   AND d.{kind} IN ({Reachable(reach).all(kind)} OFFSET 0)
"""
    first, all_ = (f"({each}) UNION ALL ({compared})" for each in (first, all_))
    return AccessPath(Sql(first), Sql(all_), Sql("true"), remaining)


def is_about_reached_people(kind: SecurableKind, reach: Reach, is_alone: bool) -> str:
    """The condition on documents `d` without an organization; the list is computed once if it `is_alone`."""
    return f"""d.id IN (
SELECT r.document_id FROM ({BELOW}) o (id) JOIN reached_document r ON r.organization = o.id
 WHERE r.resource_type_id = %(type)s AND r.association_type_id = ANY ({association_types(reach.pathway(kind))})
{" OFFSET 0" if is_alone else ""})"""


def _of_each(organizations: str, branch: _Branch, limit: str) -> str:
    """The first documents of all organizations. Documents of one organization are mostly adjacent in page order: once
    the first organization fills the page, the others are read only up to its last document."""
    return f"""
WITH branch AS MATERIALIZED (
    SELECT o.id, d.id AS first_id FROM ({organizations} UNION {CLAIMED}) o (id)
           CROSS JOIN LATERAL ({branch.rows(limit="1")}) d
), bound AS MATERIALIZED (
    SELECT CASE WHEN count(DISTINCT d.id) >= {limit} THEN max(d.id) ELSE %(last)s END AS id
      FROM (SELECT id FROM branch ORDER BY first_id LIMIT 1) o CROSS JOIN LATERAL ({branch.rows(limit)}) d
)
SELECT d.id FROM (SELECT DISTINCT id FROM branch WHERE first_id <= (SELECT id FROM bound)) o
       CROSS JOIN LATERAL ({branch.rows(limit, last="(SELECT id FROM bound)")}) d
"""


def _has_many(organizations: str) -> Sql:
    return Sql(f"(SELECT count(*) FROM (SELECT FROM ({organizations}) o LIMIT {_FEW} + 1) o) > {_FEW}")
