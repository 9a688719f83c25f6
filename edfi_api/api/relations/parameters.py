"""Query string → `RelationsQuery`. All unusable values are reported together."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from django.http import QueryDict

from edfi_api.api.relations.related_resources import Direction
from edfi_api.conf import api_settings
from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.queries.exceptions import ParameterValidationFailed, UnknownQueryField
from edfi_api.queries.page_tokens import PageToken
from edfi_api.queries.parameters import is_natural_number

_Choice = TypeVar("_Choice", bound=StrEnum)


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
    """Raises UnknownQueryField for the first unknown name, ParameterValidationFailed for all unusable values."""
    return _Reader(query, surface).query()


class _Reader:
    """Names are case-insensitive. The last value of a repeated parameter counts, but all values of `resource` do."""

    def __init__(self, query: QueryDict, surface: Surface) -> None:
        self._surface = surface
        self._given = {name.lower(): (name, values) for name, values in query.lists()}
        self._problems: list[str] = []

    def query(self) -> RelationsQuery:
        direction = self._choice("direction", Direction) or Direction.INCOMING
        order = self._choice("order", CreationOrder) or CreationOrder.OLDEST
        resources = frozenset(self._resources())
        include = self._choice("include", Include)
        size, rows = self._size(), self._rows()
        if self._given:
            raise UnknownQueryField(next(iter(self._given.values()))[0])
        if self._problems:
            raise ParameterValidationFailed(self._problems)
        return RelationsQuery(direction, order, resources, include is Include.BODY, size, rows)

    def _choice(self, name: str, choices: type[_Choice]) -> _Choice | None:
        """None if the parameter is missing, or if its value is a problem."""
        value = self._last(name)
        if value is None:
            return None
        if value.lower() not in list(choices):
            self._problems.append(f"{name.capitalize()} must be one of: {', '.join(choices)}.")
            return None
        return choices(value.lower())

    def _resources(self) -> Iterator[ResourceName]:
        """Written as in paths: `ed-fi/studentSchoolAssociations`."""
        for value in self._given.pop("resource", ("", []))[1]:
            resource = self._surface.resource_at(value)
            if resource is None:
                self._problems.append(f"Resource '{value}' is unknown; it must read like ed-fi/students.")
            else:
                yield resource.name

    def _size(self) -> int:
        largest: int = api_settings.MAX_PAGE_SIZE
        value = self._last("pagesize")
        if value is None:
            return largest
        if not is_natural_number(value, largest):
            self._problems.append(f"PageSize must be a value between 0 and {largest}.")
            return largest
        return int(value)

    def _rows(self) -> PageToken:
        value = self._last("pagetoken")
        token = PageToken(0) if value is None else PageToken.parse(value)
        if token is None:
            self._problems.append("The page token provided was invalid.")
        return token or PageToken(0)

    def _last(self, name: str) -> str | None:
        """The last value of a parameter, which is removed from those given, so that unknown ones remain."""
        _, values = self._given.pop(name, ("", []))
        return values[-1] if values else None
