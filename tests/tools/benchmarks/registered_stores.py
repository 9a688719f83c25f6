"""Many registered data stores that share a few databases, for benchmarks."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.conf import settings
from django.test import override_settings

from edfi_api.core.data_stores.connection_strings import encrypt
from meadowlark.run.postgres_programs import binaries
from tests.whole.robustness.other_server import OtherServer, copy_database
from tests.whole.robustness.real_server import RealServer

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")

KEY = "a key of benchmarks"
# The store of the outage.
DISTRICT = 2


class StoreServer(RealServer):
    """A server with route qualifiers on the admin database of another."""

    def __init__(self, home: Path, control: RealServer) -> None:
        super().__init__(
            home,
            MEADOWLARK_ROUTE_QUALIFIERS="districtId",
            MEADOWLARK_STORE_KEY=KEY,
            MEADOWLARK_STORE_HOSTS="*",
            MEADOWLARK_STORE_SECONDS="1",
            MEADOWLARK_WORKERS="1",
            MEADOWLARK_THREADS="8",
        )
        self._control = control

    @property
    def data(self) -> Path:
        return self._control.data

    def start_database(self) -> None:
        self.database_url = self._control.database_url

    def own_credentials(self) -> dict[str, str]:
        """Return the credentials of the other server's client."""
        return self._control.credentials


class RegisteredStores:
    """`districtId` 1, 2, 3, ... in copies of the admin database."""

    def __init__(self, control: RealServer, databases: int) -> None:
        self._control = control
        self._names = [f"store_{number}" for number in range(databases)]
        for name in self._names:
            copy_database(control.database_url, name)

    def register(self, first: int, last: int) -> None:
        with psycopg.connect(self._control.database_url) as control, control.cursor() as cursor:
            strings = self._strings(self._control.database_url)
            cursor.executemany(
                "INSERT INTO data_store (id, name, type, state, connection, revision)"
                " VALUES (%s, %s, '', 'online', %s, 1)",
                [(number, f"district {number}", strings[number % len(strings)]) for number in range(first, last + 1)],
            )
            cursor.execute(
                "INSERT INTO data_store_context (data_store_id, key, value)"
                " SELECT id, 'districtId', id::text FROM data_store"
            )
            cursor.execute(
                "INSERT INTO api_client_data_store (api_client_id, data_store_id)"
                " SELECT security_apiclient.id, data_store.id FROM security_apiclient, data_store"
            )

    def lead_to(self, url: str) -> None:
        """All of them to the databases of the server at this URL."""
        with psycopg.connect(self._control.database_url, autocommit=True) as control:
            for number, string in enumerate(self._strings(url)):
                control.execute(
                    "UPDATE data_store SET connection = %s, revision = revision + 1 WHERE id %% %s = %s",
                    [string, len(self._names), number],
                )

    @contextmanager
    def on_another_server(self, number: int, home: Path) -> Iterator[OtherServer]:
        """This one is, within the context."""
        other = OtherServer(home)
        try:
            dump = [binaries() / "pg_dump", "--format=custom", "--dbname", self._control.database_url]
            dumped = subprocess.run(dump, check=True, capture_output=True)
            restore = [binaries() / "pg_restore", "--no-owner", "--no-acl", "--dbname", other.postgres.url]
            subprocess.run(restore, input=dumped.stdout, check=True)
            with psycopg.connect(self._control.database_url, autocommit=True) as control:
                control.execute(
                    "UPDATE data_store SET connection = %s, revision = revision + 1 WHERE id = %s",
                    [_encrypted(other.postgres.url), number],
                )
            yield other
        finally:
            other.stop()

    def _strings(self, url: str) -> list[str]:
        return [_encrypted(url.replace("/meadowlark?", f"/{name}?")) for name in self._names]


def _encrypted(url: str) -> str:
    with override_settings(EDFI_API={**settings.EDFI_API, "STORE_KEYS": (KEY,)}):
        return encrypt(url)
