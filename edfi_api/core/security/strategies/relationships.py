"""The relationship strategies: the organizations and people of a document are reachable from the client's
organizations. One of the configured ones has to allow.

For single documents the condition checks whether a path exists; pages start from the ends of the paths: from each
organization that is reached to its documents, or to those of its people, which the table `reached_document` lists. See
meadowlark/docs/design/authorization.md#people.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edfi_api.core.documents.securables import SecurableElement, SecurableKind
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import (
    ElementRequired,
    ElementUninitialized,
    NoEducationOrganizations,
    NoRelationship,
    StrategyNotApplicable,
)
from edfi_api.core.security.strategies.reach import (
    BELOW,
    CLAIMED,
    REACHES,
    Pathway,
    Reach,
    Reachable,
    association_array,
    association_types,
)
from edfi_api.core.security.strategies.strategy import (
    KEPT,
    STORED,
    Group,
    Strategy,
    Subject,
    Unresolved,
    Values,
    distinct,
    pairs,
    tests_of,
    value_of,
)
from edfi_api.core.storage.driver.sql import Sql, any_of
from edfi_api.core.storage.row_policy import AccessPath, Explanation
from edfi_api.model.metaed.core_names import AUTHORIZATION_PATHWAYS

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
SELECT r.id FROM unnest({association_array(self.pathway)}) association (type) CROSS JOIN LATERAL (
    SELECT DISTINCT r.document_id AS id FROM reached_document r
     WHERE r.resource_type_id = %(type)s AND r.association_type_id = association.type AND r.organization = o.id
       AND r.document_id BETWEEN %(first)s AND {last}
     ORDER BY r.document_id LIMIT {limit}
) r
"""


def by_organization(reach: Reach, remaining: Sql | None) -> AccessPath:
    """Return the access path to documents that have an organization."""
    organizations = Reachable(reach).organizations
    return AccessPath(
        Sql(_of_each(organizations, _Branch(), "%(looked_at)s")),
        Sql(_of_each(organizations, _Branch(), "NULL")),
        _has_many(organizations),
        remaining,
    )


