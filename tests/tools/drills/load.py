"""Clients that insert, replace and delete documents that refer to each other, and what the database may hold by what
they were answered.

DELETE is idempotent (RFC 9110, 9.2.2), and the server repeats a statement whose answer it has lost. So 404 may answer a
delete that was carried out, and the clients take it as acknowledged; but it is what a lost insert would be answered,
too. Hence the document has to be among the deleted ones of the history.
"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from tests.whole.robustness.real_server import Answer, RealClient

STUDENTS = "/data/ed-fi/students"
CONTACTS = "/data/ed-fi/contacts"
ASSOCIATIONS = "/data/ed-fi/studentContactAssociations"
_SLOTS = 6
# A request takes longer only if the server has lost it: a retry could then overtake a later write.
_REQUEST_SECONDS = 90
# Before a client sends a refused request again.
_PAUSE = 0.1
_CONTENTS = """
SELECT 'contact of ' || (body -> 'studentReference' ->> 'studentUniqueId'), (body ->> 'contactPriority')::int
FROM document WHERE body ? 'contactPriority'
UNION ALL
SELECT body ->> 'studentUniqueId', (body ->> 'birthCity')::int FROM document WHERE body ? 'birthCity'
"""
_DELETED = "SELECT document_uuid::text FROM deleted_document WHERE document_uuid = ANY (%s::uuid[])"


@dataclass
class Item:
    """A document that one client writes. `possible` are the versions that may be stored; None is no document."""

    name: str
    path: str
    body: Callable[[int], dict[str, Any]]
    possible: set[int | None] = field(default_factory=lambda: {None})
    id: str = ""


@dataclass
class Observed:
    """What the clients saw. `writes` are the times of acknowledged writes; `gone` are the ids and names of documents
    whose deletes were answered with 404."""

    writes: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    gone: dict[str, str] = field(default_factory=dict)
    stale_reads: int = 0
    slowest: float = 0.0


class Load:
    """Clients in threads, between `start` and `stop`; each has documents of its own."""

    def __init__(self, port: int, token: str, clients: int) -> None:
        self.observed = Observed()
        self._is_stopping = threading.Event()
        self.writers = [Writer(number, port, token, self.observed, self._is_stopping) for number in range(clients)]

    def start(self) -> None:
        self._is_stopping.clear()
        self._threads = [threading.Thread(target=writer.run) for writer in self.writers]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """After the requests under way. Raises TimeoutError."""
        self._is_stopping.set()
        for thread in self._threads:
            thread.join(_REQUEST_SECONDS + 10)
            if thread.is_alive():
                raise TimeoutError("a client of the load does not end")

    def all_have_written_since(self, moment: float) -> bool:
        """Whether each client was acknowledged a write."""
        return all(writer.last_write > moment for writer in self.writers)

    def differences(self, database_url: str) -> list[str]:
        """Between what the database holds and what was acknowledged. For a load that is stopped."""
        stored = self.stored(database_url)
        different = [
            f"{item.name}: {stored.get(item.name)} is stored, acknowledged: {item.possible}"
            for writer in self.writers
            for item in writer.items
            if stored.get(item.name) not in item.possible
        ]
        return different + self._lost_before_their_delete(database_url)

    def _lost_before_their_delete(self, database_url: str) -> list[str]:
        gone = self.observed.gone
        with psycopg.connect(database_url) as connection:
            deleted = {id_ for (id_,) in connection.execute(_DELETED, [list(gone)])}
        lost = (gone[id_] for id_ in gone if id_ not in deleted)
        return [f"{name}: its delete found no document, and none was deleted" for name in lost]

    def stored(self, database_url: str) -> dict[str, int]:
        """The versions of the documents in a database, by their names."""
        with psycopg.connect(database_url) as connection:
            return dict(connection.execute(_CONTENTS).fetchall())

    def forget(self) -> None:
        """What was acknowledged: the database was restored to an earlier moment. Clients send everything again."""
        self.writers = [writer.again() for writer in self.writers]
        self.observed.gone.clear()


class Writer:
    """One client."""

    def __init__(self, number: int, port: int, token: str, observed: Observed, is_stopping: threading.Event) -> None:
        self.last_write = 0.0
        self._arguments = number, port, token, observed, is_stopping
        self._port, self._token = port, token
        self._observed, self._is_stopping = observed, is_stopping
        # Two digits at least: they are the name of a city.
        self._version = 10
        self._contact = Item(f"contact {number}", CONTACTS, lambda _: _contact(number))
        slots = [_slot(f"{number}-{slot}", number) for slot in range(_SLOTS)]
        self.items = [item for slot in slots for item in slot]
        self._steps = [self._written(*slot) for slot in slots]

    def again(self) -> "Writer":
        """A client with the same documents, of which nothing is known."""
        other = Writer(*self._arguments)
        other._version = self._version
        for item in other.items:
            item.possible = {None, *range(10, self._version + 1)}
        return other

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Sends the requests within the context on one connection."""
        with closing(RealClient(self._port, self._token, _REQUEST_SECONDS)) as self._connection:
            yield

    def run(self) -> None:
        """Write until the load is stopped."""
        with self.connected():
            if not self._contact.id:
                self.insert(self._contact)
            while not self._is_stopping.is_set():
                next(random.choice(self._steps))  # noqa: S311  not a secret

    def _written(self, student: Item, association: Item) -> Iterator[None]:
        """Writes the two again and again; a step is a write, which is sent until it is acknowledged."""
        while True:
            for step, item in (
                (self.insert, student),
                (self.insert, association),
                (self.replace, student),
                (self.replace, association),
                (self.delete, association),
                (self.delete, student),
            ):
                while not step(item):
                    yield
                self._read(item)
                yield

    def insert(self, item: Item) -> bool:
        """Whether it was acknowledged, as of the methods below."""
        answer = self._send("POST", item, item.path, {200, 201})
        if answer is not None:
            item.id = answer.headers["Location"].rpartition("/")[2]
        return answer is not None

    def replace(self, item: Item) -> bool:
        return self._send("PUT", item, f"{item.path}/{item.id}", {204}) is not None

    def delete(self, item: Item) -> bool:
        answer = self._send("DELETE", item, f"{item.path}/{item.id}", {204, 404})
        if answer is not None and answer.status == 404:
            self._observed.gone[item.id] = item.name
        return answer is not None

    def _send(self, method: str, item: Item, path: str, expected: set[int]) -> Answer | None:
        """Send a write; return None if it was not acknowledged."""
        self._version += 1
        new = None if method == "DELETE" else self._version
        body = None if new is None else item.body(new) | ({"id": item.id} if method == "PUT" else {})
        item.possible.add(new)
        answer = self._answer(method, path, body)
        if answer is None or answer.status not in expected:
            if answer is not None and answer.status != 503:
                self._observed.wrong.append(f"{method} {item.name}: {answer.status} {answer.body[:300]!r}")
            self._is_stopping.wait(_PAUSE)
            return None
        item.possible = {new}
        self.last_write = time.monotonic()
        self._observed.writes.append(self.last_write)
        return answer

    def _answer(self, method: str, path: str, body: object = None) -> Answer | None:
        begin = time.monotonic()
        try:
            answer = self._connection.send(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            self._observed.wrong.append(f"{method} {path}: {error!r}")
            return None
        finally:
            self._observed.slowest = max(self._observed.slowest, time.monotonic() - begin)
        self._observed.statuses[answer.status] += 1
        return answer

    def _read(self, item: Item) -> None:
        """Counts an answer that is older than the write that was acknowledged just before."""
        answer = self._answer("GET", f"{item.path}/{item.id}")
        if answer is None or answer.status == 503:
            return
        [version] = item.possible
        body = json.loads(answer.body)
        read = body.get("contactPriority", body.get("birthCity")) if answer.status == 200 else None
        self._observed.stale_reads += read not in {version, str(version)}


def _slot(name: str, client: int) -> tuple[Item, Item]:
    """A student, and the association that refers to it and to the contact of the client."""
    student = {"studentUniqueId": name, "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    references = {
        "studentReference": {"studentUniqueId": name},
        "contactReference": {"contactUniqueId": str(client)},
    }
    return (
        Item(name, STUDENTS, lambda version: student | {"birthCity": str(version)}),
        Item(f"contact of {name}", ASSOCIATIONS, lambda version: references | {"contactPriority": version}),
    )


def _contact(number: int) -> dict[str, Any]:
    return {"contactUniqueId": str(number), "firstName": "Ida", "lastSurname": "Ortiz"}
