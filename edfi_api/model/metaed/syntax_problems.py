"""Explains syntax errors in the phrases of the language: the text found, and the phrases that the grammar allows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from lark import Token

from edfi_api.model.metaed.errors import Problem
from edfi_api.model.metaed.model import SourceLocation

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
    """Suggests the phrase that is most similar to the words from here on."""
    words = _words_from(refusal.found, text)
    phrases = refusal.vocabulary.phrases
    candidates = {phrases[terminal] for terminal in refusal.accepted if terminal in phrases} - NOT_ADVISED
    likeness, phrase = max(((_likeness(words, phrase), phrase) for phrase in sorted(candidates)), default=(0.0, ""))
    return f" (did you mean '{phrase}'?)" if likeness >= 0.8 else ""


def _declaration_hint(refusal: RefusedToken, text: str) -> str:
    """Suggests the longer phrase that the last token and this one form in the right case: `Domain Entity`."""
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
