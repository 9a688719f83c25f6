"""The query of a rule → a statement that returns its violations, in psycopg's form."""

from collections.abc import Iterator, Mapping
from typing import Any

import sqlparse
from sqlparse import tokens
from sqlparse.lexer import tokenize

ROW_LIMIT = "row_limit"


class QueryFault(Exception):
    """What is wrong with the text of a query."""


def violations_statement(query: str, types: Mapping[str, str]) -> str:
    """The statement, with parameters `%(name)s` in place of `:name`; `%(row_limit)s` limits its rows.

    The query stands in FROM, where the syntax allows no change of data. Raises QueryFault.
    """
    if len([each for each in sqlparse.split(query) if each.strip(" \n\t;")]) != 1:
        raise QueryFault("has to be one query")
    pieces = list(_pieces(query, types))
    while pieces and not pieces[-1].strip(" \n\t;"):
        pieces.pop()
    return f"SELECT v.* FROM (\n{''.join(pieces)}\n) v LIMIT %({ROW_LIMIT})s::bigint"


def parameters_in(query: str) -> set[str]:
    """The names of the parameters that a query uses."""
    return {value[1:] for kind, value in _tokens(query) if _is_parameter(kind, value)}


def _pieces(query: str, types: Mapping[str, str]) -> Iterator[str]:
    for kind, value in _tokens(query):
        if not _is_parameter(kind, value):
            yield value.replace("%", "%%")
        elif value[1:] in types:
            yield f"(%({value[1:]})s::{types[value[1:]]})"
        else:
            raise QueryFault(f"there is no parameter {value}; declared are {', '.join(f':{name}' for name in types)}")


def _is_parameter(kind: object, value: str) -> bool:
    return kind is tokens.Name.Placeholder and value.startswith(":")


def _tokens(query: str) -> Iterator[tuple[Any, str]]:
    yield from tokenize(query)  # type: ignore[no-untyped-call]
