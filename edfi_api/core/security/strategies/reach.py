"""The relationship strategies: which elements of a document each checks, and the SQL for what a client's organizations
reach: organizations by the hierarchy, people by their associations.

Each way has two forms: whether one value is reached, and the set of all that are reached. Associations are documents,
so the ways appear and disappear with them in the same transaction. See meadowlark/docs/design/authorization.md#people.
The triggers that keep `reached_document` follow the same rules in SQL.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from edfi_api.core.documents.securables import SecurableKind
from edfi_api.core.storage import resource_types
from edfi_api.model.metaed import core_names
from edfi_api.model.metaed.core_names import AUTHORIZATION_PATHWAYS, CORE_PROJECT
from edfi_api.model.surface.resource import ResourceName

# Claimed organizations need not exist as documents: a client may be creating one.
CLAIMED = "SELECT unnest(%(claims)s::bigint[])"
BELOW = """
SELECT c.descendant_id FROM organization_closure c WHERE c.ancestor_id = ANY (%(claims)s::bigint[])
"""
_ABOVE = """
SELECT c.ancestor_id FROM organization_closure c WHERE c.descendant_id = ANY (%(claims)s::bigint[])
"""
# Existing associations, and both existing and deleted ones.
_PRESENT = "document"
_PRESENT_AND_PAST = """(
SELECT opens_pathway, resource_type_id, organization, student, contact, staff FROM document UNION ALL
SELECT opens_pathway, resource_type_id, organization, student, contact, staff FROM deleted_document UNION ALL
SELECT opens_pathway, resource_type_id, organization, student, contact, staff FROM key_change
)"""
# The reach with the change versions at which each began and ended to associate the same organization and people. Of a
# document the last change of its key is its beginning, otherwise its first version, or the first one that is left.
_LAST_KEY_CHANGE = """
(SELECT max(k.change_version) FROM key_change k
  WHERE k.resource_type_id = a.resource_type_id AND k.document_uuid = a.document_uuid AND k.change_version < {before})
"""
_FIRST_VERSION = "(SELECT min(s.change_version) FROM superseded_document s WHERE s.document_uuid = a.document_uuid)"
_NO_END = str(2**63 - 1)
_WITH_TIMES = f"""(
SELECT opens_pathway, resource_type_id, organization, student, contact, staff,
       coalesce({_LAST_KEY_CHANGE.format(before=_NO_END)}, {_FIRST_VERSION}, a.change_version) AS began,
       {_NO_END} AS ended
  FROM document a UNION ALL
SELECT opens_pathway, resource_type_id, organization, student, contact, staff,
       coalesce({_LAST_KEY_CHANGE.format(before="a.change_version")}, {_FIRST_VERSION}, a.last_change_version),
       a.change_version
  FROM deleted_document a UNION ALL
SELECT opens_pathway, resource_type_id, organization, student, contact, staff,
       coalesce({_LAST_KEY_CHANGE.format(before="a.change_version")}, {_FIRST_VERSION}, 0), a.change_version
  FROM key_change a
)"""


class Pathway(StrEnum):
    """The associations that bring one kind of person within reach, by the name that the surface has for them."""

    STUDENT = core_names.STUDENT_PATHWAY
    RESPONSIBILITY = core_names.RESPONSIBILITY_PATHWAY
    CONTACT = core_names.CONTACT_PATHWAY
    STAFF = core_names.STAFF_PATHWAY

    @property
    def associations(self) -> tuple[str, ...]:
        return AUTHORIZATION_PATHWAYS[self]

    @property
    def parameter(self) -> str:
        """The name of the parameter with the resource type numbers of the associations."""
        return f"{self.name.lower()}_pathway"


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

    @property
    def kinds(self) -> tuple[SecurableKind, ...]:
        """The kinds of elements that it checks, organizations before people."""
        checked = {
            SecurableKind.ORGANIZATION: self.organizations,
            SecurableKind.STUDENT: self.students is not None,
            SecurableKind.CONTACT: self.contacts,
            SecurableKind.STAFF: self.staff,
        }
        return tuple(kind for kind, is_checked in checked.items() if is_checked)

    def pathway(self, kind: SecurableKind) -> Pathway:
        """The associations of students or staff with organizations; contacts are reached through their students."""
        return Pathway.STAFF if kind is SecurableKind.STAFF else self.students or Pathway.STUDENT


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


_ASSOCIATIONS = [
    (ResourceName(CORE_PROJECT, association), pathway.parameter)
    for pathway in Pathway
    for association in pathway.associations
]


def association_types(using: str) -> Mapping[str, list[int]]:
    """The parameter of each pathway: the type numbers of its associations, including those of other data standards."""
    numbers = resource_types.numbers(using)
    found: dict[str, list[int]] = {parameter: [] for _, parameter in _ASSOCIATIONS}
    for name, parameter in _ASSOCIATIONS:
        if name in numbers:
            found[parameter].append(numbers[name])
    return found


def association_array(pathway: Pathway) -> str:
    """The resource types of the pathway's associations, as an array."""
    return f"%({pathway.parameter})s::smallint[]"


