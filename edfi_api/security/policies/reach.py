"""The relationship strategies: which elements of a document each checks, and by which associations people are reached.

See meadowlark/docs/design/authorization.md#people. The triggers that keep `reached_document` follow the same rules in
SQL.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from edfi_api.documents.securables import SecurableKind
from edfi_api.model.metaed import core_names
from edfi_api.model.metaed.core_names import AUTHORIZATION_PATHWAYS, CORE_PROJECT
from edfi_api.model.surface.resource import ResourceName
from edfi_api.storage import resource_types


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
