"""The audit log: who was denied what, and who changed what clients may do.

One line a happening on the logger `meadowlark.audit`, as `key=value` in the message and as fields of the record, so
that logs in JSON have them by name. Correlation ids are added by the logging itself. Secrets, tokens, query strings
and bodies are never handed over, nor what is a part of them: documents go by their ids, not by their keys, which have
the ids of persons.
"""

import json
import logging
import re

_log = logging.getLogger("meadowlark.audit")
# What can stand in a line without quotes; anything else is quoted, so that nobody can forge a field or a line.
_PLAIN = re.compile(r"[\w.:/@+~-]+", re.ASCII)


def denied(**facts: object) -> None:
    """A request was refused because of who sent it, or how often."""
    _write(logging.WARNING, "denied", facts)


def administered(event: str, /, **facts: object) -> None:
    """Somebody changed who may do what: `client created` and the like."""
    _write(logging.INFO, event, facts)


def _write(level: int, event: str, facts: dict[str, object]) -> None:
    known = {"event": event} | {name: fact for name, fact in facts.items() if fact is not None}
    _log.log(level, " ".join(f"{name}={_text(fact)}" for name, fact in known.items()), extra=known)


def _text(fact: object) -> str:
    text = str(fact)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
