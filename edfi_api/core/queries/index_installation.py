"""Creates, lists and drops query indexes, without blocking writers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db import connections

from edfi_api.core.queries.exceptions import ParameterValidationFailed
from edfi_api.core.queries.query_indexes import PREFIX, IndexColumn, QueryIndex
from edfi_api.core.queries.selection import read_order
from edfi_api.core.storage import resource_types
from edfi_api.model.surface.resource import QueryField, QueryType, Resource, Surface

# PostgreSQL refuses documents whose entry in an index is larger than 2,704 bytes; a character takes up to four.
_MOST_CHARACTERS = 600
_SUFFIX = "[prefix]"
_INSTALLED = """
SELECT c.relname, coalesce(obj_description(c.oid), ''), i.indisvalid, pg_relation_size(c.oid)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = 'document'::regclass AND starts_with(c.relname, %s)
 ORDER BY 2
"""


class CannotIndex(Exception):
    """There can be no such index; the text says why."""


@dataclass(frozen=True, slots=True)
class InstalledQueryIndex:
    """An index that is there. `definition` is what `create_query_index` was given, empty if the build was interrupted;
    `size` in bytes."""

    name: str
    definition: str
    is_valid: bool
    size: int


def parse_index(text: str, surface: Surface) -> list[QueryIndex]:
    """`students.birthDate`, `students.lastSurname[prefix]` or `students.lastSurname,-birthDate`: the indexes for
    such queries, one for each path of a field. The resource may have its project in front: `ed-fi/students`.

    Raises CannotIndex.
    """
    resource_name, _, names = text.rpartition(".")
    resource = _resource(resource_name, surface)
    fields = {field.name.lower(): field for field in resource.query_fields if field.name != "id"}
    if names.endswith(_SUFFIX):
        field = _field(names.removesuffix(_SUFFIX), fields, resource)
        if field.type not in (QueryType.STRING, QueryType.DESCRIPTOR):
            raise CannotIndex(f"{field.name} is no text, so it has no prefixes")
        indexes = [QueryIndex(resource, (IndexColumn(path, is_text=True),)) for path in field.paths]
    elif "," not in names:
        field = _field(names.removeprefix("-"), fields, resource)
        indexes = [QueryIndex(resource, (IndexColumn(path),)) for path in field.paths]
    else:
        try:
            indexes = [read_order(resource, fields, names).index]
        except ParameterValidationFailed as error:
            raise CannotIndex(error.messages[0]) from error
    for index in indexes:
        _check_size(index)
    return indexes


def create(index: QueryIndex, definition: str, using: str) -> bool:
    """Build the index, unless it is there; what an interrupted build left is replaced. False if it was there.
    `definition` becomes its comment."""
    there = {each.name: each for each in installed(using)}.get(index.name)
    if there and there.is_valid and there.definition:
        return False
    number = resource_types.numbers(using)[index.resource.name]
    columns = ", ".join(index.columns())
    with connections[using].cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}")
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY {index.name} ON document ({columns}) WHERE resource_type_id = {number}"
        )
        # Without statistics of the expressions PostgreSQL expects a part of the documents for any value.
        cursor.execute("ANALYZE document")
        cursor.execute(f"COMMENT ON INDEX {index.name} IS %s", [definition])
    return True


def installed(using: str) -> list[InstalledQueryIndex]:
    """The query indexes of a database, whose definitions may be of a model that is not served any more."""
    with connections[using].cursor() as cursor:
        cursor.execute(_INSTALLED, [PREFIX])
        return [InstalledQueryIndex(*row) for row in cursor.fetchall()]


def drop(name: str, using: str) -> None:
    """Drop an index that `installed` names."""
    with connections[using].cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


def _resource(name: str, surface: Surface) -> Resource:
    name = name.strip("/").lower()
    found = [each for each in surface.resources if name in _names_of(each)]
    if len(found) != 1:
        paths = ", ".join(each.url_path.lstrip("/") for each in found)
        raise CannotIndex(f"{name} is the name of several resources: {paths}" if found else f"no resource is {name!r}")
    return found[0]


def _names_of(resource: Resource) -> Iterator[str]:
    path = resource.url_path.strip("/").lower()
    yield path
    yield path.rpartition("/")[2]


def _field(name: str, fields: Mapping[str, QueryField], resource: Resource) -> QueryField:
    field = fields.get(name.lower())
    if field is None:
        raise CannotIndex(f"{resource.url_path.lstrip('/')} has no query field {name!r}")
    return field


def _check_size(index: QueryIndex) -> None:
    characters = sum(_characters(index.resource, each) for each in index.values)
    if characters > _MOST_CHARACTERS:
        raise CannotIndex(
            f"the values of {index} may have {characters:,} characters; an index holds {_MOST_CHARACTERS}"
        )


def _characters(resource: Resource, value: IndexColumn) -> int:
    schema = resource.json_schema
    for step in value.path.steps:
        schema = schema["properties"][step]
    if schema["type"] != "string":
        return 40
    longest: int = schema.get("maxLength", 40 if "format" in schema else _MOST_CHARACTERS + 1)
    return longest
