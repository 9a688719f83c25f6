"""The prepared requests of the views of resources. See `edfi_api/web/prepared_requests.py`.

`PreparedAction` calls the action of a view, without Django REST framework's dispatch and without authentication, which
is compared with what is remembered instead. `PreparedRead` is a GET by id of which the statement is composed, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.claims.compile import compiled_claim_set
from edfi_api.core.security.requests.authentication import remembered_client
from edfi_api.core.security.requests.authorization import Authorization
from edfi_api.core.storage.driver.execution import execute_together
from edfi_api.core.storage.store import Reading
from edfi_api.web.answered_requests import DocumentsRead
from edfi_api.web.prepared_requests import LARGEST_ANSWER, CarriedOut, Found, PreparedAnswer, ReadTogether
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.representation import Representation
from edfi_api.web.viewsets.requests import document_uuid
from edfi_api.web.viewsets.responses import JSON, JsonTextResponse, quoted
from references.identity import as_uuid


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedAction:
    """A `PreparedRequest` of an action of a viewset."""

    # Returns a new view.
    viewset: type[Any]
    # The name of its method.
    action: str
    # The keyword arguments of the route, but the id.
    arguments: dict[str, Any]
    route: str
    client: AuthenticatedClient
    client_key: str
    # The key under which the client of the token is remembered.
    token_checksum: str
    # As it was before the authorization was made of it.
    claim_set: object
    allowed: Authorization
    using: str
    # As the client sees it; the headers that decide about it are the same. Only answers to POST and PUT have it.
    address: str | None
    own_headers: tuple[str, ...]
    read_together: ReadTogether | None = None

    def is_current(self) -> bool:
        """A client that is looked up again is another object, and so is a claim set that is compiled again."""
        return (
            remembered_client(self.token_checksum) is self.client and compiled_claim_set(self.client) is self.claim_set
        )

    def carry_out(
        self, document_id: str | None, as_django: Callable[[], HttpRequest], found: Found = None
    ) -> PreparedAnswer | CarriedOut:
        view, sent = self.viewset(), as_django()
        try:
            response = view.act_as_prepared(self, document_id, sent)
        except Exception as error:  # Whatever it is: the action was called, and the view has to answer what it raised.
            return CarriedOut(view.answering(error))
        done = vars(sent).get("done")
        content = b"" if response.streaming else response.content
        if response.streaming or len(content) > LARGEST_ANSWER:
            response.done = done
            return CarriedOut(view.answering(response))
        return PreparedAnswer(response.status_code, list(response.headers._store.values()), content, done)


def _read_together(requests: Sequence[tuple["PreparedRead", str | None]]) -> Sequence[Found]:
    """Read the documents in one round trip, if they are in the database of the first request."""
    using = requests[0][0].using
    ids = [as_uuid(document_id or "") if each.using == using else None for each, document_id in requests]
    statements = [each.read.statement(id_) for (each, _), id_ in zip(requests, ids, strict=True) if id_]
    try:
        found = iter(execute_together(statements, using))
    except Exception as error:  # The view answers it, as it does in `carry_out`.
        return [error] * len(requests)
    return [next(found) if id_ else None for id_ in ids]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRead(PreparedAction):
    """A GET of one document, of which the statement and the representation are resolved, too."""

    read_together: ReadTogether | None = _read_together
    read: Reading
    representation: Representation

    def carry_out(
        self, document_id: str | None, as_django: Callable[[], HttpRequest], found: Found = None
    ) -> PreparedAnswer | CarriedOut:
        try:
            if isinstance(found, Exception):
                raise found
            document = self.read(document_uuid(document_id or ""), found)
            if document is None:
                raise ResourceNotFound
            tag, text = self.representation.served(document, self.using)
        except Exception as error:
            return CarriedOut(self.viewset().answering(error))
        done = DocumentsRead(1, len(text))
        if len(text) > LARGEST_ANSWER:
            response = JsonTextResponse(text, {"ETag": quoted(tag)})
            response.done = done  # type: ignore[attr-defined]  # As the request has it otherwise.
            return CarriedOut(self.viewset().answering(response))
        headers = [("Content-Type", JSON), ("Content-Length", str(len(text))), ("ETag", quoted(tag))]
        return PreparedAnswer(200, headers, text, done)
