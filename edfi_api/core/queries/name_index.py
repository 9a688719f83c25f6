"""The index of the words of names, by which the admin finds persons, organizations and all else that has a name.

It has the documents of resources that are named only, so writes of all others cost what they did. It is built when the
tables are there: `migrate`, `index_names` and `housekeeping` do so without blocking writers. Which members are names
depends on the model, so another model gets another index, and the former one is dropped when that is built.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property

from django.db import connections, transaction

from edfi_api.core.documents.securables import SecurableKind, groups, is_person
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import fetch_in_time
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.model.surface.resource import JsonPath, QueryType, Resource, ResourceName

_NAME = re.compile(r"(?:^|[a-z])(?:[nN]ame|[sS]urname|[tT]itle)(?:OfInstitution)?$")
_PREFIX = "document_names_"
_PEOPLE = {SecurableKind.STUDENT, SecurableKind.CONTACT, SecurableKind.STAFF}
_INSTALLED = """
SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = 'document'::regclass AND starts_with(c.relname, %s)
 ORDER BY 1
"""
_IS_USABLE = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


def name_members(resource: Resource) -> list[str]:
    """Return the members at the root that are names, those that are no part of the key too."""
    return [path.steps[0] for path in _root_texts(resource) if _NAME.search(path.steps[0])]


@dataclass(frozen=True, slots=True)
class NamedResources:
    """The resources of a surface whose documents are found by their names: persons, organizations, and others; and the
    members with their names, numbers and codes."""

    people: tuple[ResourceName, ...]
    organizations: tuple[ResourceName, ...]
    others: tuple[ResourceName, ...]
    members: tuple[str, ...]

    def index(self, using: str) -> "NameIndex":
        """Return the index of these resources in a database."""
        return NameIndex(
            self.members, tuple(sorted(numbers_of([*self.people, *self.organizations, *self.others], using)))
        )


@dataclass(frozen=True)
class NameIndex:
    """The index of some members, and of the numbers that resources have in a database."""

    members: tuple[str, ...]
    numbers: tuple[int, ...]

    @cached_property
    def words(self) -> str:
        """The indexed expression, as it stands in queries too. Members are plain names (see `JsonPath`)."""
        values = ", ".join(f"body ->> '{member}'" for member in self.members)
        return f"name_words(resource_type_id, folded(ARRAY[{values}]))"

    @cached_property
    def condition(self) -> str:
        """Which documents the index has, as it stands in queries too."""
        return f"resource_type_id IN ({', '.join(map(str, self.numbers))})"

    @cached_property
    def name(self) -> str:
        """The name of the index, another one for other members or numbers."""
        return _PREFIX + hashlib.sha256(f"{self.words} {self.condition}".encode()).hexdigest()[:12]

    def is_usable(self, using: str) -> bool:
        """Return whether the index is there, and whole."""
        with connections[using].cursor() as cursor:
            return bool(cursor.execute(_IS_USABLE, [self.name]).fetchone() == (True,))


@cache
def named_resources() -> NamedResources:
    """Return what of the served surface is found by names.

    Documents about a person other than themselves are not: the titles of courses in the transcripts of students, for
    example, are the names of courses.
    """
    named = [
        each
        for each in current_surface().resources
        if name_members(each) and (is_person(each) or not _is_about_a_person(each))
    ]
    return NamedResources(
        people=tuple(each.name for each in named if is_person(each)),
        organizations=tuple(each.name for each in named if each.organization is not None),
        others=tuple(each.name for each in named if not is_person(each) and each.organization is None),
        members=tuple(sorted({member for each in named for member in [*name_members(each), *_key_members(each)]})),
    )


@cache
def _names_of_organizations() -> tuple[str, ...]:
    """Return the members with the names that the organizations of the served surface have to have."""
    by_name, organizations = current_surface().by_name, named_resources().organizations
    found = (member for name in organizations for member in _required_names(by_name[name]))
    return tuple(sorted(set(found)))


def _required_names(resource: Resource) -> list[str]:
    required = resource.json_schema.get("required", ())
    return [member for member in name_members(resource) if member in required]


def organization_name(body: str) -> str:
    """Return the SQL of the name of an organization, whose body is this column; NULL if the model has none."""
    names = [f"{body} ->> '{member}'" for member in _names_of_organizations()]
    return f"coalesce({', '.join([*names, 'NULL::text'])})"


def numbers_of(names: Iterable[ResourceName], using: str) -> set[int]:
    """Return the numbers that resources have in a database, as far as it knows them."""
    numbers = resource_types.numbers(using)
    return {numbers[name] for name in names if name in numbers}


def synchronize(using: str) -> str:
    """Build the index of a database if it is not there, outside of transactions, and drop those of other models; return
    what was done, an empty text for nothing. What an interrupted build has left is built again."""
    index = named_resources().index(using)
    if not index.numbers:
        return ""
    with connections[using].cursor() as cursor:
        there = dict(cursor.execute(_INSTALLED, [_PREFIX]).fetchall())
        is_there = bool(there.get(index.name))
        if not is_there:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}")
            cursor.execute(
                f"CREATE INDEX CONCURRENTLY {index.name} ON document USING gin (({index.words}))"
                f" WITH (gin_pending_list_limit = 256) WHERE {index.condition}"
            )
            cursor.execute(f"COMMENT ON INDEX {index.name} IS 'Documents by the words of their names: the admin.'")
        for name in there.keys() - {index.name}:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    return "" if is_there else f"{index.name} built"


def _is_about_a_person(resource: Resource) -> bool:
    return any(element.kind in _PEOPLE for group in groups(resource) for element in group)


def _key_members(resource: Resource) -> Iterator[str]:
    """The numbers and codes of the key, which stand next to names, but not namespaces."""
    spaces = set(resource.securable_elements.namespace)
    types = {path: field.type for field in resource.query_fields for path in field.paths}
    for path in resource.identity:
        if len(path.steps) == 1 and path not in spaces and types.get(path) in {QueryType.STRING, QueryType.NUMBER}:
            yield path.steps[0]


def _root_texts(resource: Resource) -> Iterator[JsonPath]:
    for field in resource.query_fields:
        if field.type is QueryType.STRING:
            yield from (path for path in field.paths if len(path.steps) == 1)


# `greene, ada`, `Ada Gre` and `GREENE` find Ada Greene; `o'brien`, `obrien` and `o brien` find O'Brien. The words of a
# search are made by the function of SQL that makes those of the index, so the two cannot differ.

_MOST_CHARACTERS = 200
_MOST_WORDS = 8
# Beginnings of one or two letters may be those of every tenth word of millions; then whole words have to do.
_MILLISECONDS = 150
_NO_NUMBER = 0
_WORDS = """
SELECT tsvector_to_array(name_words(%s::smallint, folded(ARRAY[written])))
  FROM unnest(%s::text[]) WITH ORDINALITY AS given (written, place)
 ORDER BY place
