"""Creates, copies and drops the databases of data stores, as the user of their connection strings.

The functions raise Django's DatabaseError.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.db import connections

from edfi_api.conf import api_settings
from edfi_api.data_stores.databases import add_beside, remove
from edfi_api.data_stores.preparing import PREPARING
from edfi_api.data_stores.provisioning_state import needed_migrations


def create_database(using: str) -> bool:
    """Create the empty database that the alias leads to; False if it exists."""
    return _create(using, "template0")


def create_from_template(using: str, fill: Callable[[str], None]) -> bool:
    """Create the database that the alias leads to as a copy of one that `fill` has filled; False if it exists.

    The copied one is made once on each server for this version, standard and extensions, and accepts no connections.
    """
    connection = connections[using]
    template = f"meadowlark_template_{_fingerprint()}"
    with connection._nodb_cursor() as cursor:
        # Ends with this connection; others that need the same template wait until it is complete.
        cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING])
        if not _exists(cursor, template):
            _make_template(using, cursor, template, fill)
    return _create(using, template)


def copy_database(source: str, using: str) -> bool:
    """Create the database that the alias leads to as a copy of that of `source`, on the same server, which must have no
    connections; False if it exists."""
    connections[source].close()
    return _create(using, connections.settings[source]["NAME"])


def drop_database(using: str) -> None:
    """Drop the database that the alias leads to, if it exists, and end the sessions in it."""
    connection = connections[using]
    connection.close()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {_quoted(using)} WITH (FORCE)")


def is_on_the_same_server(one: str, other: str) -> bool:
    """Whether both connection strings have the same hosts and ports."""
    first, second = (connections.settings[using] for using in (one, other))
    return (first["HOST"], first["PORT"]) == (second["HOST"], second["PORT"])


def is_the_same(one: str, other: str) -> bool:
    """Whether both lead to a database of one name on one server, as far as their connection strings tell."""
    return (
        is_on_the_same_server(one, other) and connections.settings[one]["NAME"] == connections.settings[other]["NAME"]
    )


def _make_template(using: str, cursor: Any, template: str, fill: Callable[[str], None]) -> None:
    """It gets its name when it is complete."""
    quote = connections[using].ops.quote_name
    building = f"{template}_unfinished"
    cursor.execute(f"DROP DATABASE IF EXISTS {quote(building)} WITH (FORCE)")
    cursor.execute(f"CREATE DATABASE {quote(building)} ENCODING 'UTF8' TEMPLATE template0")
    alias = add_beside(using, building)
    try:
        fill(alias)
    finally:
        connections[alias].close()
        del connections[alias]
        remove(alias)
    cursor.execute(f"ALTER DATABASE {quote(building)} WITH ALLOW_CONNECTIONS false")
    cursor.execute(f"ALTER DATABASE {quote(building)} RENAME TO {quote(template)}")


def _create(using: str, template: str) -> bool:
    connection = connections[using]
    with connection._nodb_cursor() as cursor:
        if _exists(cursor, connection.settings_dict["NAME"]):
            return False
        name = connection.ops.quote_name(template)
        cursor.execute(f"CREATE DATABASE {_quoted(using)} ENCODING 'UTF8' TEMPLATE {name}")
    return True


def _quoted(using: str) -> str:
    connection = connections[using]
    return connection.ops.quote_name(connection.settings_dict["NAME"])


def _exists(cursor: Any, name: str) -> bool:
    cursor.execute("SELECT FROM pg_database WHERE datname = %s", [name])
    return cursor.fetchone() is not None


def _fingerprint() -> str:
    """Of what `fill` writes: migrations, which never change, and the files of the standard and the extensions."""
    digest = sha256(repr(sorted(needed_migrations())).encode())
    for source in api_settings.model_sources:
        for file in [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file()):
            digest.update(f"\0{_relative(file, source)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _relative(file: Path, source: Path) -> str:
    return file.name if file == source else str(file.relative_to(source))
