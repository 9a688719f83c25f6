"""A transaction whose broken constraints become errors of the management API."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.db import IntegrityError, connection, transaction
from psycopg import errors as postgres

from .problems import Refusal


@contextmanager
def written(refusals: Mapping[str, Refusal] | None = None) -> Iterator[None]:
    """Deferred constraints are checked at its end. A broken one raises the Refusal of its name, or IntegrityError."""
    try:
        with transaction.atomic():
            yield
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    except IntegrityError as error:
        cause = error.__cause__
        name = cause.diag.constraint_name if isinstance(cause, postgres.IntegrityError) else None
        refusal = (refusals or {}).get(name or "")
        if refusal is None:
            raise
        # A new one: exceptions of concurrent requests must not share their tracebacks.
        raise Refusal(refusal.problem) from error
