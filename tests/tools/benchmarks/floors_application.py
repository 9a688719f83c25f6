"""What the engine and PostgreSQL take without anything else: each answer is made where the short way of a request is.

`/constant` is answered without a statement, every other GET by the statement of a GET by id, and a POST by the
statement that inserts a new student, with the values of a stored one but its ids and its body. See `floors.py`.
"""

import os
import threading
from typing import Any
from uuid import uuid4

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "meadowlark.settings"
django.setup()

import psycopg  # noqa: E402  Django is set up by now
from psycopg.rows import dict_row  # noqa: E402

from edfi_api.core.storage import policy_statements  # noqa: E402
from edfi_api.core.storage.driver.prepared_statements import bound, run  # noqa: E402
from edfi_api.core.storage.stored import SECURABLES, Outcome  # noqa: E402
from meadowlark.serving.short_way import PlainRequest  # noqa: E402
from references.identity import as_uuid  # noqa: E402

_CONSTANT = b'{"text":"' + b"x" * 700 + b'"}'
_STUDENT = f"""
SELECT d.resource_type_id AS resource_type, {SECURABLES},
       ARRAY(SELECT r.alias_id FROM reference r WHERE r.document_id = d.id) AS targets
  FROM document d JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name = 'Student' LIMIT 1
"""
_READ_TYPE = "SELECT id FROM resource_type WHERE name = 'StudentSchoolAssociation'"
_OF_THREAD = threading.local()
_TYPE = [("Content-Type", "application/json; charset=utf-8")]


class Floors:
    """In place of prepared requests, and of the one that was kept of a kind."""

    client_key = "floors"
    read_together = None

    @property
    def request(self) -> "Floors":
        return self

    def plain(self, scope: Any) -> PlainRequest:
        length = int(scope.headers.get("content-length") or 0)
        kept: Any = self
        return PlainRequest(b"", kept, scope.path.rpartition("/")[2], length, None)

    def answer(self, plain: PlainRequest, scope: Any, body: bytes, protocol: Any, **_: Any) -> None:
        if scope.method == "POST":
            protocol.response_bytes(201, [("Content-Length", "0")], _insert(body))
            return
        found = _CONSTANT if scope.path == "/constant" else _read(plain.document_id or "")
        protocol.response_bytes(200, [*_TYPE, ("Content-Length", str(len(found)))], found)


def _read(document_id: str) -> bytes:
    connection, read, _ = _connection()
    rows = run(read.with_value(read.compiled.names.index("document_uuid"), as_uuid(document_id)), connection)
    text: bytes = rows[0][2]
    return text


def _insert(body: bytes) -> bytes:
    connection, _, insert = _connection()
    referential_id = uuid4()
    changed = {
        "document_uuid": uuid4(),
        "referential_id": referential_id,
        "aliases": [referential_id],
        "body": body.decode(),
    }
    for name, value in changed.items():
        insert = insert.with_value(insert.compiled.names.index(name), value)
    if not run(insert, connection):
        raise RuntimeError("The student was not inserted.")
    return b""


def _connection() -> Any:
    """The connection of the thread, with the statements bound to the values that are always the same."""
    if not hasattr(_OF_THREAD, "connection"):
        connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
        student = connection.cursor(row_factory=dict_row).execute(_STUDENT).fetchone() or {}
        ids = dict.fromkeys(("document_uuid", "referential_id", "aliases", "body", "client", "linked"))
        (read_type,) = connection.execute(_READ_TYPE).fetchone() or (None,)
        read = policy_statements.get(None).bound_to({"document_uuid": None, "resource_type": read_type})
        insert = policy_statements.likely_upsert(Outcome.INSERTED, None, has_links=False).bound_to(ids | student)
        _OF_THREAD.connection = connection, bound(read), bound(insert)
    return _OF_THREAD.connection


class _Application:
    prepared_requests = Floors()

    def __call__(self, variables: dict[str, Any], start_response: Any) -> list[bytes]:
        """Answer what does not reach the floors, such as the request that finds out whether the server is up."""
        start_response("404 Not Found", [("Content-Length", "0")])
        return []


application = _Application()
