"""Text of one file → syntax trees, one for each declaration, and the places where the text breaks the grammar, which
are explained in the phrases of the language: the text found, and the phrases that the grammar allows.

A declaration always begins with a phrase that occurs nowhere else, so the tokens of a file are first split there and
each piece is parsed separately: an error in one declaration does not hide errors in the next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import cast

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedToken
from lark.lexer import PatternRE, PatternStr, TerminalDef
from lark.parsers.lalr_interactive_parser import InteractiveParser

from edfi_api.model.metaed.errors import Problem
from edfi_api.model.metaed.model import SourceLocation

Statement = Tree[Token]
GRAMMAR_FILE = Path(__file__).with_name("grammar.lark")
BLANKS = r"[ \t\r\n]+"
END_OF_WORD = r"(?![A-Za-z0-9_])"
PHRASES_BEFORE_A_NAME = ("based on", "named", "renames identity property", "role name", "shorten to", "with context")
NAME_FORM = "a name has only letters and digits, and begins with an upper-case letter"
END = "$END"
TERMS = {
    "NAME": "a name",
    "TEXT": "a text in quotation marks",
    "INTEGER": "a number",
    "DECIMAL": "a number with decimals",
    END: "the end of the declaration",
}
COMPLAINTS = {
    END: "the declaration ends too early",
    "UNCLOSED_TEXT": "the text that begins here has no closing quotation mark",
    "WRONG_NUMBER": "not a number: at most 18 digits, no zeros in front",
}
NEWER_WORDS = {"with context": "role name"}
WRONG_QUOTATION_MARKS = frozenset("'`\u2018\u2019\u201c\u201d")
LONGEST_QUOTE = 40
LONGEST_PHRASE = 80
# Never suggested: phrases that are accepted only from old files, and signs of numbers.
NOT_ADVISED = frozenset(
    {
        "_METAED_ID",
        "SIGN",
        "WORD",
        "is queryable field",
        "is queryable only",
        "is sensitive data",
        "is weak",
        "possibly external",
        "with context",
        "with map type",
        "with optional map type",
    }
)
# Only these are reported as misplaced; a misplaced type of property more likely follows from an error before it.
CLAUSES = frozenset(
    {
        "allow primary key updates",
        "decimal places",
        "deprecated",
        "documentation",
        "is optional",
        "is optional collection",
        "is part of identity",
        "is queryable field",
        "is required",
        "is required collection",
        "max length",
        "max value",
        "merge",
        "min length",
        "min value",
        "renames identity property",
        "role name",
        "shorten to",
        "total digits",
        "with context",
    }
)


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
    """Return whether a reserved word such as `Domain` is used as a name: `domain entity Domain`."""
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
    """Return whether a quotation mark touches a word outside the text: one is missing or too many."""
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


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The phrases of the grammar by terminal name, and the terminals that begin a declaration or a property."""

    phrases: Mapping[str, str]
    declaration_openers: frozenset[str]
    property_types: frozenset[str]

    def terminals_of(self, phrases: Collection[str]) -> frozenset[str]:
        return frozenset(terminal for terminal, phrase in self.phrases.items() if phrase in phrases)


@dataclass(frozen=True, slots=True)
class RefusedToken:
    """The refused token (END: the declaration ends too early), the one before it, and the possible terminals."""

    found: Token
    previous: Token | None
    accepted: frozenset[str]
    vocabulary: Vocabulary


def explain(refusal: RefusedToken, file: str, text: str) -> Problem:
    expected = _expectations(refusal)
    message = _complaint(refusal, text)
    if expected:
        message = f"{message}; expected {_enumeration(expected)}"
    return Problem(_place(refusal.found, file), message, expected=expected)


def _place(token: Token, file: str) -> SourceLocation:
    """The place of the token; the end of a declaration is just after its last token."""
    line, column = (token.end_line, token.end_column) if token.type == END else (token.line, token.column)
    return SourceLocation(file, line or 1, column or 1)


