"""What reads from and writes to a demonstration: the SQL views for programs that need a port (Power BI, Metabase,
programs on Windows), and two vendors that do not exist.

The role of analysts logs in at a port of 127.0.0.1, by a password that is kept in the home, so that a saved connection
works after the next start.
"""

from __future__ import annotations

import base64
import json
import secrets
import socket
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
from psycopg import sql

from meadowlark.run.embedded_postgres import DATABASE, LoginPort, for_owner_only, url_of
from meadowlark.run.embedded_roles import SUPERUSER

READER = "analyst"
_HOST = "127.0.0.1"
# The distance from the port of the web server, 15432 for 8000, so that several servers have different ones.
_DISTANCE = 7432


def port_for_reader(web_port: int) -> LoginPort:
    """The port for analysts: always the same for the same port of the web server, unless another program has it."""
    with socket.socket() as probe:
        try:
            probe.bind((_HOST, web_port + _DISTANCE))
        except (OSError, OverflowError):  # In use, or above the largest port.
            probe.bind((_HOST, 0))
        return LoginPort(READER, probe.getsockname()[1])


def reader_address(home: Path, port: LoginPort) -> str:
    """Return what any client of PostgreSQL connects with. The role has to exist; its password becomes that of the home.

    PostgreSQL is sent the hash of the password alone.
    """
    password = _make_password(home)
    with psycopg.connect(url_of(SUPERUSER, home)) as connection:
        hashed = connection.pgconn.encrypt_password(password.encode(), port.role.encode(), b"scram-sha-256").decode()
        statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(port.role), sql.Literal(hashed))
        connection.execute(statement)
    return f"postgresql://{port.role}:{password}@{_HOST}:{port.number}/{DATABASE}"


def _make_password(home: Path) -> str:
    file = home / "reader_password"
    if not file.exists():
        with open(file, "w", opener=for_owner_only) as new:
            new.write(secrets.token_urlsafe(18))
    return file.read_text()


_SECONDS = 30


@dataclass(frozen=True)
class DemoVendor:
    """A vendor's client, and what it posts: paths below `/data`, and bodies."""

    name: str
    key: str
    secret: str
    requests: list[tuple[str, dict[str, Any]]]


def send(address: str, vendors: list[DemoVendor]) -> None:
    """Post everything to the server at this address. Answers are not looked at: the server keeps what it refuses."""
    for vendor in vendors:
        token = _token(address, vendor)
        for path, body in vendor.requests:
            _post(f"{address}/data{path}", json.dumps(body).encode(), {"Authorization": f"Bearer {token}"})


def _token(address: str, vendor: DemoVendor) -> str:
    basic = base64.b64encode(f"{vendor.key}:{vendor.secret}".encode()).decode()
    form = urlencode({"grant_type": "client_credentials"}).encode()
    answer = _post(f"{address}/oauth/token", form, {"Authorization": f"Basic {basic}"}, "x-www-form-urlencoded")
    return str(json.loads(answer)["access_token"])


def _post(address: str, content: bytes, headers: Mapping[str, str], kind: str = "json") -> bytes:
    request = urllib.request.Request(  # noqa: S310  The address is our own.
        address, data=content, headers={**headers, "Content-Type": f"application/{kind}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310  Likewise.
            return bytes(answer.read())
    except urllib.error.HTTPError as refused:
        return refused.read()
