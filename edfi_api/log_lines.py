"""Log lines of facts: `name=value` in the message, and fields of the record, so that logs in JSON have them by name."""

import json
import logging
import re
from collections.abc import Mapping

# What can stand in a line without quotes; anything else is quoted, so that nobody can forge a field or a line.
_PLAIN = re.compile(r"[\w.:/@+~-]+", re.ASCII)


def write(log: logging.Logger, level: int, facts: Mapping[str, object]) -> None:
    """Facts that are None are left out. The correlation id is added by the logging itself."""
    known = {name: fact for name, fact in facts.items() if fact is not None}
    log.log(level, " ".join(f"{name}={_text(fact)}" for name, fact in known.items()), extra=known)


def _text(fact: object) -> str:
    text = str(fact)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
