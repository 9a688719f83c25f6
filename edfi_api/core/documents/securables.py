"""Body → the securable values on which authorization is based: columns of the document's row, NULL where absent.

Only root-level elements are used, and of namespaces only the document's own and those of its identity. Elements of one
kind that equality constraints make equal form one group with one value; if an extension adds further groups, the
column holds the value of the first (`groups`), and authorization reads the others from the body. See
meadowlark/docs/design/authorization.md#securable-elements.

`hierarchy` is set for education organizations only: the own id followed by those of the parent organizations.
`opens_pathway` marks documents that associate people with organizations, `is_person` those of the people themselves.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from edfi_api.core.documents.paths import Path, value_at
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource

_BIGINT = range(-(2**63), 2**63)


class SecurableKind(StrEnum):
    """What an element identifies; the values are column names."""

    ORGANIZATION = "organization"
    STUDENT = "student"
    CONTACT = "contact"
    STAFF = "staff"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True)
class SecurableElement:
    """A securable element at the root of a body; `name` is its name in error messages."""

    kind: SecurableKind
    name: str
    path: JsonPath


class Securables(NamedTuple):
    """The securable columns of a document, in the order of `COLUMNS`."""

    organization: int | None
    student: str | None
    contact: str | None
    staff: str | None
    namespace: str | None
    hierarchy: list[int] | None
    opens_pathway: bool | None
    is_person: bool | None


# Column name → SQL type, in the order of the fields of `Securables`.
COLUMNS = {
    "organization": "bigint",
    "student": "text",
    "contact": "text",
    "staff": "text",
    "namespace": "text",
    "hierarchy": "bigint[]",
    "opens_pathway": "boolean",
    "is_person": "boolean",
}


class SecurablesExtractor:
    """Reads the securables from bodies of one resource; its paths are compiled once."""

    def __init__(self, resource: Resource) -> None:
        found = groups(resource)
        first = {kind: next((group for group in found if group[0].kind is kind), ()) for kind in SecurableKind}
        self._organization = [element.path.steps for element in first[SecurableKind.ORGANIZATION]]
        # The columns and the places of their values. Of several places of a column the first counts that has a value.
        self._places = [(kind.value, element.path.steps) for kind in SecurableKind for element in first[kind]]
        own = resource.organization
        self._hierarchy = [own.id.steps, *(path.steps for path in own.parents)] if own else None
        self._fixed = dict.fromkeys(COLUMNS) | {
            "opens_pathway": True if resource.authorization_pathways else None,
            "is_person": True if is_person(resource) else None,
        }
        self._nothing = Securables(**self._fixed)

    def securables(self, body: dict[str, Any]) -> Securables:
        """The columns for a valid body."""
        if not self._places and self._hierarchy is None:
            return self._nothing
        found: dict[str, Any] = self._fixed.copy()
        for column, steps in self._places:
            if found[column] is None:
                found[column] = value_at(body, steps)
        found["organization"] = _id(found["organization"])
        if self._hierarchy is not None:
            found["hierarchy"] = _hierarchy(body, self._hierarchy)
        return Securables(**found)

    def organization(self, body: Mapping[str, Any]) -> int | None:
        """The organization of a body that may be invalid; None if it has none, or no number."""
        values = (value_at(body, steps) for steps in self._organization)
        found = next((value for value in values if value is not None), None)
        is_id = isinstance(found, int) and not isinstance(found, bool) and found in _BIGINT
        return found if is_id else None


def groups(resource: Resource) -> list[tuple[SecurableElement, ...]]:
    """The elements that authorization uses; those that always have the same value form one group."""
    found: list[tuple[SecurableElement, ...]] = []
    for element in _elements(resource):
        same = next((group for group in found if _is_one_value(element, group, resource)), None)
        if same is None:
            found.append((element,))
        else:
            found[found.index(same)] = (*same, element)
    return found


def _elements(resource: Resource) -> Iterator[SecurableElement]:
    elements, kind = resource.securable_elements, SecurableKind
    for named in elements.education_organization:
        yield from _at_root(kind.ORGANIZATION, named.name, [named.path])
    yield from _at_root(kind.STUDENT, "StudentUniqueId", elements.student)
    for path in elements.contact:
        yield from _at_root(kind.CONTACT, _name_of_contact(path), [path])
    yield from _at_root(kind.STAFF, "StaffUniqueId", elements.staff)
    own = (path for path in elements.namespace if len(path.steps) == 1 or path in resource.identity)
    yield from _at_root(kind.NAMESPACE, "Namespace", own)


def _at_root(kind: SecurableKind, name: str, paths: Iterable[JsonPath]) -> Iterator[SecurableElement]:
    return (SecurableElement(kind, name, path) for path in paths if ALL_ITEMS not in path.steps)


def _name_of_contact(path: JsonPath) -> str:
    """Data standards before version 5 name contacts parents."""
    return "ParentUniqueId" if path.steps[-1].lower().endswith("parentuniqueid") else "ContactUniqueId"


def _is_one_value(element: SecurableElement, group: tuple[SecurableElement, ...], resource: Resource) -> bool:
    pairs = {frozenset((rule.source, rule.target)) for rule in resource.equality_constraints}
    return any(other.kind is element.kind and frozenset((other.path, element.path)) in pairs for other in group)


def is_person(resource: Resource) -> bool:
    """Return whether the identity of the resource is a person's unique id, and not a reference to a person."""
    elements = resource.securable_elements
    people = (*elements.student, *elements.contact, *elements.staff)
    return resource.identity in [(path,) for path in people if len(path.steps) == 1]


def _hierarchy(body: dict[str, Any], paths: Iterable[Path]) -> list[int] | None:
    own, *above = (_id(value_at(body, steps)) for steps in paths)
    return None if own is None else list(dict.fromkeys([own, *(id_ for id_ in above if id_ is not None)]))


def _id(value: Any) -> int | None:
    """The value, or None if it is out of the range of bigint: no stored organization can have such an id."""
    return value if isinstance(value, int) and value in _BIGINT else None
