"""The layout of the pages of persons: a file in TOML, read against the served model.

`layout.toml` in this folder, which also describes the form, is replaced by the file that the setting PERSON_PAGES
names. Resources that the served standard lacks are left out; a path that none of the others has is a mistake.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec

from edfi_api.common.conf import api_settings
from edfi_api.common.rule_files import NotToml, read_toml
from edfi_api.core.served import current_surface
from edfi_api.model.surface.json_schema import find_schema
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName, Surface
from edfi_api.site.person_pages.calendar import ALARM, USUAL, WARNING

BUNDLED = Path(__file__).with_name("layout.toml")
# Each further document on the way to a value is a query of the page.
MOST_HOPS = 2
_HOP = ">"

Texts = str | list[str]


class InvalidLayout(Exception):
    """A layout cannot be used; the text says what is wrong where."""


class _Column(msgspec.Struct, forbid_unknown_fields=True):
    heading: str
    value: Texts
    link: str | None = None
    resource: str | None = None
    reference: str | None = None
    beside: str | None = None
    label: Texts = []


class _Block(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    heading: str
    resources: list[str]
    reference: str
    sort: str | None = None
    most: int = 10
    columns: list[_Column] = []
    day: str | None = None
    category: str | None = None
    usual: list[str] = []
    alarming: list[str] = []
    warning: list[str] = []


class _Page(msgspec.Struct, forbid_unknown_fields=True):
    resource: str
    blocks: list[_Block]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    pages: list[_Page]


@dataclass(frozen=True, slots=True)
class Way:
    """The way to a value: through these references, each in the document that the one before means, to a member."""

    references: tuple[tuple[str, ...], ...]
    member: tuple[str, ...]


# The first one that leads to a value counts.
Ways = tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class Further:
    """Documents that refer to a row, or to the document that the reference `beside` of the row means."""

    resource: ResourceName
    reference: tuple[str, ...]
    beside: tuple[str, ...] | None
    label: Ways


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a block; `link` is a reference of the row to which its values lead."""

    heading: str
    value: Ways
    link: tuple[str, ...] | None
    further: Further | None


@dataclass(frozen=True, slots=True)
class Calendar:
    """The members of the rows with a day and its category, and the looks of categories (`calendar`)."""

    day: tuple[str, ...]
    category: tuple[str, ...]
    looks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page."""

    name: str
    heading: str
    resources: tuple[ResourceName, ...]
    reference: tuple[str, ...]
    sort: tuple[str, ...] | None
    most: int
    columns: tuple[Column, ...]
    calendar: Calendar | None


# The blocks of each resource that has a page.
Layout = Mapping[ResourceName, Sequence[Block]]


def current_layout() -> Layout:
    """Return the layout for the served model. Raises InvalidLayout."""
    return _layout(Path(api_settings.PERSON_PAGES or BUNDLED), _Served(current_surface()))


class _Served:
    """The surface of this process, of which there is one, as a key of a cache."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface

    def __hash__(self) -> int:
        return id(self.surface)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Served) and self.surface is other.surface


@lru_cache(maxsize=4)
def _layout(path: Path, served: _Served) -> Layout:
    return read_layout(path, served.surface)


def read_layout(path: Path, surface: Surface) -> Layout:
    """Read a file against a surface. Raises InvalidLayout with everything that does not fit."""
    try:
        file = msgspec.convert(read_toml(path), _File)
    except (NotToml, msgspec.ValidationError) as error:
        raise InvalidLayout(f"{path}: {error}") from error
    reader = _Reader(surface)
    layout = {
        name: blocks for page in file.pages for name in reader.names([page.resource]) if (blocks := reader.blocks(page))
    }
    if reader.problems:
        raise InvalidLayout("\n".join(f"{path}: {problem}" for problem in reader.problems))
    return layout


