"""Templates of Ed-Fi's Data Import → templates of ours, as far as they map columns to members.

Its export is JSON: `title`, and `template` with `maps`, `lookups`, `bootstraps` and `preprocessors`. A map has the path
of its resource (`resourcePath`) and, in `map`, nested members whose leaves say their source: `column` (`sourceColumn`),
`static` (`value`), `lookup-table` (`sourceTable`), each perhaps with a `default`. The versions write leaves as objects
with capital or small letters, members by their names or as lists of nodes (`name`, `children`), and the whole map as an
object or as text of JSON. What runs a script, deletes, or sends fixed documents is named, and left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from edfi_api.features.tables.exceptions import InvalidTemplate
from edfi_api.features.tables.template import MOST_MEMBERS, MappedMember, Template

_DEEPEST = 20
_MOST_MAPS = 100
_LEAF = frozenset({"source", "sourcecolumn", "sourcetable", "column", "value", "static", "default", "lookup"})
_NOT_MAPPED = frozenset({"no-mapping", "nomapping", "none", ""})


@dataclass(slots=True)
class ReadTemplates:
    """The templates of a file, one for each of its maps, and sentences about what was left out."""

    templates: list[Template] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def is_of_data_import(decoded: Any) -> bool:
    """Whether the decoded JSON is an export of Data Import."""
    return isinstance(decoded, dict) and (
        isinstance(_get(decoded, "template"), dict)
        or isinstance(_get(decoded, "maps"), list)
        or "map" in _small(decoded)
    )


def read_data_import(decoded: Mapping[str, Any]) -> ReadTemplates:
    """The templates of an export. Raises InvalidTemplate."""
    content = _get(decoded, "template")
    content = content if isinstance(content, dict) else decoded
    found = ReadTemplates()
    lookups = _lookups(_get(content, "lookups"))
    maps = _get(content, "maps")
    if isinstance(maps, list) and len(maps) > _MOST_MAPS:
        raise InvalidTemplate([f"A file has {_MOST_MAPS} maps at most."])
    for each in maps if isinstance(maps, list) else [content]:
        if isinstance(each, dict):
            _read_map(each, str(_get(decoded, "title") or ""), lookups, found)
    _name_what_is_left_out(content, found)
    if not found.templates:
        raise InvalidTemplate(["No map of a column is in it.", *found.left_out])
    return found


def _read_map(given: dict[str, Any], title: str, lookups: dict[str, dict[str, str]], found: ReadTemplates) -> None:
    name = str(_get(given, "name") or title or "Data Import")
    if _is_true(_get(given, "deleteByNaturalKey")) or _is_true(_get(given, "isDeleteOperation")):
        found.left_out.append(f"{name}: it deletes documents, which tables do not do.")
        return
    for key in ("customFileProcessor", "customRowProcessor", "preprocessor", "fileProcessorScriptId", "attribute"):
        if _get(given, key):
            found.left_out.append(f"{name}: {key} ({str(_get(given, key))[:60]}) runs a script, and is left out.")
    content = _decoded(_get(given, "map"))
    if isinstance(content, dict) and "resourcemaps" in _small(content):
        content = _decoded(_get(content, "resourceMaps"))
    columns = [each for each in _members(content, "", lookups, 0) if each.column or each.value]
    if len(columns) > MOST_MEMBERS:
        raise InvalidTemplate([f"{name}: a template has {MOST_MEMBERS} members at most."])
    if columns:
        resource = str(_get(given, "resourcePath") or _get(given, "resource") or "")
        found.templates.append(Template(resource, tuple(columns), name))
    else:
        found.left_out.append(f"{name}: it maps no column.")


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
    """Whether a node is that of an array: it says so, or its children are named alike, or not at all."""
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
    """The tables of values, by the small letters of their names."""
    tables: dict[str, dict[str, str]] = {}
    for each in given if isinstance(given, list) else []:
        if isinstance(each, dict):
            table = tables.setdefault(str(_get(each, "sourceTable") or "").casefold(), {})
            table[_text(_get(each, "key"))] = _text(_get(each, "value"))
    return tables


def _name_what_is_left_out(content: Mapping[str, Any], found: ReadTemplates) -> None:
    for key, why in (("bootstraps", "sends fixed documents"), ("preprocessors", "runs a script")):
        given = _get(content, key)
        for each in given if isinstance(given, list) else []:
            name = _get(each, "name") if isinstance(each, dict) else None
            found.left_out.append(f"{key}: {str(name or 'one without a name')[:60]} {why}, and is left out.")


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


def _is_true(given: Any) -> bool:
    return given is True or str(given).lower() == "true"


def _text(given: Any) -> str:
    if isinstance(given, bool):
        return "true" if given else "false"
    return "" if given is None else str(given)
