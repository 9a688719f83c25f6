"""Prepared requests: what a view leaves behind for the requests that are like the one it has answered.

What a request may do and how it is answered depends on its method, path, headers and client, which repeat for as long
as a token is valid. So the first request of a kind passes middleware and view; where these allow it, the view leaves a
prepared request, with everything resolved but the id. The server keeps it with the headers of the answer, and calls it
for the next requests of the kind (`meadowlark/serving/prepared.py`). A prepared request may always decline: the request
then passes middleware and view as the first one did.
"""

from typing import NamedTuple, Protocol

from django.db.backends.base.base import BaseDatabaseWrapper

# The WSGI variable under which a view leaves a prepared request; it exists if the server can use one.
PREPARED = "meadowlark.prepared_request"


class PreparedAnswer(NamedTuple):
    """A body, and the values of the headers that `PreparedRequest.varying` names, in their order."""

    body: bytes
    varying: tuple[str, ...]


class PreparedRequest(Protocol):
    """A request with everything resolved but the id at the end of its path.

    `using` is the alias of the database that it reads. `route` and `client_key` are those of metrics and logs. Headers
    of the answer that are not `varying`, and not `Content-Length`, are those of the first answer.
    """

    using: str
    route: str
    client_key: str
    varying: tuple[str, ...]

    def is_current(self) -> bool:
        """Whether the client is still remembered, with the same rights. Never reads the database."""

    def answer(self, document_id: str, connection: BaseDatabaseWrapper) -> PreparedAnswer | None:
        """The answer with the status of the first one; None if there is another one, or none yet. The connection is an
        open one of the database `using`."""
