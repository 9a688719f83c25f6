"""The image, and a PostgreSQL server for it that is reached by TCP, as containers reach theirs."""

import os
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from meadowlark.run.postgres_programs import account_for, command_line
from tests.support.ports import ADDRESS, free_port
from tests.tools.image import images


@pytest.fixture(scope="session")
def image() -> Iterator[dict[str, Any]]:
    """Its configuration, as Docker writes it."""
    if reason := images.obstacle():
        pytest.skip(reason)
    with images.built() as configuration:
        yield configuration


@pytest.fixture(scope="session")
def empty_database(image: dict[str, Any]) -> Iterator[str]:
    """The URL of an empty database, which belongs to the user; the user has no other rights."""
    password = secrets.token_hex()
    with _server(password) as address:
        with psycopg.connect(f"postgresql://postgres:{password}@{address}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE ROLE meadowlark LOGIN PASSWORD '{password}'")
            connection.execute("CREATE DATABASE meadowlark OWNER meadowlark")
        yield f"postgresql://meadowlark:{password}@{address}/meadowlark"


@contextmanager
def _server(password: str) -> Iterator[str]:
    """The address of a server whose superuser, `postgres`, has the password."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="meadowlark-image-") as folder, tempfile.NamedTemporaryFile("w") as file:
        account = account_for(Path(folder))
        file.write(password)
        file.flush()
        for path in (folder, file.name):
            os.chown(path, account.pw_uid, account.pw_gid)

        def run(program: str, *arguments: str) -> None:
            command = command_line(account, program, f"--pgdata={folder}", *arguments)
            # The server would keep a pipe of its own open.
            subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)

        superuser = ["--username=postgres", f"--pwfile={file.name}", "--auth=scram-sha-256"]
        run("initdb", *superuser, "--encoding=UTF8", "--no-locale", "--no-sync")
        options = f"-p {port} -c listen_addresses={ADDRESS} -c unix_socket_directories="
        run("pg_ctl", "start", "--wait", f"--log={folder}/log", f"--options={options}")
        try:
            yield f"{ADDRESS}:{port}"
        finally:
            run("pg_ctl", "stop", "--mode=fast")
