"""A role for an analyst: with a password, and with settings for queries that read much and write nothing."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from urllib.parse import quote

from django.db import connections
from django.db.utils import ProgrammingError
from psycopg import errors, sql

from edfi_api.features.sql_views.changes import Changes, ViewsNotInstalled

# The planner knows little about values in JSON, and expects one row where there are thousands. A nested loop is right
# only if that is true, and takes minutes if not; a hash join takes the time of reading both sides once.
_SETTINGS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "10min",
    "idle_in_transaction_session_timeout": "1min",
    "work_mem": "64MB",
    "enable_nestloop": "off",
}
_CREATE = "CREATE ROLE {} LOGIN CONNECTION LIMIT 10 PASSWORD {}"


@dataclass(frozen=True, slots=True)
class NewReader:
    """A role to be made, with a password that is shown once."""

    name: str
    password: str = field(default_factory=lambda: secrets.token_urlsafe(18), repr=False)

    def create(self, changes: Changes) -> None:
        """Make the role, in the transaction that makes the views. PostgreSQL is sent the hash of the password alone.

        Raises ViewsNotInstalled if the role exists, or may not be created from here.
        """
        try:
            for statement in self._statements(changes.using):
                changes.execute(statement)
        except ProgrammingError as error:
            match error.__cause__:
                case errors.DuplicateObject():
                    reasons = [f"there is a role {self.name} already; --reader {self.name} lets it read the views"]
                case errors.InsufficientPrivilege():
                    reasons = [
                        "roles may not be created from here; have an administrator execute this, then use"
                        f" --reader {self.name}:",
                        *(f"{statement};" for statement in self._statements(changes.using)),
                        f"The password is {self.password}",
                    ]
                case _:
                    raise
            raise ViewsNotInstalled(*reasons) from error

    def address(self, using: str) -> str:
        """What any client of PostgreSQL connects with."""
        connection = connections[using]
        connection.ensure_connection()
        info = connection.connection.info
        user = f"{quote(self.name, safe='')}:{self.password}"
        database = quote(info.dbname, safe="")
        if info.host.startswith("/"):
            return f"postgresql://{user}@/{database}?host={quote(info.host)}"
        return f"postgresql://{user}@{info.host}:{info.port}/{database}"

    def _statements(self, using: str) -> list[str]:
        name = sql.Identifier(self.name).as_string(None)
        hashed = connections[using].connection.pgconn.encrypt_password(
            self.password.encode(), self.name.encode(), b"scram-sha-256"
        )
        settings = (f"ALTER ROLE {name} SET {setting} = '{value}'" for setting, value in _SETTINGS.items())
        return [_CREATE.format(name, sql.Literal(hashed.decode()).as_string(None)), *settings]
