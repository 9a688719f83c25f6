"""Templates by name: those that are kept, and those in files, which are ours, or an export of Ed-Fi's Data Import, of
which is read what maps columns to members.

Such an export is JSON: `title`, and `template` with `maps`, `lookups`, `bootstraps` and `preprocessors`. A map has the
path of its resource (`resourcePath`) and, in `map`, nested members whose leaves say their source: `column`
(`sourceColumn`), `static` (`value`), `lookup-table` (`sourceTable`), each perhaps with a `default`. The versions write
leaves as objects with capital or small letters, members by their names or as lists of nodes (`name`, `children`), maps
as objects or as texts of JSON under several names, look-ups one by one or by table, and resources with and without
their project. What runs a script, deletes, or sends fixed documents is named, and left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from edfi_api.core.served import current_surface
from edfi_api.features.loading.exceptions import ResourceNotServed
from edfi_api.features.loading.json_lines.sources import resource_called
from edfi_api.features.tables.exceptions import InvalidTemplate
from edfi_api.features.tables.members import Members
from edfi_api.features.tables.models import TableTemplate
from edfi_api.features.tables.reading import Header, Table
from edfi_api.features.tables.suggesting import suggested
from edfi_api.features.tables.template import MappedMember, Template, checked, read_template, template_of
from edfi_api.model.surface.resource import Resource

_DEEPEST = 20
_MOST_MAPS = 100
_LEAF = frozenset({"source", "sourcecolumn", "sourcetable", "column", "value", "static", "default", "lookup"})
_NOT_MAPPED = frozenset({"no-mapping", "nomapping", "none", ""})
_MAP_IN = ("map", "dataMap", "dataMaps", "resourceMaps", "columns", "mappings")
_LOOKUPS_IN = ("lookups", "lookupCollection", "lookup collection", "lookupTables")
_OF_SCRIPTS = ("preprocessors", "customFileProcessors", "customRowProcessors", "scripts")
_DELETES = ("isDeleteOperation", "isDelete", "deleteByNaturalKey", "isDeleteByNaturalKey")
_RUNS_A_SCRIPT = (
    *("customFileProcessor", "customRowProcessor", "customFileGenerator"),
    *("preprocessor", "fileProcessorScriptId", "attribute"),
)
_ENTRIES_IN = ("lookups", "entries", "items", "values")
_LONGEST_NAME = 60
MOST_BYTES = 2**20
# Rows whose cells say what a column is.
_LOOKED_AT = 20


@dataclass(slots=True)
class ReadTemplates:
    """The templates of a file, one for each of its maps, and messages about what was left out."""

    templates: list[Template] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def is_of_data_import(decoded: Any) -> bool:
    """Return whether the decoded JSON is an export of Data Import."""
    return (
        isinstance(decoded, dict)
        and not {"version", "resource", "columns"} <= decoded.keys()
        and (
            isinstance(_get(decoded, "template"), dict | str)
            or isinstance(_get(decoded, "maps"), list | str)
            or _first(decoded, _MAP_IN[:4]) is not None
        )
    )


def read_data_import(decoded: Mapping[str, Any]) -> ReadTemplates:
    """The templates of an export. Raises InvalidTemplate."""
    content = _decoded(_get(decoded, "template"))
    content = content if isinstance(content, dict) else decoded
    found = ReadTemplates()
    lookups = _lookups(_decoded(_first(content, _LOOKUPS_IN)))
    maps = _decoded(_get(content, "maps"))
    if isinstance(maps, list) and len(maps) > _MOST_MAPS:
        raise InvalidTemplate([f"A file has {_MOST_MAPS} maps at most."])
    for each in maps if isinstance(maps, list) else [content]:
        if isinstance(each, dict):
            _read_map(each, _name(_get(decoded, "title")), lookups, found)
    _name_what_is_left_out(content, found)
    if not found.templates:
        raise InvalidTemplate(["No map of a column is in it.", *found.left_out])
    return found


def _read_map(given: dict[str, Any], title: str, lookups: dict[str, dict[str, str]], found: ReadTemplates) -> None:
    name = _name(_get(given, "name")) or title or "Data Import"
    if any(_is_true(_get(given, key)) for key in _DELETES):
        found.left_out.append(f"{name}: it deletes documents, which tables do not do.")
        return
    for key in _RUNS_A_SCRIPT:
        if script := _get(given, key):
            called = _get(script, "name") or _get(script, "scriptName") if isinstance(script, dict) else script
            found.left_out.append(f"{name}: {key} ({_name(called)[:_LONGEST_NAME]}) runs a script, and is left out.")
    content = _decoded(_first(given, _MAP_IN))
    if isinstance(content, dict) and "resourcemaps" in _small(content):
        content = _decoded(_get(content, "resourceMaps"))
    columns = [each for each in _members(content, "", lookups, 0) if each.column or each.value]
    for table in _missing_tables(content, lookups, 0):
        found.left_out.append(
            f"{name}: the look-up table {table[:_LONGEST_NAME]} is not in it; cells count as they are."
        )
    if columns:
        resource = str(_get(given, "resourcePath") or _get(given, "resource") or "")
        found.templates.append(checked(Template(_path_of(resource), tuple(columns), name)))
    else:
        found.left_out.append(f"{name}: it maps no column.")


def _path_of(resource: str) -> str:
    """The path of a resource as it is served: older versions write it without its project, or with what is before it.
    One that is not served stays as it is."""
    with suppress(ResourceNotServed):
        called = "/".join(resource.strip("/").split("/")[-2:])
        return resource_called(current_surface(), called).url_path
    return resource


def _members(node: Any, path: str, lookups: dict[str, dict[str, str]], depth: int) -> Iterator[MappedMember]:
    """The mapped members at a node, which is a leaf, an object of members, or a list of nodes or items."""
    if depth > _DEEPEST:
        raise InvalidTemplate(["Its maps are nested too deeply."])
    if isinstance(node, list):
        for index, each in enumerate(node):
            yield from _members(each, _below(path, each, index), lookups, depth + 1)
    elif isinstance(node, dict):
        small = _small(node)
        children = small.get("children")
        if isinstance(children, list) and children:
            # The items of an array are children with a name of their own, which is no member.
            are_items = all(
                isinstance(each, dict) and isinstance(_get(each, "children"), list) and _get(each, "children")
                for each in children
            ) and _is_array(small, children)
            for index, each in enumerate(children):
                below = f"{path}[{index}]" if are_items else _below(path, each, index)
                yield from _members(each, below, lookups, depth + 1)
        elif _is_leaf(small):
            yield _leaf(small, path, lookups)
        else:
            for name, each in node.items():
                if isinstance(each, dict | list):
                    yield from _members(each, f"{path}.{name}" if path else name, lookups, depth + 1)


def _is_array(small: Mapping[str, Any], children: list[Any]) -> bool:
    """Return whether a node is that of an array: it says so, or its children are named alike, or not at all."""
    if str(small.get("datatype", "")).lower() == "array":
        return True
    names = {str(_get(each, "name") or "") for each in children if isinstance(each, dict)}
    own = str(small.get("name", ""))
    return names <= {""} or (len(names) == 1 and own.endswith("s") and not next(iter(names)).endswith("Reference"))


def _below(path: str, node: Any, index: int) -> str:
    """The path of an element of a list: a node with a name is a member, any other one an item."""
    name = _get(node, "name") if isinstance(node, dict) else None
    if not isinstance(name, str) or not name:
        return f"{path}[{index}]" if path else path
    return f"{path}.{name}" if path else name


def _is_leaf(small: Mapping[str, Any]) -> bool:
    return any(name in _LEAF and not isinstance(value, dict | list) for name, value in small.items())


def _leaf(small: Mapping[str, Any], path: str, lookups: dict[str, dict[str, str]]) -> MappedMember:
    """A member with its source; one that is not mapped has neither column nor constant."""
    source = str(small.get("source") or "").strip().lower()
    column = str(small.get("sourcecolumn") or small.get("column") or "")
    constant = small.get("value") if small.get("value") is not None else small.get("static")
    default = _text(small.get("default"))
    if "source" in small and source in _NOT_MAPPED and not column:
        return MappedMember(path)
    if source == "static" or (not column and constant is not None):
        return MappedMember(path, value=_text(constant))
    table = str(small.get("sourcetable") or small.get("lookup") or "")
    return MappedMember(path, column, default=default, values=lookups.get(table.casefold(), {}) if column else {})


def _lookups(given: Any) -> dict[str, dict[str, str]]:
    """The tables of values, by the small letters of their names: entries that name their table, or tables that have
    entries."""
    tables: dict[str, dict[str, str]] = {}

    def add(table: Any, entry: Any) -> None:
        if isinstance(entry, dict) and _get(entry, "key") is not None:
            tables.setdefault(_name(table).casefold(), {})[_text(_get(entry, "key"))] = _text(_get(entry, "value"))

    listed = given.items() if isinstance(given, dict) else ((None, each) for each in given or ())
    for name, each in listed if isinstance(given, dict | list) else ():
        table = name or _get(each, "sourceTable") or _get(each, "name")
        entries = _first(each, _ENTRIES_IN) if isinstance(each, dict) and "key" not in _small(each) else each
        if isinstance(entries, dict) and "key" not in _small(entries):
            entries = [{"key": key, "value": value} for key, value in entries.items()]
        elif entries is None and isinstance(each, dict):
            entries = [{"key": key, "value": value} for key, value in each.items()]
        for entry in entries if isinstance(entries, list) else [entries]:
            add(table, entry)
    return tables


def _missing_tables(node: Any, lookups: Mapping[str, Any], depth: int) -> list[str]:
    """The names of tables of values that a map uses and the file has not."""
    if isinstance(node, dict):
        small = _small(node)
        named = _name(small.get("sourcetable")) if _is_leaf(small) else ""
        if named and named.casefold() not in lookups:
            return [named]
        node = list(node.values())
    if not isinstance(node, list) or depth > _DEEPEST:
        return []
    return list(dict.fromkeys(name for each in node for name in _missing_tables(each, lookups, depth + 1)))


def _name_what_is_left_out(content: Mapping[str, Any], found: ReadTemplates) -> None:
    kinds = (("bootstraps", "sends fixed documents"), *((key, "runs a script") for key in _OF_SCRIPTS))
    for key, why in kinds:
        given = _decoded(_get(content, key))
        for each in given if isinstance(given, list) else []:
            name = _get(each, "name") or _get(each, "scriptName") if isinstance(each, dict) else each
            called = _name(name)[:_LONGEST_NAME] or "one without a name"
            found.left_out.append(f"{key}: {called} {why}, and is left out.")


def _decoded(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError as error:
        raise InvalidTemplate(["A map in it is not JSON."]) from error


def _small(given: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name).lower(): value for name, value in given.items()}


def _get(given: Any, name: str) -> Any:
    return _small(given).get(name.lower()) if isinstance(given, dict) else None


def _first(given: Any, names: Sequence[str]) -> Any:
    """The value of the first of these names that is there."""
    return next((value for name in names if (value := _get(given, name)) is not None), None)


def _name(given: Any) -> str:
    """A name for people, without what databases do not keep."""
    return " ".join(_text(given).replace("\0", "").split())


def _is_true(given: Any) -> bool:
    return given is True or str(given).lower() == "true"


def _text(given: Any) -> str:
    if isinstance(given, bool):
        return "true" if given else "false"
    return "" if given is None else str(given)


class ReadTemplate(NamedTuple):
    """A template, and messages about what was left out of it."""

    template: Template
    left_out: Sequence[str] = ()


def templates_in(text: bytes) -> list[ReadTemplate]:
    """The templates of a file: one of ours, or those of an export of Ed-Fi's Data Import. Raises InvalidTemplate."""
    if len(text) > MOST_BYTES:
        raise InvalidTemplate(["A template has one megabyte at most."])
    try:
        decoded = orjson.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise InvalidTemplate(["This is not JSON."]) from error
    if is_of_data_import(decoded):
        read = read_data_import(decoded)
        return [ReadTemplate(each, read.left_out) for each in read.templates]
    return [ReadTemplate(read_template(orjson.dumps(decoded)))]


