"""Untrusted text for terminals and logs: without what a terminal would interpret or cannot show, and counts; log lines
of facts, `name=value` pairs in the message, and fields of the record for JSON logs."""

import json
import logging
import re
from collections.abc import Mapping

_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_printable(text: str) -> bool:
    """Return whether the text has nothing to escape."""
    return _NOT_PRINTABLE.search(text) is None


def printable(text: object) -> str:
    """`str(text)` on one line, with escapes for characters that cannot be printed."""
    return _NOT_PRINTABLE.sub(lambda found: ascii(found[0])[1:-1], str(text))


def counted(number: int, noun: str) -> str:
    """`1 file`, `2,000 files`. The noun is in the singular, with a regular plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# Values that need no quotes; all others are quoted, so that input cannot forge a field or a line.
_PLAIN = re.compile(r"[\w.:/@+~-]+", re.ASCII)


def log_facts(log: logging.Logger, level: int, facts: Mapping[str, object]) -> None:
    """Write a line; facts that are None are omitted. The logging configuration adds the correlation id."""
    known = {name: fact for name, fact in facts.items() if fact is not None}
    log.log(level, " ".join(f"{name}={_text(fact)}" for name, fact in known.items()), extra=known)


def _text(fact: object) -> str:
    text = str(fact)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
