"""Whether the migrations applied to a database are those of this version.

Django records applied migrations only by name. After each `migrate` the digests of their texts are recorded; they are
compared before the next one, and for the health of the server.
"""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from edfi_api.core.data_stores.provisioning_state import is_of_development

# App label and name, as Django has them.
Migration = tuple[str, str]

_TOP = Path(__file__).parents[3]
_TABLE = "migration_digest"
# How a migration names the SQL that it runs, which is in the folder `sql` beside that of migrations.
_SQL_FILE = re.compile(r'"(\w+\.sql)"')

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


@cache
def _digests() -> dict[Migration, str]:
    """Return the SHA-256 of the module and the SQL of each migration of this project's apps, without those of
    libraries.
    """
    folders = {config.label: Path(config.path) for config in apps.get_app_configs() if _is_ours(config.name)}
    return {
        (label, module.stem): _digest(module.read_text(), folder / "sql")
        for label, folder in folders.items()
        for module in folder.glob("migrations/[0-9]*.py")
    }


def _digest(module: str, folder: Path) -> str:
    texts = [module, *((folder / name).read_text() for name in _SQL_FILE.findall(module))]
    return sha256("\0".join(texts).encode()).hexdigest()


def _is_ours(package: str) -> bool:
    return _TOP.joinpath(*package.split(".")).is_dir()


def _applied(connection: BaseDatabaseWrapper) -> set[Migration]:
    return set(MigrationRecorder(connection).applied_migrations())


def _recorded(connection: BaseDatabaseWrapper) -> dict[Migration, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name, digest FROM migration_digest")
        return {(app, name): digest for app, name, digest in cursor.fetchall()}
