"""The SQL views of a demonstration for programs that need a port: Power BI, Metabase, programs on Windows.

The role of analysts logs in at a port of 127.0.0.1, by a password that is kept in the home, so that a saved connection
works after the next start.
"""

import secrets
import socket
from pathlib import Path

import psycopg
from psycopg import sql

from meadowlark.run.embedded_postgres import DATABASE, LoginPort, for_owner_only, url_of
from meadowlark.run.embedded_roles import SUPERUSER

READER = "analyst"
_HOST = "127.0.0.1"
# The port beside that of the web server, 15432 beside 8000, so that servers beside each other have different ones.
_DISTANCE = 7432


def port_for_reader(web_port: int) -> LoginPort:
    """The port for analysts: always the same beside the same port of the web server, unless another program has it."""
    with socket.socket() as probe:
        try:
            probe.bind((_HOST, web_port + _DISTANCE))
        except (OSError, OverflowError):  # In use, or above the largest port.
            probe.bind((_HOST, 0))
        return LoginPort(READER, probe.getsockname()[1])


def reader_address(home: Path, port: LoginPort) -> str:
    """What any client of PostgreSQL connects with. The role has to exist; its password becomes that of the home.

    PostgreSQL is sent the hash of the password alone.
    """
    password = _kept_password(home)
    with psycopg.connect(url_of(SUPERUSER, home)) as connection:
        hashed = connection.pgconn.encrypt_password(password.encode(), port.role.encode(), b"scram-sha-256").decode()
        statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(port.role), sql.Literal(hashed))
        connection.execute(statement)
    return f"postgresql://{port.role}:{password}@{_HOST}:{port.number}/{DATABASE}"


def _kept_password(home: Path) -> str:
    file = home / "reader_password"
    if not file.exists():
        with open(file, "w", opener=for_owner_only) as new:
            new.write(secrets.token_urlsafe(18))
    return file.read_text()
