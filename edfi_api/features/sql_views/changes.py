"""What a run of the commands changes in a database: its statements, and the objects that they concern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connections
from django.db.utils import InternalError, OperationalError
from psycopg import errors, sql

from edfi_api.core.storage.driver.lock_turns import LocksNotFree, holders
from edfi_api.features.sql_views import catalog
from edfi_api.features.sql_views.catalog import Dependent
from edfi_api.features.sql_views.shape import qualified

# The lock under which the commands run: that of `exclusively("sql_view", ...)`.
LOCK = "hashtextextended('meadowlark sql_view', 0)"


class ViewsNotInstalled(Exception):
    """The views were not changed; the arguments are lines of text with the reasons."""


@contextmanager
def refusals(using: str) -> Iterator[None]:
    """Raises ViewsNotInstalled for a lock that is not free, a database that is read-only, and objects that others have
    built on what has to be dropped."""
    try:
        yield
    except LocksNotFree as error:
        raise ViewsNotInstalled(*error.args) from error
    except (OperationalError, InternalError) as error:
        match error.__cause__:
            case errors.LockNotAvailable():
                reason = ["a lock was not free", *holders(using)]
            case errors.ReadOnlySqlTransaction():
                reason = ["the database is read-only: views reach a replica from its primary"]
            case errors.DependentObjectsStillExist():
                reason = [str(error).strip()]
            case _:
                raise
        raise ViewsNotInstalled(*reason) from error


@dataclass(slots=True)
class Changes:
    """Executes statements and records them, with the names of the objects that are created, replaced and dropped.

    `drops_dependents` says whether what others have built on a view is dropped with it.
    """

    using: str
    drops_dependents: bool = False
    created: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    unchanged: int = 0
    statements: list[str] = field(default_factory=list)

    def execute(self, statement: str) -> None:
        """Run a statement that changes the schema."""
        self.statements.append(statement)
        self.run(statement)

    def run(self, statement: str, parameters: Sequence[Any] | None = None) -> None:
        """Run a statement that is not reported."""
        with connections[self.using].cursor() as cursor:
            cursor.execute(statement, parameters)

    def drop_views(self, names: Sequence[str]) -> None:
        """Drop views. Raises ViewsNotInstalled if others have built on them, unless that may be dropped, too."""
        built = catalog.dependents(self.using, names)
        if built and not self.drops_dependents:
            raise ViewsNotInstalled(*_explained(names, built))
        self.dropped += map(str, built)
        self.execute(f"DROP VIEW {', '.join(names)}{' CASCADE' if self.drops_dependents else ''}")

    def drop_empty_schemas(self, schemas: Iterable[str]) -> None:
        """Drop the schemas in which nothing is left; others may have objects in them."""
        for schema in schemas:
            if catalog.present(self.using, [schema]) == {(schema, "")}:
                self.execute(f"DROP SCHEMA {qualified(schema)}")

    def grant(self, privilege: str, on: str, role: str) -> None:
        """Grant a privilege to a role."""
        self.execute(f"GRANT {privilege} ON {on} TO {sql.Identifier(role).as_string(None)}")


def _explained(names: Iterable[str], built: Iterable[Dependent]) -> list[str]:
    shown = ", ".join(names).replace('"', "")
    return [
        f"others have built on views that have to be dropped, since their columns change ({shown}):",
        *map(str, built),
        "--drop-dependents drops them too",
    ]
