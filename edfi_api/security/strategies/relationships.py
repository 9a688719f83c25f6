"""The relationship strategies: the organizations and people of a document are reachable from the client's
organizations.

An organization is reached downwards through the closure of the hierarchy (upwards by the inverted strategies), a
person through an association with such an organization. Associations are documents, so paths appear and disappear
with them in the same transaction. For single documents the condition checks whether a path exists; pages start from
the ends of the paths, which a table stores (sql/0006_reached_documents.sql). See
meadowlark/docs/authorization.md#people.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from edfi_api.documents.securables import SecurableElement, SecurableKind
from edfi_api.model.surface.resource import ResourceName
from edfi_api.model.surface.securable import AUTHORIZATION_PATHWAYS
from edfi_api.storage import resource_types

from ..exceptions import StrategyNotApplicable
from ..tokens import AuthenticatedClient
from .strategy import Candidates, Group, Subject, Unresolved, value_of
from .values import STORED, Values

CORE_PROJECT = "Ed-Fi"

_BELOW = """
SELECT c.descendant_id FROM organization_closure c WHERE c.ancestor_id = ANY (%(claims)s::bigint[])
"""
_ABOVE = """
SELECT c.ancestor_id FROM organization_closure c WHERE c.descendant_id = ANY (%(claims)s::bigint[])
"""
# Claimed organizations need not exist as documents.
_CLAIMED = "SELECT unnest(%(claims)s::bigint[])"
# Existing associations, and both existing and deleted ones.
_PRESENT = "document"
_PRESENT_AND_PAST = """(
SELECT opens_pathway, resource_type_id, organization, student, contact, staff FROM document UNION ALL
SELECT opens_pathway, resource_type_id, organization, student, contact, staff FROM deleted_document UNION ALL
SELECT opens_pathway, resource_type_id, organization, student, contact, staff FROM key_change
)"""

# The first documents of an organization `o`, and those of the people associated with it.
_OF_ORGANIZATION = """
SELECT d.id FROM document d
 WHERE d.resource_type_id = %(type)s AND d.organization = o.id AND d.id BETWEEN %(first)s AND %(last)s
 ORDER BY d.id LIMIT %(looked_at)s
"""
_OF_ITS_PEOPLE = """
SELECT r.id FROM unnest(%({pathway})s::smallint[]) association (type) CROSS JOIN LATERAL (
    SELECT DISTINCT r.document_id AS id FROM reached_document r
     WHERE r.resource_type_id = %(type)s AND r.association_type_id = association.type AND r.organization = o.id
       AND r.document_id BETWEEN %(first)s AND %(last)s
     ORDER BY r.document_id LIMIT %(looked_at)s
) r
"""
# Documents of one organization are mostly adjacent in page order: once the first organization fills the page, the
# others are read only up to its last document.
_OF_EACH = """
WITH branch AS MATERIALIZED (
    SELECT o.id, d.id AS first_id FROM ({organizations}) o (id) CROSS JOIN LATERAL ({first}) d
), bound AS MATERIALIZED (
    SELECT CASE WHEN count(DISTINCT d.id) >= %(looked_at)s THEN max(d.id) ELSE %(last)s END AS id
      FROM (SELECT id FROM branch ORDER BY first_id LIMIT 1) o CROSS JOIN LATERAL ({documents}) d
)
SELECT d.id FROM (SELECT DISTINCT id FROM branch WHERE first_id <= (SELECT id FROM bound)) o
       CROSS JOIN LATERAL ({within_bound}) d
"""
_HELD_AGAINST_PEOPLE = """
SELECT d.id FROM document d
 WHERE d.resource_type_id = %(type)s AND d.organization IS NOT NULL AND d.id BETWEEN %(first)s AND %(last)s
   AND {is_reached}
"""
_DOCUMENTS_OF_PEOPLE = f"""
SELECT r.document_id FROM ({_BELOW}) o (id) JOIN reached_document r ON r.organization = o.id
 WHERE r.resource_type_id = %(type)s AND r.association_type_id = ANY (%({{pathway}})s::smallint[])
