"""What `make run` and `make demo` print: credentials, addresses, and a first request to try."""

import os
from dataclasses import dataclass

DEMO_CLAIM_SET = "EdFiSandbox"


@dataclass(frozen=True)
class DemoClient:
    """The client to try the API with. The secret is known only in the run that created the client."""

    name: str
    key: str
    secret: str | None


@dataclass(frozen=True)
class Administrator:
    """The user of the admin that a demonstration has. The password is known only in the run that created the user."""

    name: str
    password: str | None


@dataclass(frozen=True)
class Credentials:
    """What the database was prepared with."""

    client: DemoClient
    administrator: Administrator | None = None


def welcome(address: str, credentials: Credentials) -> str:
    client = credentials.client
    return f"""
Meadowlark is at {address} (Ctrl-C stops it).
{_what_to_see(address) if credentials.administrator else ""}
A first request:
  TOKEN=$(curl -s -u {client.key}:{client.secret or "SECRET"} -d grant_type=client_credentials {address}/oauth/token \\
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
  curl -i -H "Authorization: Bearer $TOKEN" '{address}/data/ed-fi/schoolYearTypes?limit=2'
"""


def _what_to_see(address: str) -> str:
    return f"""
  {address}/docs   every resource, with examples that can be sent
  {address}/admin/  the documents, and who wrote them

Commands find this database with MEADOWLARK_HOME={os.environ["MEADOWLARK_HOME"]} in front of them.
"""


def credentials_text(credentials: Credentials) -> str:
    administrator = credentials.administrator
    return _client_credentials(credentials.client) + (_administrator(administrator) if administrator else "")


def _client_credentials(client: DemoClient) -> str:
    if client.secret:
        return f"""
The demo client; its secret is shown this once:
  key     {client.key}
  secret  {client.secret}"""
    return f"""
The secret of the demo client was shown at the first start. A new one:
  .venv/bin/python manage.py create_api_client {client.name} --claim-set {DEMO_CLAIM_SET} --if-exists new-secret"""


def _administrator(administrator: Administrator) -> str:
    if administrator.password:
        return f"""

The administrator; the password is shown this once:
  user      {administrator.name}
  password  {administrator.password}"""
    return f"""

The password of the administrator {administrator.name} was shown at the first start. A new one:
  .venv/bin/python manage.py changepassword {administrator.name}"""
