"""Databases that nobody has prepared, in the server that the other tests use too."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from meadowlark import embedded_postgres


@dataclass(frozen=True)
class Database:
    """One database of the server; it need not exist yet."""

    server: str
    name: str

    @property
    def url(self) -> str:
        return urlsplit(self.server)._replace(path=f"/{self.name}").geturl()

    def create(self, options: str = "") -> None:
        self._run_on_server(f"CREATE DATABASE {{}} {options}")

    def drop(self) -> None:
        self._run_on_server("DROP DATABASE IF EXISTS {} WITH (FORCE)")

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def execute(self, statement: str) -> None:
        with self.connect() as connection:
            connection.execute(statement)

    def ask(self, question: str) -> list[Any]:
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

    def _run_on_server(self, statement: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(self.name)))


@pytest.fixture
def missing_database() -> Iterator[Database]:
    """Not there yet; gone after the test, whoever made it."""
    server = os.environ.get("DATABASE_URL") or embedded_postgres.url(embedded_postgres.default_home())
    database = Database(server, f"test_docker_{os.getpid()}")
    yield database
    database.drop()


@pytest.fixture
def empty_database(missing_database: Database) -> Database:
    missing_database.create()
    return missing_database


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """One for all servers of a test, so that the surface is compiled once."""
    return tmp_path / "home"