class _Reader:
    """Reads pages, and collects what does not fit."""

    def __init__(self, surface: Surface) -> None:
        self._by_name = surface.by_name
        self._by_text: dict[str, list[ResourceName]] = {}
        for each in surface.resources:
            self._by_text.setdefault(each.name.resource, []).append(each.name)
        self._subclasses = {each.name: each.subclasses for each in surface.abstract_resources}
        self.problems: list[str] = []

    def names(self, resources: Iterable[str]) -> list[ResourceName]:
        """The served ones among these resources."""
        return [name for text in resources for name in self._by_text.get(text, [])]

    def blocks(self, page: _Page) -> list[Block]:
        return [
            self._block(block, names, f"{page.resource}, block {block.name!r}")
            for block in page.blocks
            if (names := self.names(block.resources))
        ]

    def _block(self, block: _Block, names: list[ResourceName], place: str) -> Block:
        resources = [self._by_name[name] for name in names]
        reference = _steps(block.reference)
        self._check_reference(reference, resources, place)
        calendar = None
        if block.day is not None and block.category is not None:
            calendar = Calendar(
                self._member(block.day, resources, place),
                self._member(block.category, resources, place),
                {
                    **dict.fromkeys(block.usual, USUAL),
                    **dict.fromkeys(block.warning, WARNING),
                    **dict.fromkeys(block.alarming, ALARM),
                },
            )
        elif (block.day or block.category) or not block.columns:
            self.problems.append(f"{place}: a block has columns, or 'day' and 'category'")
        columns = (self._column(each, resources, f"{place}, column {each.heading!r}") for each in block.columns)
        return Block(
            name=block.name,
            heading=block.heading,
            resources=tuple(names),
            reference=reference,
            sort=self._member(block.sort, resources, place) if block.sort else None,
            most=block.most,
            columns=tuple(column for column in columns if column is not None),
            calendar=calendar,
        )

    def _column(self, column: _Column, resources: list[Resource], place: str) -> Column | None:
        """Return None if its further documents are of a resource that is not served."""
        if column.resource is None:
            link = _steps(column.link) if column.link else None
            if link:
                self._check_reference(link, resources, place)
            return Column(column.heading, self._ways(column.value, resources, place), link, None)
        of = [self._by_name[name] for name in self.names([column.resource])]
        if not of:
            return None
        if column.reference is None:
            self.problems.append(f"{place}: 'reference' is missing")
            return None
        beside = _steps(column.beside) if column.beside else None
        if beside:
            self._check_reference(beside, resources, place)
        reference = _steps(column.reference)
        self._check_reference(reference, of, place)
        label = self._ways(column.label, of, place) if column.label else ()
        further = Further(of[0].name, reference, beside, label)
        return Column(column.heading, self._ways(column.value, of, place), None, further)

    def _ways(self, texts: Texts, resources: list[Resource], place: str) -> Ways:
        """The ways that lead somewhere in one of the resources."""
        listed = [texts] if isinstance(texts, str) else texts
        ways = [_way(text) for text in listed]
        for text, way in zip(listed, ways, strict=True):
            if len(way.references) > MOST_HOPS:
                self.problems.append(f"{place}: {text!r} has more than {MOST_HOPS} references on its way")
        found = tuple(way for way in ways if any(self._leads(way, each) for each in resources))
        if not found:
            self.problems.append(f"{place}: no resource has {' or '.join(map(repr, listed))}")
        return found

    def _leads(self, way: Way, resource: Resource) -> bool:
        current = [resource]
        for reference in way.references:
            current = [target for each in current for target in self._targets(each, reference)]
        return any(_has(each, way.member) for each in current)

    def _targets(self, resource: Resource, reference: tuple[str, ...]) -> Iterator[Resource]:
        for each in resource.references:
            if each.path.steps == reference:
                names = self._subclasses.get(each.target, (each.target,))
                yield from (self._by_name[name] for name in names if name in self._by_name)

    def _check_reference(self, reference: tuple[str, ...], resources: Iterable[Resource], place: str) -> None:
        if not any(each.path.steps == reference for resource in resources for each in resource.references):
            self.problems.append(f"{place}: no resource has the reference {'.'.join(reference)!r}")

    def _member(self, text: str, resources: Iterable[Resource], place: str) -> tuple[str, ...]:
        steps = _steps(text)
        if not any(_has(each, steps) for each in resources):
            self.problems.append(f"{place}: no resource has {text!r}")
        return steps


def _way(text: str) -> Way:
    *references, member = (_steps(part) for part in text.split(_HOP))
    return Way(tuple(references), member)


def _steps(text: str) -> tuple[str, ...]:
    return JsonPath.below_root(text).steps


def _has(resource: Resource, steps: tuple[str, ...]) -> bool:
    return find_schema(resource.json_schema, steps) is not None
