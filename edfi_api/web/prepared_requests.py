"""Prepared requests: what a view leaves for the requests that are like the one it has answered.

What a request may do and how it is answered depends on its method, path, headers and client, which repeat for as long
as a token is valid. So the first request of a kind passes middleware and view; where these allow it, the view leaves a
prepared request. The server keeps it with the headers that middleware has added, and calls it for the next requests of
the kind (`meadowlark/serving/short_way.py`). What a prepared request has carried out and does not answer itself, such
as a refusal, is handed to the middleware and the view, which answer it without doing it again.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from django.http import HttpRequest

# The WSGI variable under which a view leaves a prepared request; it exists if the server can use one.
PREPARED = "meadowlark.prepared_request"
# The WSGI variable with what the server takes for the id of a document at the end of the path; None if there is none.
DOCUMENT_ID = "meadowlark.document_id"
# The WSGI variables of a request that a prepared one has carried out: its `CarriedOut`, and the time at which it began,
# by `time.perf_counter`.
CARRIED_OUT, BEGAN = "meadowlark.carried_out", "meadowlark.began"
# The most bytes that a prepared request answers itself: longer answers are sent by other threads.
LARGEST_ANSWER = 2**20


class PreparedAnswer(NamedTuple):
    """An answer with the headers that the view sets itself; `done` is that of `AnsweredRequest`."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    done: object = None


class CarriedOut(NamedTuple):
    """What was done for a request whose answer the view has to make: `view` is the one that answers by it."""

    view: Any


# What was read for a request: rows, or why they could not be read; None if it has to be read alone.
Found = Sequence[Any] | Exception | None
# Returns what it has found for each of several requests. Raises nothing.
ReadTogether = Callable[[Sequence[tuple[Any, str | None]]], Sequence[Found]]


class PreparedRequest(Protocol):
    """A request with everything resolved but the id at the end of its path, its query string and its body.

    `route` and `client_key` are those of metrics and logs. `own_headers` are the names of the headers that the view
    itself has set in the first answer; all others, which follow these, are the same in every answer.
    """

    route: str
    client_key: str
    own_headers: tuple[str, ...]
    # Reads what several requests need, given with their ids; None if each request is carried out alone.
    read_together: ReadTogether | None

    def is_current(self) -> bool:
        """Return whether the client is still remembered, with the same rights. Never reads the database."""

    def carry_out(
        self, document_id: str | None, as_django: Callable[[], HttpRequest], found: Found = None
    ) -> PreparedAnswer | CarriedOut:
        """Do what is requested, once, whatever comes of it. Raises nothing.

        `document_id` is what the path has at its end, if it is that of a document, `as_django` makes Django's request
        of all that was sent, `found` is what `read_together` has returned for the request.
        """
