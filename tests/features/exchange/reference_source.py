"""A small Ed-Fi API over HTTP whose documents are in memory, to be read from; it can lack features and have faults."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from tests.support.ports import ADDRESS

KEY, SECRET = "district", "not a real secret"
ORDER = (
    "ed-fi/educationOrganizationCategoryDescriptors",
    "ed-fi/gradeLevelDescriptors",
    "ed-fi/schools",
    "ed-fi/students",
    "ed-fi/classPeriods",
    "ed-fi/bellSchedules",
    "ed-fi/studentSchoolAssociations",
)


@dataclass
class Stored:
    """A document with its change version, of which nothing but its id is known elsewhere."""

    path: str
    id: str
    version: int
    body: dict[str, Any]

    def shown(self) -> dict[str, Any]:
        return {"id": self.id, **self.body, "_etag": str(self.version), "_lastModifiedDate": "2026-01-01T00:00:00Z"}


@dataclass
class ReferenceSource:
    """`fault` is called with the number and the path of each request and returns what to do instead of answering:
    a status, `drop`, `garbage`, or `slow`. `before_page` is called before each page."""

    has_windows: bool = True
    has_tokens: bool = True
    token_seconds: float = 1800
    most_in_page: int = 500
    # The paths of its resources, in the order of their dependencies.
    order: tuple[str, ...] = ORDER
    fault: Callable[[int, str], Any] = lambda number, path: None
    before_page: Callable[[str, int], None] = lambda path, offset: None
    # An API profile of students hides this member.
    hidden_by_profile: str = ""
    documents: dict[str, Stored] = field(default_factory=dict)
    deletes: list[dict[str, Any]] = field(default_factory=list)
    key_changes: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    version: int = 0
    address: str = ""
    _tokens: dict[str, float] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def put(self, path: str, body: dict[str, Any], id_: str | None = None) -> Stored:
        """Insert a document, or replace the one with the id."""
        with self.lock:
            self.version += 1
            stored = Stored(path, id_ or str(UUID(int=self.version)), self.version, body)
            self.documents[stored.id] = stored
            return stored

    def remove(self, stored: Stored, **key: Any) -> None:
        with self.lock:
            self.version += 1
            del self.documents[stored.id]
            self.deletes.append({"path": stored.path, "id": stored.id, "changeVersion": self.version, "keyValues": key})

    def rename(self, stored: Stored, body: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> None:
        with self.lock:
            self.put(stored.path, body, stored.id)
            change = {"changeVersion": self.version, "oldKeyValues": old, "newKeyValues": new}
            self.key_changes.append({"path": stored.path, "id": stored.id, **change})

    @contextmanager
    def serving(self) -> Iterator["ReferenceSource"]:
        """Sets `address`."""

        class Handler(_Handler):
            source = self

        server = ThreadingHTTPServer((ADDRESS, 0), Handler)
        server.daemon_threads = True
        self.address = f"http://{ADDRESS}:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(self, path: str, query: dict[str, str], token: str) -> tuple[int, Any, dict[str, str]]:
        if not path.startswith(("/data/", "/changes/")):
            return 200, self._metadata(path, self.address.rstrip("/")), {}
        if self._tokens.get(token, 0) < time.monotonic():
            return 401, {"message": "no valid token"}, {}
        if path == "/changes/availableChangeVersions":
            return 200, {"oldestChangeVersion": 0, "newestChangeVersion": self.version}, {}
        return self._data(path.removeprefix("/data/"), query)

    def _is_there_again(self, delete: dict[str, Any], last: int) -> bool:
        """Whether a document with its key has come in the window: such deletes are left out."""
        return any(
            each.path == delete["path"] and each.version <= last and _has_key(each.body, delete["keyValues"])
            for each in list(self.documents.values())
        )

    def token(self) -> dict[str, Any]:
        token = f"token{len(self._tokens)}"
        self._tokens[token] = time.monotonic() + self.token_seconds
        return {"access_token": token, "expires_in": self.token_seconds, "token_type": "bearer"}

    def _metadata(self, path: str, base: str) -> Any:
        if path == "/openapi":
            names = {"Resources": "", "Descriptors": "", **({"Short": "Profiles"} if self.hidden_by_profile else {})}
            return [
                {"name": name, "endpointUri": f"{base}/openapi/{name}", "prefix": prefix}
                for name, prefix in names.items()
            ]
        if path == "/openapi/Short":
            return {"paths": {"/ed-fi/students": {"get": {}}}}
        if path.startswith("/openapi/"):
            return self._openapi(path.endswith("Descriptors"))
        if path == "/dependencies":
            return [{"resource": f"/{p}", "order": n, "operations": ["Create"]} for n, p in enumerate(self.order)]
        return self._discovery(base)

    def _discovery(self, base: str) -> dict[str, Any]:
        urls = {
            "dependencies": f"{base}/dependencies",
            "openApiMetadata": f"{base}/openapi",
            "oauth": f"{base}/token",
            "dataManagementApi": f"{base}/data/",
        }
        if self.has_windows:
            urls["changeQueries"] = f"{base}/changes/"
        return {"version": "5.4", "dataModels": [{"name": "Ed-Fi", "version": "5.2.0"}], "urls": urls}

    def _openapi(self, of_descriptors: bool) -> dict[str, Any]:
        names = ["offset", "limit", "totalCount", *(["minChangeVersion", "maxChangeVersion"] * self.has_windows)]
        common = {f"{name}Param": {"name": name, "in": "query"} for name in [*names, "pageToken"]}
        references = [{"$ref": f"#/components/parameters/{name}Param"} for name in names]
        if self.has_tokens:
            references.append({"$ref": "#/components/parameters/pageTokenParam"})
        paths: dict[str, Any] = {}
        for path in (each for each in self.order if each.endswith("Descriptors") == of_descriptors):
            paths[f"/{path}"] = {"get": {"parameters": references}}
            paths[f"/{path}/{{id}}"] = {"get": {}}
            if self.has_windows:
                paths[f"/{path}/deletes"] = paths[f"/{path}/keyChanges"] = {"get": {}}
            if self.has_tokens:
                paths[f"/{path}/partitions"] = {"get": {}}
        return {"openapi": "3.0.1", "components": {"parameters": common}, "paths": paths}

    def _data(self, path: str, query: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        project, endpoint, *below = path.split("/")
        resource = f"{project}/{endpoint}"
        first, last = int(query.get("minChangeVersion", 0)), int(query.get("maxChangeVersion", self.version))
        if first > last:
            return 400, {"detail": "the window has no versions"}, {}
        if below in (["deletes"], ["keyChanges"]):
            listed = self.deletes if below == ["deletes"] else self.key_changes
            found = [each for each in listed if each["path"] == resource and first <= each["changeVersion"] <= last]
            if below == ["deletes"]:
                found = [each for each in found if not self._is_there_again(each, last)]
            if below == ["keyChanges"]:
                found = [_as_one([each for each in found if each["id"] == id_]) for id_ in {e["id"]: 0 for e in found}]
            shown = [{name: value for name, value in each.items() if name != "path"} for each in found]
            return 200, _slice(shown, query), {}
        if below and below != ["partitions"]:
            stored = self.documents.get(below[0])
            return (404, {}, {}) if stored is None else (200, stored.shown(), {})
        if below == ["partitions"]:
            return 200, {"pageTokens": [f"{number}.0" for number in range(2)]}, {}
        token, size = query.get("pageToken"), min(int(query.get("limit", 25)), self.most_in_page)
        self.before_page(resource, int(query.get("offset", 0)))
        with self.lock:
            rows = [each for each in self.documents.values() if each.path == resource and first <= each.version <= last]
        rows.sort(key=lambda each: each.id)
        if token is None:
            return 200, [each.shown() for each in _slice(rows, query, size)], {"Total-Count": str(len(rows))}
        part, behind = token.split(".")
        own = [each for each in rows if UUID(each.id).int % 2 == int(part) and each.id > behind]
        page = own[: int(query["pageSize"])]
        following = {"Next-Page-Token": f"{part}.{page[-1].id}"} if len(page) < len(own) else {}
        return 200, [each.shown() for each in page], following


def _has_key(body: dict[str, Any], key: dict[str, Any]) -> bool:
    values = dict(body)
    for each in body.values():
        if isinstance(each, dict):
            values |= each
    return all(values.get(name) == value for name, value in key.items())


def _as_one(changes: list[dict[str, Any]]) -> dict[str, Any]:
    """Several key changes of a document: its first old and its last new key."""
    return changes[-1] | {"oldKeyValues": changes[0]["oldKeyValues"]}


def _slice(rows: list[Any], query: dict[str, str], size: int | None = None) -> list[Any]:
    offset = int(query.get("offset", 0))
    return rows[offset : offset + (size or int(query.get("limit", 25)))]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # Or headers and body, written one after the other, take 40 ms.
    source: ReferenceSource

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.source.requests.append(self.path)
        self.source.headers.append(dict(self.headers))
        fault = self.source.fault(len(self.source.requests), parts.path)
        if fault == "drop":
            self.close_connection = True
            return self.connection.close()
        if fault == "slow":
            time.sleep(0.3)
        if isinstance(fault, tuple):
            return self._send(*fault)
        if isinstance(fault, int):
            return self._send(fault, {"detail": "a fault"}, {"Correlation-Id": "abc"})
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        status, body, headers = self.source.answer(parts.path, query, token)
        if "ed-fi.student.short.readable" in self.headers.get("Accept", ""):
            hidden = self.source.hidden_by_profile
            body = [{name: value for name, value in each.items() if name != hidden} for each in body]
        return self._send(status, "<html>" if fault == "garbage" else body, headers)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.source.requests.append(f"POST {self.path}")
        self.source.headers.append(dict(self.headers))
        self._send(200, self.source.token(), {})

    def _send(self, status: int, body: Any, headers: dict[str, str]) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing."""
