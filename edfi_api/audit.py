"""The audit log: who was denied what, and who changed what clients may do.

One line of facts for each happening on the logger `meadowlark.audit`. Secrets, tokens, query strings and bodies are
never handed over, nor what is a part of them: documents go by their ids, not by their keys, which have the ids of
persons.
"""

import logging

from edfi_api import log_lines

_log = logging.getLogger("meadowlark.audit")


def denied(**facts: object) -> None:
    """A request was refused because of who sent it, or how often."""
    log_lines.write(_log, logging.WARNING, {"event": "denied", **facts})


def administered(event: str, /, **facts: object) -> None:
    """Somebody changed who may do what: `client created` and the like."""
    log_lines.write(_log, logging.INFO, {"event": event, **facts})