"""
# Up to this many organizations, finding the first documents is as fast as an unguarded page.
_FEW = 32


class Pathway(Enum):
    """The associations of one kind of person with organizations: their name in the surface, and the name of the
    parameter with their resource type numbers."""

    STUDENT = ("StudentSchoolAssociationAuthorization", "student_pathway")
    RESPONSIBILITY = (
        "StudentEducationOrganizationResponsibilityAssociationAuthorization",
        "responsibility_pathway",
    )
    CONTACT = ("ContactStudentSchoolAuthorization", "contact_pathway")
    STAFF = ("StaffEducationOrganizationAuthorization", "staff_pathway")

    @property
    def surface_name(self) -> str:
        return self.value[0]

    @property
    def parameter(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Reach:
    """The elements that a strategy checks, and how they are reached."""

    organizations: bool = False
    students: Pathway | None = None
    contacts: bool = False
    staff: bool = False
    is_inverted: bool = False
    includes_past: bool = False

    @property
    def is_about_people(self) -> bool:
        return bool(self.students or self.contacts or self.staff)


_EVERYONE = Reach(organizations=True, students=Pathway.STUDENT, contacts=True, staff=True)
REACHES = {
    "RelationshipsWithEdOrgsOnly": Reach(organizations=True),
    "RelationshipsWithEdOrgsOnlyInverted": Reach(organizations=True, is_inverted=True),
    "RelationshipsWithEdOrgsAndPeople": _EVERYONE,
    "RelationshipsWithEdOrgsAndPeopleInverted": replace(_EVERYONE, is_inverted=True),
    "RelationshipsWithPeopleOnly": replace(_EVERYONE, organizations=False),
    "RelationshipsWithStudentsOnly": Reach(students=Pathway.STUDENT),
    "RelationshipsWithStudentsOnlyThroughResponsibility": Reach(students=Pathway.RESPONSIBILITY),
    "RelationshipsWithEdOrgsAndPeopleIncludingDeletes": replace(_EVERYONE, includes_past=True),
    "RelationshipsWithStudentsOnlyIncludingDeletes": Reach(students=Pathway.STUDENT, includes_past=True),
    "RelationshipsWithStudentsOnlyThroughResponsibilityIncludingDeletes": Reach(
        students=Pathway.RESPONSIBILITY, includes_past=True
    ),
}


@dataclass(frozen=True, slots=True)
class RelationshipFailure:
    """The failing elements of one strategy: those without a value, and those without a relationship. The hints are
    about the former, if there are any."""

    strategy: str
    without_value: tuple[str, ...]
    unrelated: tuple[str, ...]
    hints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relationship:
    """One of the strategies above for one resource: `groups` are all of its elements, `opens` the pathways of which its
    documents are the associations."""

    name: str
    reach: Reach
    groups: tuple[Group, ...]
    opens: tuple[str, ...]

    @classmethod
    def of(cls, name: str, subject: Subject) -> "Relationship":
        """Raises StrategyNotApplicable if the documents of the resource have none of the elements."""
        resource, reach = subject.resource, REACHES[name]
        made = cls(name, reach, subject.groups, resource.authorization_pathways)
        if not made.checked:
            raise StrategyNotApplicable(resource.name.resource, name, _wanted(reach))
        return made

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        return {"claims": list(client.education_organization_ids), **_associations(using)}

    @property
    def checked(self) -> list[Group]:
        """The elements that have to be reachable, organizations before people."""
        wanted = {
            SecurableKind.ORGANIZATION: self.reach.organizations,
            SecurableKind.STUDENT: self.reach.students is not None,
            SecurableKind.CONTACT: self.reach.contacts,
            SecurableKind.STAFF: self.reach.staff,
        }
        return [group for group in self.groups if wanted.get(group[0].kind)]

    def sql(self, values: Values) -> str:
        asked = self._asked if values is STORED else self.checked
        return " AND ".join(self._is_reached(group, values) for group in asked)

    def sql_for_many(self, values: Values, is_alone: bool) -> str:
        """OFFSET makes the planner compute all reachable people once, instead of probing for each document."""
        once = " OFFSET 0" if is_alone else ""

        def is_among(value: str, reached: str) -> str:
            return f"{value} IN ({reached}{once})"

        asked = self._asked if values is STORED else self.checked
        conditions = [is_among(self._value(group, values), self._reached(group[0].kind)) for group in asked]
        if values is STORED and not self._has_organization:
            pathway = self._pathway(asked[0][0].kind)
            conditions[0] = is_among("d.id", _DOCUMENTS_OF_PEOPLE.replace("{pathway}", pathway.parameter))
        return " AND ".join(conditions)

    def questions(self, values: Values) -> list[str]:
        asked = []
        for group in self.checked:
            asked.append(f"{self._value(group, values)} IS NOT NULL")
            asked.append(f"coalesce({self._is_reached(group, values)}, false)")
        return asked

    def failure(self, answers: Sequence[bool], unresolved: Unresolved) -> RelationshipFailure | None:
        """Elements in an unresolved reference count as missing."""
        missing: list[str] = []
        without_value: list[Group] = []
        unrelated: list[Group] = []
        for group, has_value, is_reached in zip(self.checked, answers[::2], answers[1::2], strict=True):
            lost = [element.name for element in group if _is_within(element, unresolved)]
            if lost or not has_value:
                missing += lost or [group[0].name]
                without_value.append(group)
            elif not is_reached:
                unrelated.append(group)
        if not missing and not unrelated:
            return None
        names = tuple(group[0].name for group in unrelated)
        hints = _distinct(map(self._hint, without_value or unrelated))
        return RelationshipFailure(self.name, tuple(missing), names, tuple(hints))

    def candidates(self) -> Candidates:
        """By organization: its documents, or those of its people. If a document has an organization that this strategy
        does not check, no index leads from people to it: all documents of the resource are compared, in an index."""
        kind = self.checked[0][0].kind
        if kind is SecurableKind.ORGANIZATION:
            return self._of_each(self._all_reached, _OF_ORGANIZATION)
        of_people = self._of_each(_BELOW, _OF_ITS_PEOPLE.replace("{pathway}", self._pathway(kind).parameter))
        if not self._has_organization:
            return of_people
        others = _HELD_AGAINST_PEOPLE.format(is_reached=f"d.{kind} IN ({self._reached(kind)} OFFSET 0)")
        return replace(of_people, sql=f"({of_people.sql}) UNION ALL ({others})", are_many="true")

    def _of_each(self, organizations: str, documents: str) -> Candidates:
        return Candidates(
            _OF_EACH.format(
                organizations=f"{organizations} UNION {_CLAIMED}",
                first=documents.replace("%(looked_at)s", "1"),
                documents=documents,
                within_bound=documents.replace("%(last)s", "(SELECT id FROM bound)"),
            ),
            f"(SELECT count(*) FROM (SELECT FROM ({organizations}) o LIMIT {_FEW} + 1) o) > {_FEW}",
            " AND ".join(self._is_reached(group, STORED) for group in self._asked[1:]) or None,
        )

    @property
    def _has_organization(self) -> bool:
        """Whether its documents are indexed by their organization rather than by their people."""
        return any(group[0].kind is SecurableKind.ORGANIZATION for group in self.groups)

    @property
    def _asked(self) -> list[Group]:
        """The elements to check in stored documents: all, except the contact of an association that opens the pathway
        from its student to its contact, because reaching the student means reaching the contact."""
        if Pathway.CONTACT.surface_name not in self.opens:
            return self.checked
        student, contact = (
            next((group for group in self.groups if group[0].kind is kind), None)
            for kind in (SecurableKind.STUDENT, SecurableKind.CONTACT)
        )
        return [group for group in self.checked if group != contact or student not in self.checked]

    def _value(self, group: Group, values: Values) -> str:
        return value_of(group, self.groups, values)

    def _is_reached(self, group: Group, values: Values) -> str:
        value = self._value(group, values)
        match group[0].kind:
            case SecurableKind.ORGANIZATION:
                # A claimed organization need not exist: the client may be creating it.
                direction = _UPWARDS if self.reach.is_inverted else _DOWNWARDS
                return f"({value} = ANY (%(claims)s::bigint[]) OR {_is_under_claims(value, direction)})"
            case SecurableKind.CONTACT:
                student = self._is_brought_under_claims(SecurableKind.STUDENT, "q.student")
                return _exists(f"{self._associations} q", f"q.contact = {value}", _opens(Pathway.CONTACT, "q"), student)
            case kind:
                return self._is_brought_under_claims(kind, value)

    def _is_brought_under_claims(self, kind: SecurableKind, value: str) -> str:
        pathway, organization = self._pathway(kind), _is_under_claims("p.organization", _DOWNWARDS)
        return _exists(f"{self._associations} p", f"p.{kind} = {value}", _opens(pathway, "p"), organization)

    def _reached(self, kind: SecurableKind) -> str:
        """All reachable organizations or people, possibly with duplicates."""
        match kind:
            case SecurableKind.ORGANIZATION:
                return f"{self._all_reached} UNION {_CLAIMED}"
            case SecurableKind.CONTACT:
                return (
                    f"SELECT q.contact FROM {self._associations} q WHERE {_opens(Pathway.CONTACT, 'q')}"
                    f" AND q.student IN ({self._reached(SecurableKind.STUDENT)})"
                )
        pathway = self._pathway(kind)
        return (
            f"SELECT p.{kind} FROM ({_BELOW}) o (id) JOIN {self._associations} p ON p.organization = o.id"
            f" WHERE {_opens(pathway, 'p')}"
        )

    @property
    def _all_reached(self) -> str:
        return _ABOVE if self.reach.is_inverted else _BELOW

    @property
    def _associations(self) -> str:
        return _PRESENT_AND_PAST if self.reach.includes_past else _PRESENT

    def _pathway(self, kind: SecurableKind) -> Pathway:
        if kind is SecurableKind.STAFF:
            return Pathway.STAFF
        return self.reach.students or Pathway.STUDENT

    def _hint(self, group: Group) -> str | None:
        match group[0].kind:
            case SecurableKind.STUDENT if self.reach.students is Pathway.RESPONSIBILITY:
                return (
                    "You may need to create a corresponding"
                    " 'StudentEducationOrganizationResponsibilityAssociation' item."
                )
            case SecurableKind.STUDENT:
                return "You may need to create a corresponding 'StudentSchoolAssociation' item."
            case SecurableKind.CONTACT:
                person = group[0].name.removesuffix("UniqueId")
                return (
                    "You may need to create corresponding 'StudentSchoolAssociation' and"
                    f" 'Student{person}Association' items."
                )
            case SecurableKind.STAFF:
                return (
                    "You may need to create corresponding 'StaffEducationOrganizationEmploymentAssociation' or"
                    " 'StaffEducationOrganizationAssignmentAssociation' items."
                )
        return None


_DOWNWARDS = ("descendant_id", "ancestor_id")
_UPWARDS = ("ancestor_id", "descendant_id")


def _is_under_claims(organization: str, direction: tuple[str, str]) -> str:
    asked, claimed = direction
    return _exists("organization_closure c", f"c.{asked} = {organization}", f"c.{claimed} = ANY (%(claims)s::bigint[])")


def _exists(table: str, *conditions: str) -> str:
    """OFFSET keeps the planner from turning this into a semi-join: it probes from the one value instead of computing
    everything reachable."""
    return f"EXISTS (SELECT FROM {table} WHERE {' AND '.join(conditions)} OFFSET 0)"


def _opens(pathway: Pathway, alias: str) -> str:
    return f"{alias}.opens_pathway AND {alias}.resource_type_id = ANY (%({pathway.parameter})s::smallint[])"


def _is_within(element: SecurableElement, unresolved: Unresolved) -> bool:
    return any(element.path.steps[: len(place.steps)] == place.steps for place in unresolved)


def _distinct(hints: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(hint for hint in hints if hint is not None))


_ELEMENTS = {
    "EducationOrganization": lambda reach: reach.organizations,
    "Student": lambda reach: reach.students,
    "Contact": lambda reach: reach.contacts,
    "Staff": lambda reach: reach.staff,
}


def _wanted(reach: Reach) -> str:
    return " or ".join(name for name, is_wanted in _ELEMENTS.items() if is_wanted(reach))


_PATHWAYS = [
    (ResourceName(CORE_PROJECT, association), pathway.parameter)
    for pathway in Pathway
    for association, name in AUTHORIZATION_PATHWAYS.items()
    if name == pathway.surface_name
]


def _associations(using: str) -> Mapping[str, list[int]]:
    """For each pathway the type numbers of its associations, including those of other data standards."""
    numbers = resource_types.numbers(using)
    found: dict[str, list[int]] = {pathway.parameter: [] for pathway in Pathway}
    for name, parameter in _PATHWAYS:
        if name in numbers:
            found[parameter].append(numbers[name])
    return found
