"""A small Ed-Fi API to push to, in memory, with the faults of others: it drops connections, is busy, refuses, forgets
tokens.

It has resources with references, batches if wanted, and no OpenAPI documents.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID, uuid4

from edfi_api.core.documents.document_validator import DocumentValidators, ValidatedDocument
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.paths import as_text, values_at
from edfi_api.core.served import current_surface
from tests.support.ports import ADDRESS

# What a fault does instead of an answer.
DROP = "drop"
WRONG_JSON = "wrong JSON"


@dataclass(frozen=True)
class Answer:
    """Status, body and Location."""

    status: int
    body: Any = None
    location: str = ""


@dataclass
class Stored:
    """A document: the path of its resource, and its id."""

    path: str
    id: str
    document: ValidatedDocument


# The number of the request among those about documents, its method and path → an answer, or a fault, or None.
Fault = Callable[[int, str, str], Answer | str | None]


@dataclass
class ReferenceTarget:
    """`refuses` looks at method, path and body of a write before it is done."""

    changes_keys: bool = True
    # Requests for which a token is good.
    token_uses: int = 1_000_000
    # Operations of a batch at most; 0 if there are no batches.
    batch_size: int = 0
    fault: Fault = lambda *_: None
    refuses: Callable[["ReferenceTarget", str, str, dict | None], Answer | None] = lambda *_: None
    stored: dict[UUID, Stored] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)
    content_types: set[str] = field(default_factory=set)
    most_at_once: int = 0
    port: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._at_once = 0
        self._validators = DocumentValidators(current_surface())

    @property
    def address(self) -> str:
        return f"http://{ADDRESS}:{self.port}/"

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """Return the bodies of a resource, by their natural keys."""
        found = [each.document for each in self.stored.values() if each.path == path]
        return [each.body for each in sorted(found, key=lambda each: each.identity.natural_key)]

    def everything(self) -> dict[str, dict[str, Any]]:
        """Path and natural key → body."""
        return {
            f"{each.path} {each.document.identity.natural_key}": each.document.body for each in self.stored.values()
        }

    def writes(self) -> list[tuple[str, str]]:
        """Methods and endpoints."""
        return [(method, path.split("/")[4]) for method, path in self.requests if method != "GET"]

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> Answer | str:
        path = urlsplit(target).path
        if path == "/":
            urls = {"dataManagementApi": f"{self.address}data/v3/", "oauth": f"{self.address}oauth/token"}
            urls |= {"batchApi": f"{self.address}batch"} if self.batch_size else {}
            return Answer(200, {"version": "7.3", "dataModels": [{"name": "Ed-Fi", "version": "5.2.0"}], "urls": urls})
        if path == "/oauth/token":
            token = uuid4().hex
            self.tokens[token] = self.token_uses
            return Answer(200, {"access_token": token, "token_type": "bearer", "expires_in": 3600})
        with self._lock:
            self.requests.append((method, path))
            self.content_types |= {headers["Content-Type"]} if body else set()
            number = len(self.requests)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return self._about_documents(number, method, target, headers, body)
        finally:
            with self._lock:
                self._at_once -= 1

    def _about_documents(self, number: int, method: str, target: str, headers: Any, body: bytes) -> Answer | str:
        split = urlsplit(target)
        if fault := self.fault(number, method, split.path):
            return fault
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        if not self.tokens.get(token):
            return Answer(401, {"title": "Unauthorized"})
        self.tokens[token] -= 1
        if split.path == "/batch":
            return self._batch(json.loads(body))
        _, _, _, project, endpoint, *rest = split.path.split("/")
        sent = json.loads(body) if body else None
        with self._lock:
            if method != "GET" and (refused := self.refuses(self, method, endpoint, sent)):
                return refused
            return self._carried_out(method, f"/{project}/{endpoint}", "".join(rest), split.query, sent)

    def _batch(self, operations: list[dict[str, Any]]) -> Answer:
        if len(operations) > self.batch_size:
            return Answer(413, {"title": "Too Many Operations"})
        results = []
        for each in operations:
            path, id_ = each["resource"], each.get("id", "")
            method = "DELETE" if each["op"] == "delete" else "POST"
            with self._lock:
                endpoint = path.rpartition("/")[2]
                refused = self.refuses(self, method, endpoint, each.get("document"))
                answer = refused or self._carried_out(method, path, id_, "", each.get("document"))
            id_ = answer.location.rpartition("/")[2] or id_
            results.append({"status": answer.status, **({"problem": answer.body} if answer.body else {"id": id_})})
        return Answer(200, [*results, {"summary": {}}])

    def _carried_out(self, method: str, path: str, id_: str, query: str, sent: Any) -> Answer:
        match method:
            case "GET":
                return self._query(path, dict(parse_qsl(query)))
            case "POST":
                return self._upsert(path, sent)
            case "PUT":
                return self._replace(path, id_, sent)
        return self._delete(path, id_)

    def _query(self, path: str, wanted: dict[str, str]) -> Answer:
        resource = current_surface().resource_at(path)
        fields = {each.name: each.paths for each in resource.query_fields if each.name in wanted}
        found = [
            {"id": each.id, **each.document.body}
            for each in self.stored.values()
            if each.path == path
            and all(
                any(
                    as_text(value) == wanted[name]
                    for path_ in paths
                    for _, value in values_at(each.document.body, path_.steps)
                )
                for name, paths in fields.items()
            )
        ]
        return Answer(200, found[:25])

    def _upsert(self, path: str, sent: Any) -> Answer:
        document = self._prepared(path, sent)
        if isinstance(document, Answer):
            return document
        key = document.identity.referential_id
        found = self.stored.get(key)
        id_ = found.id if found else uuid4().hex
        self.stored[key] = Stored(path, id_, document)
        return Answer(200 if found else 201, location=f"{self.address}data/v3{path}/{id_}")

    def _replace(self, path: str, id_: str, sent: Any) -> Answer:
        found = self._with_id(id_)
        if found is None:
            return Answer(404, {"title": "Not Found"})
        document = self._prepared(path, {name: value for name, value in sent.items() if name != "id"})
        if isinstance(document, Answer):
            return document
        key = document.identity.referential_id
        if key != found:
            if not self.changes_keys:
                return Answer(400, {"title": "Key Change Not Supported", "detail": "Delete and recreate the item."})
            if key in self.stored:
                return Answer(409, {"title": "Identifying Values Are Not Unique"})
            # The references of others follow, as in an Ed-Fi API that changes keys.
            for each in self.stored.values():
                for moved in each.document.references:
                    if moved.referential_id == found:
                        each.document = document_with_moved_target(self._validators, each.document, found, document)
            del self.stored[found]
        self.stored[key] = Stored(path, id_, document)
        return Answer(204)

    def _delete(self, path: str, id_: str) -> Answer:
        found = self._with_id(id_)
        if found is None:
            return Answer(404, {"title": "Not Found"})
        aliases = set(self.stored[found].document.identity.aliases)
        for each in self.stored.values():
            if aliases & set(each.document.targets):
                return Answer(
                    409,
                    {
                        "type": "urn:ed-fi:api:data-conflict:dependent-item-exists",
                        "title": "Dependent Item Exists",
                        "status": 409,
                        "detail": "The requested action cannot be performed because this item is referenced by others.",
                    },
                )
        del self.stored[found]
        return Answer(204)

    def _with_id(self, id_: str) -> UUID | None:
        return next((key for key, each in self.stored.items() if each.id == id_), None)

    def _prepared(self, path: str, sent: Any) -> ValidatedDocument | Answer:
        resource = current_surface().resource_at(path)
        try:
            document = self._validators[resource.name].validate_new(sent, lambda _: {})
        except DataValidationFailed as failed:
            errors = {each.path: [each.message] for each in failed.violations}
            type_ = "urn:ed-fi:api:bad-request:data-validation-failed"
            return Answer(400, {"type": type_, "title": "Data Validation Failed", "validationErrors": errors})
        there = {alias for each in self.stored.values() for alias in each.document.identity.aliases}
        for each in document.references:
            if each.value is None and each.referential_id not in there:
                return Answer(
                    409,
                    {
                        "type": "urn:ed-fi:api:data-conflict:unresolved-reference",
                        "title": "Unresolved Reference",
                        "status": 409,
                        "detail": f"The referenced {each.target.resource} item does not exist.",
                    },
                )
        return document


def document_with_moved_target(
    validators: DocumentValidators, document: ValidatedDocument, old: UUID, target: ValidatedDocument
) -> ValidatedDocument:
    """The document with the new key of its target."""
    validator = validators[document.resource.name]
    body = json.loads(json.dumps(document.body))
    [key_values] = validators[target.resource.name].extractor.key_values(target.body)[:1]
    validator.extractor.follow_moved_targets(body, {old: key_values})
    return validator.validate(body, lambda _: {})


@contextmanager
def serving(target: ReferenceTarget) -> Iterator[ReferenceTarget]:
    """Serve the target on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = target.answer(self.command, self.path, self.headers, body)
            if answer == DROP:
                self.close_connection = True
                self.connection.close()
                return
            text = b"{" if answer == WRONG_JSON else b""
            status = 200
            if isinstance(answer, Answer):
                status = answer.status
                text = b"" if answer.body is None else json.dumps(answer.body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            if isinstance(answer, Answer) and answer.location:
                self.send_header("Location", answer.location)
            if status == 429:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_DELETE = handle_one

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((ADDRESS, 0), Handler)
    server.daemon_threads = True
    target.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield target
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
