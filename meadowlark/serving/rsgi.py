"""The part of RSGI that is used: the interface between Granian and its applications, as Granian documents it.

https://github.com/emmett-framework/granian/blob/master/docs/spec/RSGI.md
"""

from collections.abc import Callable, Generator, Iterator
from typing import Any, Protocol, Self

# Names and values.
Fields = list[tuple[str, str]]


class Headers(Protocol):
    """Of a request; names are in lower case. Values that are not ASCII are not among the items."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def items(self) -> Fields: ...


class Scope(Protocol):
    """The head of a request. `path` is decoded; `client` is ADDRESS:PORT."""

    client: str
    headers: Headers
    http_version: str
    method: str
    path: str
    query_string: str


class Pending(Protocol):
    """A part of a body: a future like those of asyncio."""

    def __await__(self) -> Generator[Any, None, bytes]: ...
    def add_done_callback(self, callback: Callable[[Any], None]) -> None: ...
    def cancel(self) -> bool: ...
    def cancelled(self) -> bool: ...
    def done(self) -> bool: ...
    def result(self) -> bytes: ...


class HTTPProtocol(Protocol):
    """The body of a request, in whole by a call or in chunks by iteration, and the answer to it."""

    def __call__(self) -> Pending: ...
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Pending: ...
    def response_bytes(self, status: int, headers: Fields, body: bytes) -> None: ...
    def response_file(self, status: int, headers: Fields, file: str) -> None: ...
