"""The databases of sandboxes, on the server of the admin database and for its user, and their documents."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlencode

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.databases import add_on_same_server, remove
from edfi_api.core.documents import json_text
from edfi_api.core.served import current_surface
from edfi_api.features.loading.demo_district import FEWEST_STUDENTS, generate
from edfi_api.features.loading.demo_district.generation import DISTRICT_ID, STATE_ID, organizations
from edfi_api.features.loading.json_lines.exporting import write_to_folder
from edfi_api.features.loading.json_lines.loading import load_documents
from edfi_api.features.loading.json_lines.sources import sources
from edfi_api.features.loading.provisioning import create_from_template, drop_database, fill
from edfi_api.features.sandboxes.exceptions import SandboxFailed, step
from edfi_api.features.sandboxes.models import Shape
from edfi_api.model.examples import Bodies, Body
from edfi_api.model.surface.bundled_descriptors import bundled_values
from edfi_api.model.surface.resource import ResourceName

_OPTIONS = ("sslmode", "target_session_attrs")
# Of the demo district.
_SEED = 1


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
def make_database(name: str, variant: str, load: Callable[[str], None]) -> Iterator[None]:
    """Make a database with descriptors, school years and what `load` writes, as a copy of one that is made once; drop
    it if the block fails. Raises SandboxFailed."""
    with _add_alias(name) as using:
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
                with _add_alias(name) as using:
                    drop_database(using)


def _databases_of(sandbox: str) -> list[str]:
    pattern = f"^{database_name(sandbox, 0)[:-1]}[0-9]+$"
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname ~ %s ORDER BY datname", [pattern])
        return [name for (name,) in cursor]


@contextmanager
def _add_alias(name: str) -> Iterator[str]:
    using = add_on_same_server(DEFAULT_DB_ALIAS, name)
    try:
        yield using
    finally:
        # It stays with the thread: a server puts it back into its pool.
        connections[using].close()
        remove(using)


def variant(shape: Shape, today: date, *, is_populated: bool) -> str:
    """A name for equal contents. The demo district is that of the month, since more happens in it every day."""
    if is_populated:
        return f"district_{today:%Y_%m}"
    return "students" if shape.needs_students else "organizations"


def organization_ids(*, is_populated: bool) -> list[int]:
    """The organizations to which a client is bound."""
    return [DISTRICT_ID] if is_populated else [STATE_ID, DISTRICT_ID]


def load_contents(using: str, shape: Shape, today: date, *, is_populated: bool) -> None:
    """Write the documents into a database with descriptors and school years. Raises SandboxFailed."""
    surface = current_surface()
    values = list(bundled_values(api_settings.data_standard))
    if not values:
        raise SandboxFailed("loading the documents", "the data standard comes without descriptor values")
    bodies = Bodies(surface, values)
    if is_populated:
        found = generate(bodies, FEWEST_STUDENTS, _SEED, today).bodies
    else:
        found = organizations(bodies, today, has_students=shape.needs_students)
    _write(found, using)
    with connections[using].cursor() as cursor:
        cursor.execute("ANALYZE")


def _write(found: dict[ResourceName, list[Body]], using: str) -> None:
    surface = current_surface()
    refused: list[object] = []
    with TemporaryDirectory(prefix="meadowlark-sandbox-") as folder:
        with write_to_folder(Path(folder), surface.resources) as write:
            for name, several in found.items():
                write(surface.by_name[name], [[json_text.dumps(body).decode() for body in several]])
        load_documents(
            surface,
            sources(surface, [folder]),
            refused.append,
            api_settings.MAX_BODY_BYTES,
            using=using,
            processes=0,
            skips_rules=True,
        )
    if refused:
        raise SandboxFailed("loading the documents", f"{len(refused)} were refused, the first: {refused[0]}")
