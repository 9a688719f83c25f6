"""GET by id, prepared: `ResourceViewSet.retrieve` for further ids. See `edfi_api/web/prepared_requests.py`."""

from dataclasses import dataclass
from typing import ClassVar

from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.claims.compile import compiled_claim_set
from edfi_api.core.security.requests.authentication import remembered_client
from edfi_api.core.storage.store import PreparedGet
from edfi_api.web.prepared_requests import PreparedAnswer
from edfi_api.web.viewsets.representation import Representation
from edfi_api.web.viewsets.responses import quoted
from references.identity import as_uuid


@dataclass(frozen=True, slots=True)
class PreparedRead:
    """A `PreparedRequest` that answers with a document that exists and that the client may read, and nothing else."""

    varying: ClassVar[tuple[str, ...]] = ("ETag",)

    route: str
    client: AuthenticatedClient
    client_key: str
    # The key under which the client of the token is remembered.
    token_checksum: str
    # As it was before the policy of `get` was made of it.
    claim_set: object
    get: PreparedGet
    representation: Representation
    using: str

    def is_current(self) -> bool:
        """A client that is looked up again is another object, and so is a claim set that is compiled again."""
        return (
            remembered_client(self.token_checksum) is self.client and compiled_claim_set(self.client) is self.claim_set
        )

    def answer(self, document_id: str, connection: BaseDatabaseWrapper) -> PreparedAnswer | None:
        document_uuid = as_uuid(document_id)
        document = None if document_uuid is None else self.get(document_uuid, connection)
        if document is None:
            return None
        tag, text = self.representation.served(document, self.using)
        return PreparedAnswer(text, (quoted(tag),))