"""
# The words that a word of a search stands for: `o'brien` for `o` and `brien`, or for `obrien`.
Word = tuple[tuple[str, ...], ...]


def words_of(text: str, using: str) -> list[Word]:
    """Return the words of a text as the index has them; none of a text without letters and digits."""
    written = text.replace("\0", " ")[:_MOST_CHARACTERS].split()[:_MOST_WORDS]
    with connections[using].cursor() as cursor:
        rows = cursor.execute(_WORDS, [_NO_NUMBER, written]).fetchall()
    lexemes = ([each.removeprefix(f"{_NO_NUMBER}:") for each in row] for (row,) in rows)
    return [_word(sorted(filter(None, found), key=len)) for found in lexemes if any(found)]


@dataclass(frozen=True, slots=True)
class FoundNames:
    """The ids of documents; `are_too_many` if there are more than could be found in time."""

    rows: list[int]
    are_too_many: bool = False


def find(index: NameIndex, words: Sequence[Word], numbers: Collection[int], most: int, using: str) -> FoundNames:
    """Return documents of the resources with these numbers that have all of the words, at most `most`: those with whole
    words first, then those in which each word begins one. The index must be usable."""
    searched = sorted(set(numbers) & set(index.numbers))
    if not words or not searched:
        return FoundNames([])
    found = _rows(statement_of(index, words, searched, "", most), using)
    if found is not None and len(found) >= most:
        return FoundNames(found)
    beginning = _rows(statement_of(index, words, searched, ":*", most), using)
    rows = dict.fromkeys([*(found or ()), *(beginning or ())])
    return FoundNames(list(rows)[:most], are_too_many=beginning is None)


def statement_of(index: NameIndex, words: Sequence[Word], numbers: Iterable[int], ending: str, most: int) -> Sql:
    """Return the query of ids of documents with the words, or with `:*` as the ending with beginnings of words."""
    has_words = f"{index.condition} AND {index.words} @@ %(query)s::tsquery"
    return Sql(f"SELECT id FROM document WHERE {has_words} LIMIT {most:d}", {"query": _query(numbers, words, ending)})  # noqa: S608  No values.


def having_words(column: str, words: Sequence[Word]) -> Sql:
    """Return the condition that a text in a small table, which needs no index, has words that begin so."""
    query = _query([_NO_NUMBER], words, ":*")
    condition = f"name_words({_NO_NUMBER}::smallint, folded(ARRAY[{column}])) @@ %(words)s::tsquery"
    return Sql(condition, {"words": query})


@contextmanager
def by_bitmaps(using: str) -> Iterator[None]:
    """A transaction, or a savepoint of the caller's, whose queries use indexes of words and values: PostgreSQL, which
    cannot know how many documents have a beginning of a word, could read them one by one in the order of another."""
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute("SET LOCAL enable_indexscan = off")
        yield
        cursor.execute("SET LOCAL enable_indexscan = on")


def _word(lexemes: Sequence[str]) -> Word:
    """Return what the lexemes, the longest last, stand for. If that is as long as all others, they are its parts."""
    *parts, longest = lexemes
    is_joined = parts and len(longest) == sum(map(len, parts))
    return ((longest,), tuple(parts)) if is_joined else (tuple(lexemes),)


def _rows(statement: Sql, using: str) -> list[int] | None:
    with by_bitmaps(using):
        found = fetch_in_time(statement, _MILLISECONDS, using)
    return None if found is None else [row for (row,) in found]


def _query(numbers: Iterable[int], words: Sequence[Word], ending: str) -> str:
    return " | ".join(f"({' & '.join(_one_of(number, word, ending) for word in words)})" for number in numbers)


def _one_of(number: int, word: Word, ending: str) -> str:
    return f"({' | '.join(_all_of(number, lexemes, ending) for lexemes in word)})"


def _all_of(number: int, lexemes: Iterable[str], ending: str) -> str:
    return f"({' & '.join(_lexeme(number, each, ending) for each in lexemes)})"


def _lexeme(number: int, word: str, ending: str) -> str:
    quoted = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{number}:{quoted}'{ending}"
