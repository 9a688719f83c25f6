"""Whether the migrations applied to a database are those of this version.

Django records applied migrations only by name. After each `migrate` the digests of their texts are recorded; they are
compared before the next one, and for the health of the server. A database of an earlier version has no digests: there
the columns and functions that the migrations create are checked instead.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# App label and name, as Django has them.
Migration = tuple[str, str]

_TOP = Path(__file__).parents[3]
_TABLE = "migration_digest"
_CREATED_OR_DROPPED = re.compile(r"^CREATE (?:OR REPLACE )?FUNCTION (\w+)|^DROP FUNCTION ([^;]+);", re.MULTILINE)
_NAME = re.compile(r"\w+")

_FORGET = """
    DELETE FROM migration_digest AS d
     WHERE NOT EXISTS (SELECT FROM django_migrations AS m WHERE m.app = d.app AND m.name = d.name)
"""
# An existing digest is that of the text that was applied, so it is kept.
_RECORD = """
    INSERT INTO migration_digest (app, name, digest)
    SELECT DISTINCT app, name, digest
      FROM unnest(%s::text[], %s::text[], %s::text[]) AS ours (app, name, digest)
      JOIN django_migrations USING (app, name)
        ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True)
class Text:
    """The text of a migration: its module, and the SQL that it runs."""

    module: str
    sql: str

    @property
    def digest(self) -> str:
        return sha256(f"{self.module}\0{self.sql}".encode()).hexdigest()


def record(using: str, **_: Any) -> None:
    """Record the digests of the applied migrations; a receiver of `post_migrate`."""
    connection = connections[using]
    if _TABLE not in connection.introspection.table_names():
        return
    ours = [(app, name, text.digest) for (app, name), text in _ours().items()]
    with connection.cursor() as cursor:
        cursor.execute(_FORGET)
        cursor.execute(_RECORD, [list(column) for column in zip(*ours, strict=True)])


def changed(using: str) -> list[str]:
    """The names of migrations that were applied with another text than this version's; in a database without digests,
    the functions and columns that differ."""
    connection = connections[using]
    applied = _applied(connection)
    if _TABLE not in connection.introspection.table_names():
        return [*_functions_of_other_text(connection, applied), *_missing_columns(connection, applied)]
    recorded, ours = _recorded(connection), _ours()
    differing = {key for key in recorded.keys() & ours.keys() & applied if recorded[key] != ours[key].digest}
    return sorted(".".join(key) for key in differing)


def unknown(using: str) -> list[str]:
    """The names of applied migrations that this version does not have: a newer version applied them."""
    connection = connections[using]
    ours = _ours().keys()
    labels = {app for app, _ in ours}
    return sorted(".".join(key) for key in _applied(connection) - ours if key[0] in labels)


@cache
def _ours() -> dict[Migration, Text]:
    """The migrations of this project's apps, without those of libraries."""
    folders = {config.label: Path(config.path) for config in apps.get_app_configs() if _is_ours(config.name)}
    return {
        (label, module.stem): _read(module, folder / "sql" / f"{module.stem}.sql")
        for label, folder in folders.items()
        for module in folder.glob("migrations/[0-9]*.py")
    }


def _is_ours(package: str) -> bool:
    return _TOP.joinpath(*package.split(".")).is_dir()


def _read(module: Path, sql: Path) -> Text:
    return Text(module.read_text(), sql.read_text() if sql.exists() else "")


def _applied(connection: BaseDatabaseWrapper) -> set[Migration]:
    return set(MigrationRecorder(connection).applied_migrations())


def _recorded(connection: BaseDatabaseWrapper) -> dict[Migration, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name, digest FROM migration_digest")
        return {(app, name): digest for app, name, digest in cursor.fetchall()}


def _functions_of_other_text(connection: BaseDatabaseWrapper, applied: set[Migration]) -> list[str]:
    """Compared literally: PostgreSQL stores the bodies of functions verbatim."""
    texts = [ours.sql for key, ours in sorted(_ours().items()) if key in applied]
    text, names = "".join(texts), sorted(_present_functions(texts))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
            " AND proname = ANY (%s)",
            [names],
        )
        as_written = {name for name, body in cursor.fetchall() if body in text}
    return [f"function {name}" for name in names if name not in as_written]


def _present_functions(texts: Iterable[str]) -> set[str]:
    """The functions that these texts, in the order of their migrations, create and do not drop."""
    present: set[str] = set()
    for text in texts:
        for created, dropped in _CREATED_OR_DROPPED.findall(text):
            present = present | {created} if created else present.difference(_NAME.findall(dropped))
    return present


def _missing_columns(connection: BaseDatabaseWrapper, applied: set[Migration]) -> list[str]:
    loader = MigrationLoader(connection)
    models = loader.project_state([key for key in applied if key in loader.graph.nodes]).apps.get_models()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
        )
        present = set(cursor.fetchall())
    labels = {app for app, _ in _ours()}
    wanted = {
        (model._meta.db_table, field.column)
        for model in models
        if model._meta.app_label in labels
        for field in model._meta.local_concrete_fields
        if field.column  # A composite primary key has no column.
    }
    return sorted(f"column {table}.{column}" for table, column in wanted - present)
