"""Documents by the words of their names: whole words and beginnings of words, in any order, without case and accents.

`greene, ada`, `Ada Gre` and `GREENE` find Ada Greene; `o'brien`, `obrien` and `o brien` find O'Brien. The words of a
search are made by the function of SQL that makes those of the index, so the two cannot differ.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from django.db import connections, transaction

from edfi_api.core.queries.name_index import NameIndex
from edfi_api.core.storage.driver.execution import found_in_time
from edfi_api.core.storage.driver.sql import Sql

_MOST_CHARACTERS = 200
_MOST_WORDS = 8
# Beginnings of one or two letters may be those of every tenth word; then whole words have to do.
_MILLISECONDS = 60
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


def find(index: NameIndex, words: Sequence[Word], numbers: Collection[int], most: int, using: str) -> list[int]:
    """Return the ids of documents of the resources with these numbers that have all of the words, at most `most`: those
    with whole words first, then those in which each word begins one. The index must be usable."""
    searched = sorted(set(numbers) & set(index.numbers))
    if not words or not searched:
        return []
    found = _rows(statement_of(index, words, searched, "", most), using)
    if len(found) < most:
        found += _rows(statement_of(index, words, searched, ":*", most), using)
    return list(dict.fromkeys(found))[:most]


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


def _rows(statement: Sql, using: str) -> list[int]:
    with by_bitmaps(using):
        return [row for (row,) in found_in_time(statement, _MILLISECONDS, using)]


def _query(numbers: Iterable[int], words: Sequence[Word], ending: str) -> str:
    return " | ".join(f"({' & '.join(_one_of(number, word, ending) for word in words)})" for number in numbers)


def _one_of(number: int, word: Word, ending: str) -> str:
    return f"({' | '.join(_all_of(number, lexemes, ending) for lexemes in word)})"


def _all_of(number: int, lexemes: Iterable[str], ending: str) -> str:
    return f"({' & '.join(_lexeme(number, each, ending) for each in lexemes)})"


def _lexeme(number: int, word: str, ending: str) -> str:
    quoted = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{number}:{quoted}'{ending}"