def _expectations(refusal: RefusedToken) -> tuple[str, ...]:
    """Names and texts first, phrases in alphabetical order; the many property types are one entry."""
    vocabulary = refusal.vocabulary
    grouped: set[str] = set()
    terminals = set(refusal.accepted)
    if vocabulary.declaration_openers <= terminals:
        terminals -= vocabulary.declaration_openers
        grouped.add("a declaration")
    if vocabulary.property_types <= terminals:
        terminals -= vocabulary.property_types
        grouped.add("a property")
    terms = {TERMS[terminal] for terminal in terminals if terminal in TERMS}
    phrases = {vocabulary.phrases[terminal] for terminal in terminals if terminal in vocabulary.phrases}
    return (*sorted(terms | grouped), *(f"'{phrase}'" for phrase in sorted(phrases - NOT_ADVISED)))


def _enumeration(expected: tuple[str, ...]) -> str:
    *others, last = expected
    return f"{', '.join(others)} or {last}" if others else last


def _complaint(refusal: RefusedToken, text: str) -> str:
    token = refusal.found
    phrase = refusal.vocabulary.phrases.get(token.type)
    if phrase is not None:
        return _phrase_complaint(phrase, refusal, text)
    if token.type in COMPLAINTS:
        return COMPLAINTS[token.type]
    unexpected = f"unexpected {_shortened(token)}"
    if "NAME" in refusal.accepted and refusal.accepted <= {"NAME", "WORD", "DOT"}:
        return unexpected + (_declaration_hint(refusal, text) or f"{_name_hint(token)}: {NAME_FORM}")
    return unexpected + (_quotation_hint(refusal) or _spelling_hint(refusal, text))


def _phrase_complaint(phrase: str, refusal: RefusedToken, text: str) -> str:
    if "NAME" in refusal.accepted and phrase[0].isupper():
        return f"'{phrase}' is a reserved word and cannot be a name"
    if phrase in CLAUSES:
        newer = f" (now '{NEWER_WORDS[phrase]}')" if phrase in NEWER_WORDS else ""
        return f"'{phrase}'{newer} cannot stand here: clauses have a fixed order, and each stands once at most"
    return f"unexpected '{phrase}'{_spelling_hint(refusal, text)}"


def _shortened(token: Token) -> str:
    if token.type == "TEXT":
        return "text"
    return f"'{token}'" if len(token) <= LONGEST_QUOTE else f"'{token[:LONGEST_QUOTE]}…'"


def _quotation_hint(refusal: RefusedToken) -> str:
    """A quotation mark next to a word mostly means that an earlier one is missing."""
    previous, found = refusal.previous, refusal.found
    if "TEXT" in refusal.accepted and found[:1] in WRONG_QUOTATION_MARKS:
        return ' (texts stand in double quotation marks: "…")'
    if previous is None or previous.end_pos != found.start_pos or "TEXT" not in (previous.type, found.type):
        return ""
    return " next to a quotation mark (is one missing further up? inside a text it is written twice)"


def _spelling_hint(refusal: RefusedToken, text: str) -> str:
    """Suggest the phrase that is most similar to the words from here on."""
    words = _words_from(refusal.found, text)
    phrases = refusal.vocabulary.phrases
    candidates = {phrases[terminal] for terminal in refusal.accepted if terminal in phrases} - NOT_ADVISED
    likeness, phrase = max(((_likeness(words, phrase), phrase) for phrase in sorted(candidates)), default=(0.0, ""))
    return f" (did you mean '{phrase}'?)" if likeness >= 0.8 else ""


def _declaration_hint(refusal: RefusedToken, text: str) -> str:
    """Suggest the longer phrase that the last token and this one form in the right case: `Domain Entity`."""
    previous, vocabulary = refusal.previous, refusal.vocabulary
    if previous is None or previous.type not in vocabulary.declaration_openers:
        return ""
    words = _words_from(previous, text)
    longer = sorted(phrase for phrase in map(vocabulary.phrases.get, vocabulary.declaration_openers) if phrase)
    phrase = next((p for p in longer if len(p) > len(previous) and _likeness(words, p) == 1), None)
    return f" (did you mean '{phrase}'?)" if phrase else ""


def _name_hint(token: Token) -> str:
    return f" (did you mean '{token[0].upper()}{token[1:]}'?)" if token.type == "WORD" else ""


def _words_from(token: Token, text: str) -> list[str]:
    """The words of the token's line from the token on."""
    start = token.start_pos or 0
    return text[start : start + LONGEST_PHRASE].split("\n", 1)[0].split()


def _likeness(words: list[str], phrase: str) -> float:
    written = " ".join(words[: len(phrase.split())]).casefold()
    return SequenceMatcher(None, written, phrase.casefold()).ratio()
