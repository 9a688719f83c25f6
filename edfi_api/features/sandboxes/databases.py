"""The databases of sandboxes, on the server of the admin database and for its user."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from urllib.parse import quote, urlencode

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.core.data_stores.databases import add_beside, remove
from edfi_api.features.loading.provisioning.databases import create_from_template, drop_database, fill
from edfi_api.features.sandboxes.exceptions import step

_OPTIONS = ("sslmode", "target_session_attrs")


def database_name(sandbox: str, generation: int) -> str:
    """The name of a database that no other sandbox has, nor one of another server in the same PostgreSQL."""
    server = sha256(connections.settings[DEFAULT_DB_ALIAS]["NAME"].encode()).hexdigest()[:8]
    return f"meadowlark_sandbox_{server}_{sandbox}_{generation}"


def connection_string(database: str) -> str:
    """The URL of a database on the server of the admin database."""
    control = connections.settings[DEFAULT_DB_ALIAS]
    login = quote(control["USER"], safe="")
    if control["PASSWORD"]:
        login += f":{quote(control['PASSWORD'], safe='')}"
    given = {"host": control["HOST"], "port": str(control["PORT"])}
    given |= {name: str(control["OPTIONS"][name]) for name in _OPTIONS if name in control["OPTIONS"]}
    if control["DISABLE_SERVER_SIDE_CURSORS"]:
        given["pool"] = "transaction"
    query = urlencode({name: value for name, value in given.items() if value})
    return f"postgresql://{login}{'@' if login else ''}/{database}?{query}"


@contextmanager
def new_database(name: str, variant: str, load: Callable[[str], None]) -> Iterator[None]:
    """Make a database with descriptors, school years and what `load` writes, as a copy of one that is made once; drop
    it if the block fails. Raises SandboxFailed."""
    with _alias(name) as using:
        with step("making the database"):
            create_from_template(using, fill, variant=variant, load=load)
        try:
            yield
        except BaseException:
            with suppress(DatabaseError, InterfaceError):
                drop_database(using)
            raise


def drop_all_of(sandbox: str, but: str = "") -> None:
    """Drop the databases of a sandbox but one, also those that a killed process has left. Raises SandboxFailed."""
    with step("dropping the database"):
        for name in _databases_of(sandbox):
            if name != but:
                with _alias(name) as using:
                    drop_database(using)


def _databases_of(sandbox: str) -> list[str]:
    pattern = f"^{database_name(sandbox, 0)[:-1]}[0-9]+$"
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname ~ %s ORDER BY datname", [pattern])
        return [name for (name,) in cursor]


@contextmanager
def _alias(name: str) -> Iterator[str]:
    using = add_beside(DEFAULT_DB_ALIAS, name)
    try:
        yield using
    finally:
        # It stays with the thread: a server takes back what it has lent.
        connections[using].close()
        remove(using)
