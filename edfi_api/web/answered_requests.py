"""What is known of an answered request by those who count requests after their answers."""

from typing import Any, NamedTuple

# The view of all data routes.
DATA_VIEW = "data"


class DocumentsRead(NamedTuple):
    """The number of documents in an answer, and the bytes of their JSON. `what` is "document" for a single one;
    otherwise the answer is a page, and `query` the query string that selected it."""

    documents: int
    size: int
    what: str = "document"
    query: str = ""


class AnsweredRequest(NamedTuple):
    """`method`, `view` and `route` are labels, `client` is its key, and `problem` the type of the problem. `store` is
    the id of the data store, `refused` why it was not used. `done` is what the view has left as `request.done` (an
    `Outcome`, `DocumentsRead`, or a `RefusedWrite`), else the body of the problem, or None without one."""

    method: str
    view: str
    route: str
    status: int
    seconds: float
    client: str | None = None
    problem: str | None = None
    store: int | None = None
    refused: str | None = None
    done: Any = None