def by_person(kind: SecurableKind, reach: Reach, has_organization: bool, remaining: Sql | None) -> AccessPath:
    """Return the access path to documents about people of this kind.

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
 WHERE r.resource_type_id = %(type)s AND r.association_type_id = ANY ({association_array(reach.pathway(kind))})
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


@dataclass(frozen=True, slots=True)
class Failure:
    """The failing elements of one strategy: those without a value, and those without a relationship. The hints are
    about the former, if there are any. `are_unresolved` if all without a value are in references that do not resolve.
    `compared` are all elements of the strategy, with the hints about them."""

    strategy: str
    without_value: tuple[str, ...]
    unrelated: tuple[str, ...]
    hints: tuple[str, ...]
    are_unresolved: bool
    compared: tuple[str, ...]
    hints_of_compared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relationship:
    """One relationship strategy for one resource: `groups` are all of its elements, `opens` the pathways of which its
    documents are the associations, `is_organization` whether they are in the hierarchy of organizations."""

    name: str
    reach: Reach
    groups: tuple[Group, ...]
    opens: tuple[str, ...]
    is_organization: bool

    @classmethod
    def of(cls, name: str, subject: Subject) -> "Relationship":
        """Raises StrategyNotApplicable if the documents of the resource have none of the elements."""
        resource, reach = subject.resource, REACHES[name]
        is_organization = resource.organization is not None
        made = cls(name, reach, subject.groups, resource.authorization_pathways, is_organization)
        if not made.checked:
            needed = " or ".join(_NAMES[kind] for kind in reach.kinds)
            raise StrategyNotApplicable(resource.name.resource, name, needed)
        return made

    @property
    def checked(self) -> list[Group]:
        """The elements that have to be reachable."""
        return [group for group in self.groups if group[0].kind in self.reach.kinds]

    @property
    def depends_on_its_subject(self) -> bool:
        """Whether its documents change what is reached: associations people, organizations each other."""
        kinds = {group[0].kind for group in self.checked}
        reaches_people = kinds - {SecurableKind.ORGANIZATION}
        return bool(self.opens and reaches_people) or (self.is_organization and SecurableKind.ORGANIZATION in kinds)

    def condition(self, values: Values) -> Sql:
        checked = self._checked_in_rows if values is STORED else self.checked
        return Sql(" AND ".join(self._is_reached(group, values) for group in checked))

    def condition_on_versions(self) -> Sql:
        """Return the condition on versions of a document. If it is reached through people alone, versions from before
        the relationship with them began, or from after its end, belong to others. What has an organization is the
        client's by that.
        """
        if any(group[0].kind is SecurableKind.ORGANIZATION for group in self.checked):
            return self.condition(KEPT)
        reachable = Reachable(self.reach)
        during = (reachable.includes_during(group[0].kind, self._value(group, KEPT)) for group in self.checked)
        return Sql(" AND ".join(during))

    def condition_for_many(self, is_alone: bool) -> Sql:
        """OFFSET makes the planner compute all reachable people once, instead of probing for each document."""
        reachable, once = Reachable(self.reach), " OFFSET 0" if is_alone else ""
        conditions = [
            f"{self._value(group, STORED)} IN ({reachable.all(group[0].kind)}{once})"
            for group in self._checked_in_rows
            if not self._is_reached_by_itself(group)
        ]
        if not self._has_organization:
            conditions[0] = is_about_reached_people(self._checked_in_rows[0][0].kind, self.reach, is_alone)
        return Sql(" AND ".join(conditions))

    def organizations(self) -> Sql | None:
        """Return the organizations, or None if the organization is not checked."""
        if all(group[0].kind is not SecurableKind.ORGANIZATION for group in self.checked):
            return None
        kind = SecurableKind.ORGANIZATION
        return Sql(f"{STORED.column(kind)} IN ({Reachable(self.reach).all(kind)})")

    def rows(self) -> Sql | None:
        """Return the ends of the paths to people, if nothing else is checked."""
        if self._has_organization or len(self._checked_in_rows) > 1:
            return None
        branch = _Branch(self.reach.pathway(self._checked_in_rows[0][0].kind))
        return Sql(f"SELECT d.id FROM ({BELOW}) o (id) CROSS JOIN LATERAL ({branch.rows(limit='NULL')}) d")

    def access_path(self) -> AccessPath:
        """Return the access path by the first of its elements."""
        others = self._checked_in_rows[1:]
        kind = self.checked[0][0].kind
        remaining = Sql(" AND ".join(self._is_reached(group, STORED) for group in others)) if others else None
        if kind is SecurableKind.ORGANIZATION:
            return by_organization(self.reach, remaining)
        return by_person(kind, self.reach, self._has_organization, remaining)

    def tests(self, values: Values) -> list[Sql]:
        """Return two tests of each checked element: whether it has a value, and whether it is reached."""
        tested = (tests_of(self._value(group, values), self._is_reached(group, values)) for group in self.checked)
        return [test for pair in tested for test in pair]

    def failure(self, results: Sequence[bool], unresolved: Unresolved) -> Failure | None:
        """The failure that the results of the tests show; elements in an unresolved reference count as missing."""
        missing: list[str] = []
        without_value: list[Group] = []
        unrelated: list[Group] = []
        are_unresolved = True
        for group, (has_value, is_reached) in zip(self.checked, pairs(results), strict=True):
            lost = [element.name for element in group if _is_within(element, unresolved)]
            if lost or not has_value:
                missing += lost or [group[0].name]
                without_value.append(group)
                are_unresolved = are_unresolved and bool(lost)
            elif not is_reached:
                unrelated.append(group)
        if not missing and not unrelated:
            return None
        hints = distinct(hint for group in without_value or unrelated if (hint := self._hint(group)))
        of_compared = distinct(hint for group in self.checked if (hint := self._hint(group)))
        return Failure(
            self.name,
            tuple(missing),
            tuple(group[0].name for group in unrelated),
            hints,
            are_unresolved,
            tuple(group[0].name for group in self.checked),
            of_compared,
        )

    @property
    def _has_organization(self) -> bool:
        """Whether its documents are indexed by their organization rather than by their people."""
        return any(group[0].kind is SecurableKind.ORGANIZATION for group in self.groups)

    @property
    def _checked_in_rows(self) -> list[Group]:
        """The elements to check in stored documents: all, except the contact of an association that opens the pathway
        from its student to its contact, because reaching the student means reaching the contact."""
        if Pathway.CONTACT not in self.opens:
            return self.checked
        student, contact = (
            next((group for group in self.groups if group[0].kind is kind), None)
            for kind in (SecurableKind.STUDENT, SecurableKind.CONTACT)
        )
        return [group for group in self.checked if group != contact or student not in self.checked]

    def _is_reached_by_itself(self, group: Group) -> bool:
        """Return whether the documents are the associations by which this person is reached: one at a reached
        organization reaches its person, so that nothing remains to be checked of it. Upwards the organizations are
        others."""
        if self.reach.is_inverted or not self._has_organization or group[0].kind is SecurableKind.ORGANIZATION:
            return False
        checks_organization = self.checked[0][0].kind is SecurableKind.ORGANIZATION
        is_first = group == next(each for each in self.groups if each[0].kind is group[0].kind)
        return checks_organization and is_first and self.reach.pathway(group[0].kind) in self.opens

    def _value(self, group: Group, values: Values) -> str:
        return value_of(group, self.groups, values)

    def _is_reached(self, group: Group, values: Values) -> str:
        return Reachable(self.reach).includes(group[0].kind, self._value(group, values))

    def _hint(self, group: Group) -> str | None:
        match group[0].kind:
            case SecurableKind.CONTACT:
                person = group[0].name.removesuffix("UniqueId")
                (student,) = AUTHORIZATION_PATHWAYS[Pathway.STUDENT]
                return f"You may need to create corresponding '{student}' and 'Student{person}Association' items."
            case SecurableKind.STUDENT | SecurableKind.STAFF as kind:
                associations = self.reach.pathway(kind).associations
                names = " or ".join(f"'{name}'" for name in associations)
                return f"You may need to create {'a ' if len(associations) == 1 else ''}corresponding {names} item" + (
                    "." if len(associations) == 1 else "s."
                )
        return None


@dataclass(frozen=True, slots=True)
class AnyRelationship(Strategy):
    """The relationship strategies of a resource, one of which has to allow."""

    relationships: tuple[Relationship, ...]

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        return {"claims": list(client.education_organization_ids), **association_types(using)}

    def precondition(self, client: AuthenticatedClient) -> Exception | None:
        return None if client.education_organization_ids else NoEducationOrganizations(self.relationships[0].name)

    @property
    def depends_on_its_subject(self) -> bool:
        return any(each.depends_on_its_subject for each in self.relationships)

    def condition(self, values: Values) -> Sql:
        return any_of(each.condition(values) for each in self.relationships)

    def condition_on_versions(self) -> Sql:
        return any_of(each.condition_on_versions() for each in self.relationships)

    def condition_for_many(self, is_alone: bool) -> Sql:
        return any_of(each.condition_for_many(is_alone) for each in self.relationships)

    def organizations(self) -> Sql | None:
        found = [each.organizations() for each in self.relationships]
        conditions = [each for each in found if each is not None]
        return any_of(conditions) if len(conditions) == len(found) else None

    def rows(self) -> Sql | None:
        found = [each.rows() for each in self.relationships]
        return found[0] if len(found) == 1 else None

    def access_path(self) -> AccessPath:
        """The paths of all together. Documents of several still have to meet the whole condition."""
        paths = [each.access_path() for each in self.relationships]
        if len(paths) == 1:
            return paths[0]
        is_complete = all(path.remaining is None for path in paths)
        return AccessPath(
            _union(path.first_rows for path in paths),
            _union(path.all_rows for path in paths),
            any_of(path.has_many_branches for path in paths),
            None if is_complete else self.condition(STORED),
        )

    def explanation(self, values: Values, client: AuthenticatedClient) -> Explanation:
        tests = [each.tests(values) for each in self.relationships]

        def refuse(results: Sequence[bool], unresolved: Unresolved) -> Exception | None:
            remaining, failures = iter(results), []
            for relationship, own in zip(self.relationships, tests, strict=True):
                failure = relationship.failure([next(remaining) for _ in own], unresolved)
                if failure is None:
                    return None
                failures.append(failure)
            return _refusal(failures, values, client)

        return Explanation(tuple(test for own in tests for test in own), refuse)


def _refusal(failures: list[Failure], values: Values, client: AuthenticatedClient) -> Exception:
    """One error for all failures; missing values take precedence over missing relationships."""
    without_value = [failure for failure in failures if failure.without_value]
    hints = distinct(hint for failure in without_value or failures for hint in failure.hints)
    elements = distinct(name for failure in without_value for name in failure.without_value)
    if without_value and values.is_stored:
        return ElementUninitialized(elements, tuple(failure.strategy for failure in without_value), hints)
    organizations = tuple(sorted(client.education_organization_ids))
    compared = distinct(name for failure in failures for name in failure.compared)
    of_compared = distinct(hint for failure in failures for hint in failure.hints_of_compared)
    if without_value:
        are_unresolved = all(failure.are_unresolved for failure in without_value)
        return ElementRequired(elements, hints, organizations, are_unresolved, compared, of_compared)
    unrelated = distinct(name for failure in failures for name in failure.unrelated)
    return NoRelationship(organizations, unrelated, hints, compared, of_compared)


def _union(queries: Iterable[Sql]) -> Sql:
    return Sql.join(" UNION ALL ", ("(" + query + ")" for query in queries))


def _is_within(element: SecurableElement, unresolved: Unresolved) -> bool:
    return any(element.path.steps[: len(place.steps)] == place.steps for place in unresolved)


_NAMES = {
    SecurableKind.ORGANIZATION: "EducationOrganization",
    SecurableKind.STUDENT: "Student",
    SecurableKind.CONTACT: "Contact",
    SecurableKind.STAFF: "Staff",
}