def templates_named(named: str) -> list[ReadTemplate]:
    """The kept template of this name, or those of the file. Raises InvalidTemplate, and OSError for the file."""
    kept = TableTemplate.objects.filter(name=named).first()
    if kept is not None:
        return [ReadTemplate(template_of(kept.content), kept.left_out)]
    path = Path(named)
    if not path.is_file():
        raise InvalidTemplate([f"There is neither a kept template nor a file {named}."])
    with path.open("rb") as file:
        return templates_in(file.read(MOST_BYTES + 1))


def template_of_headers(header: Header, resource: Resource) -> Template:
    """The template of a table whose headers are members by their paths, `schoolReference.schoolId`; columns with other
    headers are left out. Raises InvalidTemplate if there is none."""
    members = Members(resource)
    names = {each.path for each in members.all}
    found = [MappedMember(name, name) for name in header.columns if name in names]
    if not found:
        raise InvalidTemplate(["No header is the path of a member. Name a template."])
    return Template(resource.url_path, tuple(found))


def suggested_template(table: Table, resource: Resource) -> Template:
    """The template that the columns suggest."""
    rows = [row.cells for row in islice(table.rows(), _LOOKED_AT)]
    return Template(resource.url_path, tuple(suggested(table.header.columns, Members(resource), rows)))
