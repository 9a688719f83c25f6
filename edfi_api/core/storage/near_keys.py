"""Stored documents whose keys look like one that is not stored, or is to be: they differ in case, blanks, or the form
of Unicode alone.

They are found by exact look-ups. One is for other spellings of the key. For each member that may be spelt otherwise
another one is for the rest of the key, and the first documents that have it are compared. The index returns all that
have it: 200,000 documents of one school took 55 to 100 milliseconds on a busy machine; a planner that expects to find
some soon reads the table instead. So this look-up has to use the index, and ends after some time. The cost is bounded,
and some are not found.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from edfi_api.core.documents import json_text
from edfi_api.core.documents.blanks import folded, spellings
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.extraction import Extractor
from edfi_api.core.documents.paths import put_value, values_at
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute, find_in_time
from edfi_api.core.storage.driver.prepared_statements import Row
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.model.surface.resource import JsonPath, Resource

_MOST_READ = 200
_MOST_MILLISECONDS = 200
# Members of a key that are left out in turn.
_MOST_LEFT_OUT = 3
_BY_ALIASES = Sql(
    "SELECT d.id, d.body FROM alias a JOIN document d ON d.id = a.document_id"
    " WHERE a.referential_id = ANY (%(ids)s::uuid[]) AND d.resource_type_id = %(type)s::smallint"
)
_BY_OTHERS = Sql(
    "SELECT d.id, d.body FROM document d WHERE scoped_body(d.resource_type_id, d.body) @> %(example)s::jsonb"
    " LIMIT %(most)s"
)

Key = Mapping[JsonPath, Any]


class NearKey(NamedTuple):
    """The row of a stored document, and its key by the paths of the identity."""

    row: int
    key: dict[JsonPath, Any]


def near_keys(resource: Resource, key: Key, using: str) -> list[NearKey]:
    """The documents of the resource whose keys look like this one, and are not it; in the order of their rows."""
    if not any(isinstance(value, str) for value in key.values()):
        return []
    type_ = resource_types.numbers(using)[resource.name]
    found: dict[int, NearKey] = {}
    for row, body in _candidates(resource, key, type_, using):
        stored = _key_of(resource, json_text.loads(bytes(body)))
        if stored != dict(key) and _look_equal(stored, key):
            found[row] = NearKey(row, stored)
    return [found[row] for row in sorted(found)]


def _candidates(resource: Resource, key: Key, type_: int, using: str) -> Iterator[Row]:
    """Id and body of each."""
    yield from execute(_other_spellings(resource, key, type_), using)
    for statement in _others_alike(key, type_):
        yield from find_in_time(statement, _MOST_MILLISECONDS, using)


def _other_spellings(resource: Resource, key: Key, type_: int) -> Sql:
    """Return the statement that finds documents by the ids of other spellings, of one text or of all."""
    extractor, ids = Extractor(resource), []
    for other in _spelt_otherwise(key):
        try:
            ids.append(extractor.own_identity(body_of(other)).referential_id)
        except (DataValidationFailed, KeyError):
            continue
    return _BY_ALIASES.with_values(ids=ids, type=type_)


def _spelt_otherwise(key: Key) -> Iterator[Key]:
    texts = {path: list(spellings(value)) for path, value in key.items() if isinstance(value, str)}
    for path, others in texts.items():
        yield from ({**key, path: other} for other in others)
    if len(texts) > 1:
        for spelt in zip(*texts.values(), strict=False):
            yield {**key, **dict(zip(texts, spelt, strict=True))}


def _others_alike(key: Key, type_: int) -> Iterator[Sql]:
    """Yield the statements that find documents by the other members of the key."""
    if len(key) < 2:
        return
    for path in [path for path, value in key.items() if isinstance(value, str)][:_MOST_LEFT_OUT]:
        example = body_of({other: value for other, value in key.items() if other != path})
        text = json_text.dumps({str(type_): example}).decode()
        yield _BY_OTHERS.with_values(example=text, most=_MOST_READ)


def body_of(key: Key) -> dict[str, Any]:
    """The smallest body with this key, or this part of one."""
    body: dict[str, Any] = {}
    for path, value in key.items():
        put_value(body, path.steps, value)
    return body


def _key_of(resource: Resource, body: dict[str, Any]) -> dict[JsonPath, Any]:
    return {path: next((value for _, value in values_at(body, path.steps)), None) for path in resource.identity}


def _look_equal(one: Key, other: Key) -> bool:
    return all(_folded(one.get(path)) == _folded(value) for path, value in other.items())


def _folded(value: Any) -> Any:
    return folded(value) if isinstance(value, str) else value
