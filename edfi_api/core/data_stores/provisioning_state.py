"""Which database has which tables, and whether it has all migrations that this version needs; migrations of a newer one
do no harm, unless they are named as those that take something away."""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from edfi_api.core.data_stores.exceptions import NotProvisioned
from edfi_api.core.storage.database_state import database_state
from edfi_api.version import VERSION

# The apps whose tables are in the database of every data store.
DATA_APPS = frozenset(
    {
        "references",
        "edfi_api",
        "change_queries",
        "change_stream",
        "descriptors",
        "exchange",
        "exchange_push",
        "ods_import",
        "sql_views",
        "validation",
    }
)

# Their models, with lower-case names, whose tables are in the admin database only.
_CONTROL_MODELS = frozenset({("exchange", "connection"), ("exchange", "connectionstate")})

Migration = tuple[str, str]

# The first migration of development versions, whose tables no version can serve or migrate.
_FIRST_OF_DEVELOPMENT = ("edfi_api", "0001_documents")
OF_DEVELOPMENT = (
    "A development version of Meadowlark has made the database. Export the documents with that version"
    " (manage.py export_documents --output DIR), and load them into a new database with this one"
    " (manage.py load_documents DIR); meadowlark/docs/operate/upgrades.md says how."
)

_TOP = Path(__file__).parents[3]
_TABLE = "migration_digest"
# The form in which a migration names the SQL that it runs, which is in the folder `sql` next to that of migrations.
_SQL_FILE = re.compile(r'"(\w+\.sql)"')

# The name of a migration that takes away what servers of a version, and of those before it, use: of
# `0012_contract_1_2_old_keys` those up to 1.2.
_CONTRACT = re.compile(r"\d+_contract_(\d+)_(\d+)(?:_|$)")
_OURS = tuple(int(part) for part in VERSION.split(".")[:2])

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


@cache
def needed_migrations() -> frozenset[Migration]:
    """App and name of every migration of the data apps."""
    loader = MigrationLoader(None)
    return frozenset(key for key in loader.disk_migrations if key[0] in DATA_APPS)


def is_of_development(using: str) -> bool:
    """Return whether a version before 1.0.0 has made the tables."""
    return _FIRST_OF_DEVELOPMENT in MigrationRecorder(connections[using]).applied_migrations()


def pending_migrations(using: str) -> set[Migration]:
    """Return the migrations that the database lacks."""
    return set(needed_migrations()) - set(MigrationRecorder(connections[using]).applied_migrations())


class Pending:
    """The number of migrations that a database lacked when this process looked last; None before."""

    def __init__(self, _using: str) -> None:
        self.number: int | None = None


class Provisioned:
    """A database that has them all; raises NotProvisioned for others."""

    def __init__(self, using: str) -> None:
        pending = len(pending_migrations(using))
        database_state(using).value(Pending).number = pending
        if pending:
            raise NotProvisioned


class DataStoreRouter:
    """The tables of documents lie in every database, all others in the admin database only. It does not choose a
    database for queries: statements name theirs."""

    def allow_migrate(self, db: str, app_label: str, model_name: str | None = None, **hints: Any) -> bool:
        is_of_documents = app_label in DATA_APPS and (app_label, model_name) not in _CONTROL_MODELS
        return db == DEFAULT_DB_ALIAS or is_of_documents


def record(using: str, **_: Any) -> None:
    """Record the digests of the applied migrations; a receiver of `post_migrate`."""
    connection = connections[using]
    if _TABLE not in connection.introspection.table_names():
        return
    ours = [(*key, digest) for key, digest in _digests().items()]
    with connection.cursor() as cursor:
        cursor.execute(_FORGET)
        cursor.execute(_RECORD, [list(column) for column in zip(*ours, strict=True)])


def changed(using: str) -> list[str]:
    """The names of migrations that were applied with another text than this version's."""
    connection = connections[using]
    if _TABLE not in connection.introspection.table_names():
        return []
    recorded, ours = _recorded(connection), _digests()
    differing = {key for key in recorded.keys() & ours.keys() & _applied(connection) if recorded[key] != ours[key]}
    return sorted(".".join(key) for key in differing)


def unknown(using: str) -> list[str]:
    """The names of applied migrations that this version does not have: a newer version applied them."""
    if is_of_development(using):
        return []
    ours = _digests().keys()
    labels = {app for app, _ in ours}
    return sorted(".".join(key) for key in _applied(connections[using]) - ours if key[0] in labels)


def contracted(using: str) -> list[str]:
    """The names of applied migrations of a newer version that have taken away what this version uses."""
    return [name for name in unknown(using) if _is_contract(name.partition(".")[2])]


def _is_contract(name: str) -> bool:
    found = _CONTRACT.match(name)
    return found is not None and tuple(map(int, found.groups())) >= _OURS


@cache
def _digests() -> dict[Migration, str]:
    """Return the SHA-256 of the module and the SQL of each migration of this project's apps, without those of
    libraries.
    """
    folders = {
        config.label: Path(config.path)
        for config in apps.get_app_configs()
        if _TOP.joinpath(*config.name.split(".")).is_dir()
    }
    return {
        (label, module.stem): _digest(module.read_text(), folder / "sql")
        for label, folder in folders.items()
        for module in folder.glob("migrations/[0-9]*.py")
    }


def _digest(module: str, folder: Path) -> str:
    texts = [module, *((folder / name).read_text() for name in _SQL_FILE.findall(module))]
    return sha256("\0".join(texts).encode()).hexdigest()


def _applied(connection: BaseDatabaseWrapper) -> set[Migration]:
    return set(MigrationRecorder(connection).applied_migrations())


def _recorded(connection: BaseDatabaseWrapper) -> dict[Migration, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name, digest FROM migration_digest")
        return {(app, name): digest for app, name, digest in cursor.fetchall()}
