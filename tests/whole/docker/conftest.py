"""Unprepared databases in the server of the other tests."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.test import Client
from psycopg import sql

from meadowlark.run import embedded_postgres
from tests.support import superuser
from tests.support.forking import forked, preparing

Ended = CompletedProcess[str]
Run = Callable[..., Ended]


@dataclass(frozen=True)
class Database:
    """A database of the server, which may not exist yet."""

    server: str
    name: str

    @property
    def url(self) -> str:
        return urlsplit(self.server)._replace(path=f"/{self.name}").geturl()

    def create(self, options: str = "") -> None:
        self._run_on_server(f"CREATE DATABASE {{}} {options}")

    def copy_to(self, other: "Database") -> None:
        other._run_on_server("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", self.name)

    def drop(self) -> None:
        superuser.drop_database(self.name, self.server)

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def execute(self, statement: str) -> None:
        with self.connect() as connection:
            connection.execute(statement)

    def query(self, question: str) -> list[Any]:
        with self.connect() as connection:
            return connection.execute(question).fetchall()

    def has_tables(self) -> bool:
        with self.connect() as connection:
            return connection.execute("SELECT to_regclass('document') IS NOT NULL").fetchone() == (True,)

    def documents(self, resource: str) -> int:
        with self.connect() as connection:
            counted = connection.execute(
                "SELECT count(*) FROM document JOIN resource_type ON resource_type.id = resource_type_id"
                " WHERE name = %s",
                [resource],
            )
            return counted.fetchone()[0]

    def _run_on_server(self, statement: str, *names: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, (self.name, *names))))


_numbers = count()


@contextmanager
def _no_database(name: str) -> Iterator[Database]:
    """Does not exist on entering, and is dropped on leaving."""
    server = os.environ.get("DATABASE_URL") or embedded_postgres.url(embedded_postgres.default_home())
    # Never the same twice: a server of an earlier test may end late, and look for its database.
    database = Database(server, f"test_docker_{name}_{os.getpid()}_{next(_numbers)}")
    yield database
    database.drop()


@pytest.fixture
def missing_database() -> Iterator[Database]:
    """Does not exist yet; dropped after the test."""
    with _no_database("one") as database:
        yield database


@pytest.fixture(scope="session")
def prepared_once(django_db_blocker: Any) -> Iterator[Database]:
    """A prepared database for copies; tests must not change it."""
    with _no_database("prepared") as database:
        database.create()
        with django_db_blocker.unblock():
            forked(preparing, database.name).check_returncode()
        yield database


@pytest.fixture
def prepared_database(missing_database: Database, prepared_once: Database) -> Database:
    """A database with all tables, descriptors and school years."""
    prepared_once.copy_to(missing_database)
    return missing_database


@pytest.fixture
def empty_database(missing_database: Database) -> Database:
    missing_database.create()
    return missing_database


@pytest.fixture
def run(missing_database: Database, django_db_blocker: Any) -> Iterator[Run]:
    """Runs a program of `tests/support/forking.py` with the database."""

    def with_the_database(program: Callable[..., object], *arguments: str) -> Ended:
        return forked(partial(program, *arguments), missing_database.name)

    with django_db_blocker.unblock():
        yield with_the_database


def health(run: Run) -> dict[str, str]:
    """Name and description of each health check."""
    output = run(lambda: print(Client().get("/health/ready").content.decode())).stdout
    return {result["Name"]: result["Description"] for result in json.loads(output)["Results"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Shared by all servers of a test, so that the surface is compiled once."""
    return tmp_path / "home"