@dataclass(frozen=True, slots=True)
class Reachable:
    """The documents that the client's organizations reach by one strategy."""

    reach: Reach

    @property
    def organizations(self) -> str:
        """A query for all organizations below the claimed ones, or above them."""
        return _ABOVE if self.reach.is_inverted else BELOW

    def includes(self, kind: SecurableKind, value: str) -> str:
        """Return whether one organization or person is reached."""
        match kind:
            case SecurableKind.ORGANIZATION:
                is_related = _is_above_claims(value) if self.reach.is_inverted else _is_below_claims(value)
                return f"({value} = ANY (%(claims)s::bigint[]) OR {is_related})"
            case SecurableKind.CONTACT:
                student = self._is_associated(SecurableKind.STUDENT, "q.student")
                return _exists(f"{self._documents} q", f"q.contact = {value}", _opens(Pathway.CONTACT, "q"), student)
            case _:
                return self._is_associated(kind, value)

    def includes_during(self, kind: SecurableKind, value: str) -> str:
        """Return whether one person was reached at some time between the change versions `d.began` and `d.ended`."""
        if kind is SecurableKind.CONTACT:
            student = self._associated_during(SecurableKind.STUDENT, "q.student")
            return _exists(
                f"{_WITH_TIMES} q", f"q.contact = {value}", _opens(Pathway.CONTACT, "q"), _during("q"), student
            )
        return self._associated_during(kind, value)

    def all(self, kind: SecurableKind) -> str:
        """A query for all reached organizations or people, possibly with duplicates."""
        match kind:
            case SecurableKind.ORGANIZATION:
                return f"{self.organizations} UNION {CLAIMED}"
            case SecurableKind.CONTACT:
                return (
                    f"SELECT q.contact FROM {self._documents} q WHERE {_opens(Pathway.CONTACT, 'q')}"
                    f" AND q.student IN ({self.all(SecurableKind.STUDENT)})"
                )
            case _:
                return (
                    f"SELECT p.{kind} FROM ({BELOW}) o (id) JOIN {self._documents} p ON p.organization = o.id"
                    f" WHERE {_opens(self.reach.pathway(kind), 'p')}"
                )

    @property
    def _documents(self) -> str:
        return _PRESENT_AND_PAST if self.reach.includes_past else _PRESENT

    def _associated_during(self, kind: SecurableKind, value: str) -> str:
        pathway, is_below = _opens(self.reach.pathway(kind), "p"), _is_below_claims("p.organization")
        return _exists(f"{_WITH_TIMES} p", f"p.{kind} = {value}", pathway, _during("p"), is_below)

    def _is_associated(self, kind: SecurableKind, value: str) -> str:
        pathway = _opens(self.reach.pathway(kind), "p")
        return _exists(f"{self._documents} p", f"p.{kind} = {value}", pathway, _is_below_claims("p.organization"))


def _is_below_claims(organization: str) -> str:
    return _exists(
        "organization_closure c", f"c.descendant_id = {organization}", "c.ancestor_id = ANY (%(claims)s::bigint[])"
    )


def _is_above_claims(organization: str) -> str:
    return _exists(
        "organization_closure c", f"c.ancestor_id = {organization}", "c.descendant_id = ANY (%(claims)s::bigint[])"
    )


def _during(association: str) -> str:
    return f"{association}.began < d.ended AND {association}.ended > d.began"


def _opens(pathway: Pathway, alias: str) -> str:
    return f"{alias}.opens_pathway AND {alias}.resource_type_id = ANY ({association_array(pathway)})"


def _exists(table: str, *conditions: str) -> str:
    """OFFSET keeps the planner from turning this into a semi-join: it probes from the one value instead of computing
    everything reachable."""
    return f"EXISTS (SELECT FROM {table} WHERE {' AND '.join(conditions)} OFFSET 0)"
