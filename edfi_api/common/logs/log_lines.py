"""Structured log lines: `name=value` pairs in the message, and fields of the record for JSON logs."""

import json
import logging
import re
from collections.abc import Mapping

# Values that need no quotes; all others are quoted, so that input cannot forge a field or a line.
_PLAIN = re.compile(r"[\w.:/@+~-]+", re.ASCII)


def write(log: logging.Logger, level: int, facts: Mapping[str, object]) -> None:
    """Write a line; facts that are None are omitted. The logging configuration adds the correlation id."""
    known = {name: fact for name, fact in facts.items() if fact is not None}
    log.log(level, " ".join(f"{name}={_text(fact)}" for name, fact in known.items()), extra=known)


def _text(fact: object) -> str:
    text = str(fact)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
