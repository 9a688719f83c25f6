"""Text of one file → syntax trees, one for each declaration, and the places where the text breaks the grammar.

A declaration always begins with a phrase that occurs nowhere else, so the tokens of a file are first split there and
each piece is parsed separately: an error in one declaration does not hide errors in the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import cast

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedToken
from lark.lexer import PatternRE, PatternStr, TerminalDef
from lark.parsers.lalr_interactive_parser import InteractiveParser

from edfi_api.model.metaed.errors import Problem
from edfi_api.model.metaed.syntax_problems import END, WRONG_QUOTATION_MARKS, RefusedToken, Vocabulary, explain

Statement = Tree[Token]

GRAMMAR_FILE = Path(__file__).with_name("grammar.lark")
BLANKS = r"[ \t\r\n]+"
END_OF_WORD = r"(?![A-Za-z0-9_])"
PHRASES_BEFORE_A_NAME = ("based on", "named", "renames identity property", "role name", "shorten to", "with context")


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The statements of a file that follow the grammar, and a problem for each that does not.

    `broken_names` are the names that broken declarations seem to declare: a reference to one of them is not reported
    as another error.
    """

    file: str
    statements: tuple[Statement, ...]
    problems: tuple[Problem, ...]
    broken_names: frozenset[str]


def parse(file: str, text: str) -> ParsedFile:
    """`file` is only used for the places of problems."""
    grammar = _grammar()
    statements: list[Statement] = []
    problems: list[Problem] = []
    broken_names: set[str] = set()
    misquoted_line = None
    for tokens in _pieces(grammar, grammar.lark.lex(text)):
        if tokens[0].line == misquoted_line:
            # Words of a text in the wrong quotation marks, which begin no declaration.
            continue
        try:
            statements.append(_statement(grammar, tokens))
        except UnexpectedToken as refused:
            problems.append(explain(_refusal(grammar, tokens, refused.token), file, text))
            broken_names.update(token for token in tokens[1:4] if token.type == "NAME")
            if _has_quote_slip(tokens):
                # From here on text is taken for code and code for text, so further problems would be misleading.
                break
            if refused.token[:1] in WRONG_QUOTATION_MARKS:
                misquoted_line = refused.token.line
    return ParsedFile(file, tuple(statements), tuple(problems), frozenset(broken_names))


def _pieces(grammar: _Grammar, tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """The tokens of each declaration, with an end token; tokens before the first declaration are a piece, too."""
    piece: list[Token] = []
    for token in tokens:
        if token.type in grammar.openers and piece and not _stands_for_a_name(grammar, token, piece[-1]):
            yield _ended(piece)
            piece = []
        piece.append(token)
    if piece:
        yield _ended(piece)


def _stands_for_a_name(grammar: _Grammar, token: Token, previous: Token) -> bool:
    """Whether a reserved word such as `Domain` is used as a name: `domain entity Domain`."""
    return token.line == previous.line and previous.type in grammar.before_a_name


def _ended(piece: list[Token]) -> list[Token]:
    return [*piece, Token.new_borrow_pos(END, "", piece[-1])]


def _statement(grammar: _Grammar, tokens: list[Token]) -> Statement:
    """Raises UnexpectedToken."""
    parser = grammar.lark.parse_interactive(start="statement")
    result = None
    for token in tokens:
        result = parser.feed_token(token)
    return cast(Statement, result)


def _refusal(grammar: _Grammar, tokens: list[Token], refused: Token) -> RefusedToken:
    """The refusal with the terminals that were possible at the refused token.

    The parser can reduce rules before it detects that a token fits none, and then no longer has all possible terminals;
    so the tokens before the refused one are parsed again.
    """
    accepted = list(takewhile(lambda token: token is not refused, tokens))
    parser = grammar.lark.parse_interactive(start="statement")
    for token in accepted:
        parser.feed_token(token)
    return RefusedToken(refused, accepted[-1] if accepted else None, _possible_terminals(parser), grammar.vocabulary)


def _possible_terminals(parser: InteractiveParser) -> frozenset[str]:
    return frozenset(parser.accepts())  # type: ignore[no-untyped-call]


def _has_quote_slip(tokens: list[Token]) -> bool:
    """Whether a quotation mark touches a word outside the text: one is missing or too many."""
    adjacent = (pair for pair in pairwise(tokens) if "TEXT" in (pair[0].type, pair[1].type))
    return tokens[-2].type == "UNCLOSED_TEXT" or any(left.end_pos == right.start_pos for left, right in adjacent)


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The parser, and the terminals that begin a declaration or that only a name can follow."""

    lark: Lark
    vocabulary: Vocabulary
    openers: frozenset[str]
    before_a_name: frozenset[str]


@cache
def _grammar() -> _Grammar:
    """Built on first use: it takes a fifth of a second, which a start from a cached surface saves."""
    phrases: dict[str, str] = {}

    def spell(terminal: TerminalDef) -> None:
        """Allow any blanks between the words of a phrase, and give precedence to the longest of several phrases."""
        phrase = terminal.pattern.value
        if isinstance(terminal.pattern, PatternStr) and phrase[0].isalpha():
            phrases[terminal.name] = phrase
            terminal.pattern = PatternRE(BLANKS.join(phrase.split()) + END_OF_WORD)
            terminal.priority = len(phrase)

    lark = Lark(
        GRAMMAR_FILE.read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        start=["statement", "property", "stray"],
        edit_terminals=spell,
    )
    openers, property_types = _first_terminals(lark, "statement"), _first_terminals(lark, "property")
    vocabulary = Vocabulary(phrases, openers, property_types)
    before_a_name = openers | property_types | vocabulary.terminals_of(PHRASES_BEFORE_A_NAME) | {"DOT"}
    return _Grammar(lark, vocabulary, openers, before_a_name)


def _first_terminals(lark: Lark, rule: str) -> frozenset[str]:
    return _possible_terminals(lark.parse_interactive(start=rule))
