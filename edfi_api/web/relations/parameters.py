"""Query string → `RelationsQuery`, all unusable values reported together; and the resources that can refer to, or be
referenced by, each resource of a surface: where related documents can be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from django.http import QueryDict

from edfi_api.common.conf import api_settings
from edfi_api.core.queries.listing.fields import Field, FieldType, natural_number, one_of, read_filters
from edfi_api.core.queries.pagination import PageToken
from edfi_api.model.surface.load_order import targets_of
from edfi_api.model.surface.resource import Resource, ResourceName, Surface


class Direction(StrEnum):
    """Whether to list the documents that refer to a document, or those that it refers to."""

    INCOMING = "incoming"
    OUTGOING = "outgoing"


class RelatedResources:
    """The related resources of each resource, including itself: a document may refer to another of its resource."""

    def __init__(self, surface: Surface) -> None:
        self._resources = surface.by_name
        outgoing = targets_of(surface.by_name, surface.abstract_resources, only_required=False)
        incoming: dict[ResourceName, set[ResourceName]] = {name: set() for name in outgoing}
        for name, targets in outgoing.items():
            for target in targets:
                incoming[target].add(name)
        self._names: Mapping[Direction, Mapping[ResourceName, set[ResourceName]]] = {
            Direction.INCOMING: incoming,
            Direction.OUTGOING: {name: set(targets) for name, targets in outgoing.items()},
        }

    def of(self, resource: Resource, direction: Direction) -> list[Resource]:
        """The related resources in a direction, in the order of their paths."""
        names = self._names[direction][resource.name] | {resource.name}
        return sorted((self._resources[name] for name in names), key=lambda each: each.url_path)


class CreationOrder(StrEnum):
    """The order of documents, by creation."""

    OLDEST = "oldest"
    NEWEST = "newest"


class Include(StrEnum):
    """What the answer can contain besides the names of the documents."""

    BODY = "body"


@dataclass(frozen=True, slots=True)
class RelationsQuery:
    """The parameters of a request for related documents; empty `resources` stands for all resources."""

    direction: Direction = Direction.INCOMING
    order: CreationOrder = CreationOrder.OLDEST
    resources: frozenset[ResourceName] = frozenset()
    with_bodies: bool = False
    size: int = 0
    rows: PageToken = field(default_factory=lambda: PageToken(0))

    def next_token(self, last_row: int) -> PageToken:
        """The token of the page after `last_row`."""
        if self.order is CreationOrder.OLDEST:
            return PageToken(last_row + 1, self.rows.last)
        return PageToken(self.rows.first, last_row - 1)


def read(query: QueryDict, surface: Surface) -> RelationsQuery:
    """Read the query; all values of `resource` count. Raises UnknownQueryField for the first unknown name,
    ParameterValidationFailed for all unusable values.
    """
    largest: int = api_settings.MAX_PAGE_SIZE
    filters = read_filters(_fields(surface, largest), query)
    # In the order of the fields, whatever that of the query string.
    filters.unreadable.sort(key=lambda each: _ORDER.index(each.field.name))
    given = {each.field.name: each.value for each in filters.or_failed_validation()}
    return RelationsQuery(
        Direction(given.get("direction", Direction.INCOMING)),
        CreationOrder(given.get("order", CreationOrder.OLDEST)),
        frozenset(given.get("resource", ())),
        given.get("include") == Include.BODY,
        given.get("pageSize", largest),
        given.get("pageToken", PageToken(0)),
    )


_ORDER = ("direction", "order", "resource", "include", "pageSize", "pageToken")


def _fields(surface: Surface, largest: int) -> list[Field]:
    def resource(text: str) -> ResourceName:
        """Written as in paths: `ed-fi/studentSchoolAssociations`."""
        found = surface.resource_at(text)
        if found is None:
            raise ValueError(text)
        return found.name

    def token(text: str) -> PageToken:
        found = PageToken.parse(text)
        if found is None:
            raise ValueError(text)
        return found

    types = (
        one_of(Direction),
        one_of(CreationOrder),
        FieldType(resource, "Resource '{text}' is unknown; it must read like ed-fi/students."),
        one_of(Include),
        natural_number(largest, f"{{name}} must be a value between 0 and {largest}."),
        FieldType(token, "The page token provided was invalid."),
    )
    return [Field(name, "", type_, name == "resource") for name, type_ in zip(_ORDER, types, strict=True)]
