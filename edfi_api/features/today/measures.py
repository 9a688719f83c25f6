"""What Today counts: `measures.toml`, or the file of the setting MEASURES, read with the served data standard.

No resource is named in code. Members become SQL: a column of `document` where the value of the member is kept in one,
which indexes have, else a path into the body.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec

from edfi_api.common.conf import api_settings
from edfi_api.common.rule_files import NotToml, Text, read_toml
from edfi_api.common.shape_errors import reason_and_path
from edfi_api.core.documents.securables import SecurableElement, SecurableKind, groups
from edfi_api.core.served import current_surface
from edfi_api.model.surface.json_schema import find_schema
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName, Surface

BUNDLED = Path(__file__).with_name("measures.toml")
_DAYS = Annotated[int, msgspec.Meta(ge=1, le=365)]
_COLUMNS = (SecurableKind.ORGANIZATION, SecurableKind.STUDENT)


class UnusableMeasures(Exception):
    """The file cannot be used; the text has the problems, one on each line."""


class _Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    resource: Text
    student: str = ""
    school: str = ""
    school_year: str = ""
    from_: str = msgspec.field(default="", name="from")
    until: str = ""
    day: str = ""
    kind: str = ""

    def members(self) -> dict[str, str]:
        """The paths that are given, by what they are for."""
        given = msgspec.to_builtins(self)
        return {name: path for name, path in given.items() if path and name != "resource"}


class _Sources(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    first_of: tuple[_Source, ...] = ()
    any_of: tuple[_Source, ...] = ()


class _Events(_Sources, frozen=True, forbid_unknown_fields=True):
    kinds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


class _Measure(_Sources, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
    title: Text


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    enrolled: _Sources
    silent_days: _DAYS = 7
    terms: _Sources = _Sources()
    attendance: _Events = _Events()
    calendar: _Events = _Events()
    measure: tuple[_Measure, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A resource with the SQL of its members for a row `d` of `document`, as texts; empty for those that it lacks.

    `rows` is the condition, besides the resource, by which an index has all of its documents. `day_path` and
    `kind_path` are the paths of the members in the body.
    """

    resource: Resource
    rows: str
    school: str = ""
    student: str = ""
    school_year: str = ""
    from_: str = ""
    until: str = ""
    day: str = ""
    day_path: JsonPath | None = None
    kind_path: JsonPath | None = None

    @property
    def name(self) -> ResourceName:
        return self.resource.name


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that there should be about each enrolled student; `name` is its name in addresses."""

    name: str
    title: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Events:
    """Events on days; of the kinds `kinds` alone, if there are any, and of all but those of `without`."""

    sources: tuple[Source, ...]
    kinds: tuple[str, ...]
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measures:
    """What is counted. Without `enrolled`, which the served standard may lack, nothing is. `schools` are the resources
    to which an enrolment refers as its school."""

    silent_days: int
    enrolled: tuple[Source, ...]
    schools: tuple[ResourceName, ...]
    terms: tuple[Source, ...]
    measures: tuple[Measure, ...]
    attendance: Events
    calendar: Events


@cache
def current_measures() -> Measures:
    """Return the measures of this server. Raises UnusableMeasures."""
    return read_measures(Path(api_settings.MEASURES) if api_settings.MEASURES else BUNDLED, current_surface())


def read_measures(path: Path, surface: Surface) -> Measures:
    """Return the measures of a file, as far as the surface has their resources. Raises UnusableMeasures."""
    try:
        file = msgspec.convert(read_toml(path), _File)
    except NotToml as error:
        raise UnusableMeasures(f"{path}: {error}") from error
    except msgspec.ValidationError as error:
        reason, place = reason_and_path(error)
        raise UnusableMeasures(f"{path}: {place}: {reason}") from error
    if problems := [f"{path}: {problem}" for problem in _problems(file, surface)]:
        raise UnusableMeasures("\n".join(problems))
    measures = (Measure(each.name, each.title, _sources(each, surface)) for each in file.measure)
    return Measures(
        silent_days=file.silent_days,
        enrolled=_sources(file.enrolled, surface),
        schools=tuple(dict.fromkeys(_schools(file.enrolled, surface))),
        terms=_sources(file.terms, surface),
        measures=tuple(each for each in measures if each.sources),
        attendance=_events(file.attendance, surface),
        calendar=_events(file.calendar, surface),
    )


def _problems(file: _File, surface: Surface) -> Iterator[str]:
    """Yield what is wrong with a file that has the right shape."""
    yield from _problems_of("enrolled", file.enrolled, {"school", "student"}, surface)
    yield from _problems_of("terms", file.terms, {"school_year", "from"}, surface)
    yield from _problems_of("attendance", file.attendance, {"school", "student", "day"}, surface)
    yield from _problems_of("calendar", file.calendar, {"school", "day"}, surface)
    for each in file.measure:
        yield from _problems_of(f"measure {each.name}", each, {"student"}, surface)


def _problems_of(place: str, given: _Sources, needed: set[str], surface: Surface) -> Iterator[str]:
    if given.first_of and given.any_of:
        yield f"{place}: either 'first_of' or 'any_of', not both"
    for source in (*given.first_of, *given.any_of):
        members = source.members()
        for name in sorted(needed - members.keys()):
            yield f"{place}: {source.resource}: {name!r} is missing"
        resource = surface.resource_at(source.resource)
        if resource is None:
            continue
        for name, path in members.items():
            if not _leads_to_a_value(resource, path, through_lists=name == "kind"):
                yield f"{place}: {source.resource} has no member {path!r} for {name!r}"


def _leads_to_a_value(resource: Resource, text: str, *, through_lists: bool) -> bool:
    """Return whether documents may have a value at the path. Its steps are plain names."""
    path = JsonPath.below_root(text)
    schema = find_schema(resource.json_schema, path.steps) if through_lists or ALL_ITEMS not in path.steps else None
    return schema is not None and schema.get("type") not in {"object", "array"}


def _events(given: _Events, surface: Surface) -> Events:
    kinds, without = (tuple(each.lower() for each in names) for names in (given.kinds, given.without))
    return Events(_sources(given, surface), kinds, without)


def _sources(given: _Sources, surface: Surface) -> tuple[Source, ...]:
    served = list(_served(given, surface))
    return tuple(_source(*each) for each in (served if given.any_of else served[:1]))


def _served(given: _Sources, surface: Surface) -> Iterator[tuple[_Source, Resource]]:
    for source in (*given.first_of, *given.any_of):
        if resource := surface.resource_at(source.resource):
            yield source, resource


def _source(given: _Source, resource: Resource) -> Source:
    columns = {group[0].kind: group for group in reversed(groups(resource)) if group[0].kind in _COLUMNS}
    members = given.members()
    values = {name: _value(path, columns) for name, path in members.items() if name != "kind"}
    if "school" in values and not values["school"].startswith("d."):
        values["school"] = f"({values['school']})::bigint"
    return Source(
        resource=resource,
        rows=_rows(columns.get(SecurableKind.ORGANIZATION), resource),
        **{("from_" if name == "from" else name): value for name, value in values.items()},
        day_path=JsonPath.below_root(members["day"]) if "day" in members else None,
        kind_path=JsonPath.below_root(members["kind"]) if "kind" in members else None,
    )


def _rows(organization: Sequence[SecurableElement] | None, resource: Resource) -> str:
    """Return whether documents of the resource have an organization decides which index has them."""
    if organization is None:
        return "d.organization IS NULL"
    return "d.organization IS NOT NULL" if organization[0].path in resource.identity else "true"


def _value(path: str, columns: Mapping[SecurableKind, Sequence[SecurableElement]]) -> str:
    """Return the SQL of a member."""
    own = JsonPath.below_root(path)
    found = next((kind for kind, group in columns.items() if own in [each.path for each in group]), None)
    return f"d.{found}" if found else f"(d.body #>> '{{{','.join(own.steps)}}}')"


def _schools(given: _Sources, surface: Surface) -> Iterator[ResourceName]:
    """Yield the resources whose documents an enrolment may name as its school."""
    for source, resource in _served(given, surface):
        here = JsonPath.below_root(source.school)
        targets = [each.target for each in resource.references if here in [pair.here for pair in each.identity]]
        for target in targets:
            abstract = next((each for each in surface.abstract_resources if each.name == target), None)
            yield from abstract.subclasses if abstract else [target]
