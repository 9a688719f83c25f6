"""Which database has which tables, and whether it has all migrations that this version needs; migrations of a newer one
do no harm."""

from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from edfi_api.core.data_stores.exceptions import NotProvisioned
from edfi_api.core.storage.database_state import database_state

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


@cache
def needed_migrations() -> frozenset[Migration]:
    """App and name of every migration of the data apps."""
    loader = MigrationLoader(None)
    return frozenset(key for key in loader.disk_migrations if key[0] in DATA_APPS)


def is_of_development(using: str) -> bool:
    """Whether a version before 1.0.0 has made the tables."""
    return _FIRST_OF_DEVELOPMENT in MigrationRecorder(connections[using]).applied_migrations()


def pending_migrations(using: str) -> set[Migration]:
    """Return the migrations that the database lacks."""
    return set(needed_migrations()) - set(MigrationRecorder(connections[using]).applied_migrations())


class Pending:
    """How many migrations a database lacked when this process looked last; None before."""

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
