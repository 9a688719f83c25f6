"""What `make run` prints: how to log in, and a first request to try."""

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from meadowlark.run.demo_clients import reader_address
from meadowlark.run.embedded_postgres import LoginPort, url_of
from meadowlark.run.embedded_roles import APPLICATION

# Variables that commands in another terminal need as well. Others may be secrets.
_REPEATED = (
    "MEADOWLARK_HOME",
    "MEADOWLARK_DATA_STANDARD",
    "MEADOWLARK_EXTENSIONS",
    "MEADOWLARK_MULTI_TENANCY",
    "MEADOWLARK_ROUTE_QUALIFIERS",
    "MEADOWLARK_RULES",
    "MEADOWLARK_STORE_HOSTS",
)
_READ_ANSWER = """python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])'"""


@dataclass(frozen=True)
class DemoClient:
    """The client to try the API with, as `meadowlark.run.demonstration` describes it."""

    name: str
    key: str
    secret: str | None
    address: str = ""
    is_for_management: bool = False
    missing: list[list[str]] = field(default_factory=list)
    vendors: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Administrator:
    """The user of the admin that a demonstration has. The password is known only in the run that created the user."""

    name: str
    password: str | None


@dataclass(frozen=True)
class DemoCredentials:
    """The client and the administrator that the database was prepared with."""

    client: DemoClient
    administrator: Administrator | None = None
    # Whether there are SQL views with their reader.
    has_reader: bool = False


def credentials_text(credentials: DemoCredentials) -> str:
    administrator = credentials.administrator
    return _client_credentials(credentials.client) + (_administrator(administrator) if administrator else "")


def welcome(
    address: str, credentials: DemoCredentials, home: Path | None = None, reader_port: LoginPort | None = None
) -> str:
    """Return what to do now; `home` is that of the embedded database, if that is used, and `reader_port` its port for
    analysts."""
    client = credentials.client
    request = _management_request if client.is_for_management else _data_request
    see = _what_to_see(address) if credentials.administrator and not client.is_for_management else ""
    return f"""
Meadowlark is at {address} (Ctrl-C stops it).
{see}{for_commands()}{_for_psql(home, reader_port if credentials.has_reader else None)}
A first request:
{request(address, client)}
"""


def _client_credentials(client: DemoClient) -> str:
    if client.secret:
        return f"""
The demo client; its secret is shown this once:
  {"id " if client.is_for_management else "key"}     {client.key}
  secret  {client.secret}"""
    if client.missing:
        *before, last = client.missing
        commands = [*map(_command, before), _setting_secret(last)]
        return _lines("The tenants have no demo client. This makes one, and shows its secret:", commands)
    rotate = "rotate_management_secret" if client.is_for_management else "rotate_secret"
    return _lines(
        "The secret of the demo client was shown at the first start. This makes and shows a new one:",
        [_setting_secret([rotate, client.key])],
    )


def _administrator(administrator: Administrator) -> str:
    if administrator.password:
        return f"""

The administrator; the password is shown this once:
  user      {administrator.name}
  password  {administrator.password}"""
    return "\n" + _lines(
        f"The password of the administrator {administrator.name} was shown at the first start. A new one:",
        [_command(["changepassword", administrator.name])],
    )


def _what_to_see(address: str) -> str:
    admin = os.environ.get("MEADOWLARK_ADMIN_PATH", "admin").strip("/")
    pages = "the documents, who wrote them, what was refused, what rules have found"
    documents = f"\n  {address}/{admin}/  {pages}" if admin else ""
    examples = "every resource, with examples that can be sent; a button fills in the client"
    return f"\n  {address}/docs   {examples}{documents}\n"


def for_commands() -> str:
    """Return what precedes a command in another terminal, unless it is nothing."""
    return f"\nCommands find this database with this in front of them: {_variables()}\n" if _variables() else ""


def _for_psql(home: Path | None, reader_port: LoginPort | None) -> str:
    if home is None:
        return ""
    views = ""
    if reader_port:
        views = f"""
The SQL views are at {reader_address(home, reader_port)}
  or, for programs of this account, at {url_of(reader_port.role, home)}"""
    return f"\npsql and pg_dump find the database at {url_of(APPLICATION, home)}{views}\n"


def _data_request(address: str, client: DemoClient) -> str:
    data = f"{address}{client.address}"
    return f"""\
  TOKEN=$(curl -s -u {client.key}:{_secret(client)} -d grant_type=client_credentials {data}/oauth/token \\
    | {_READ_ANSWER})
  curl -i -H "Authorization: Bearer $TOKEN" '{data}/data/ed-fi/schoolYearTypes?limit=2'"""


def _management_request(address: str, client: DemoClient) -> str:
    return f"""\
  TOKEN=$(curl -s -d client_id={client.key} -d client_secret={_secret(client)} -d grant_type=client_credentials \\
    {address}/connect/token | {_READ_ANSWER})
  curl -i -H "Authorization: Bearer $TOKEN" {address}{client.address}"""


def _secret(client: DemoClient) -> str:
    return client.secret or "$SECRET"


def _setting_secret(command: list[str]) -> str:
    """The command, whose output is shown, and whose secret the first request uses."""
    return f"SECRET=$({_command(command)} | tee /dev/stderr | awk '/^secret/ {{print $2}}')"


def _command(arguments: list[str]) -> str:
    return f"{_variables()} .venv/bin/python manage.py {shlex.join(arguments)}".strip()


def _variables() -> str:
    """Variables of this server that commands in another terminal need as well."""
    given = [f"{name}={shlex.quote(os.environ[name])}" for name in _REPEATED if os.environ.get(name)]
    # It may have a password: the other terminal has to have it already.
    of_database = ["DATABASE_URL=${DATABASE_URL:?}"] if os.environ.get("DATABASE_URL", "").strip() else []
    return " ".join([*of_database, *given])


def _lines(heading: str, commands: list[str]) -> str:
    return "\n".join(["", heading, *(f"  {command}" for command in commands)])
