"""The audit log: requests that were denied, and changes of what clients may do.

One line of facts for each event, on the logger `meadowlark.audit`. Callers never pass secrets, tokens, query strings or
bodies, nor parts of them: documents are identified by id, not by natural key, which may contain ids of persons.
"""

import logging

from django.db import connection

from edfi_api.common.logs.printable import log_facts

# Statuses of refusals that depend on the client.
DENIALS = frozenset({401, 403, 429})

# Longer than any path that is served; a client without a token can send 4,000 characters.
_LONGEST_PATH = 200

_log = logging.getLogger("meadowlark.audit")


def log_denial(*, path: str | None = None, **facts: object) -> None:
    """Log a request that was refused for lack of authentication, authorization, or for its rate."""
    shown = path if path is None or len(path) <= _LONGEST_PATH else f"{path[:_LONGEST_PATH]}..."
    log_facts(_log, logging.WARNING, {"event": "denied", "path": shown, **facts})


def log_change(event: str, /, **facts: object) -> None:
    """Log a change of clients or their permissions: `client created` and the like."""
    log_facts(_log, logging.INFO, {"event": event, **facts})


# A trigger (edfi_api/core/data_stores/sql/triggers.sql) fills them with what is named here, or `command`.


def attribute_to(by: str) -> None:
    """Name the user or client for the rest of this transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('meadowlark.writer', %s, true)", [by])
