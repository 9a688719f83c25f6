"""Reads documents, deletes and key changes of another API, in a window of its change versions or all.

Threads read ahead, some pages at most; what they have read is taken in the order of the resources. A collection of more
than a page is read by page tokens, in partitions at once, where the source has them. Otherwise it is read by offsets
from the last page backwards, one page after the other: a document that leaves the window in the meantime moves others
from pages that have been read to pages that have not, and never the other way round.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.features.exchange.capabilities import AVAILABLE_VERSIONS, Capabilities, RemoteResource
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.remote_api import (
    NotJson,
    RemoteAnswer,
    RemoteApi,
    RemoteFailed,
    RemoteRefused,
    RemoteTooLarge,
    expect,
    plain_id,
)
from edfi_api.model.surface.resource import Resource

PAGE_SIZE = 500
_DELETES, _KEY_CHANGES, _PARTITIONS = "deletes", "keyChanges", "partitions"
_SNAPSHOT = {"Use-Snapshot": "true"}
_NOT_FOR_THE_CLIENT = frozenset({403, 404, 405})
_PAGES_AHEAD = 2
_ATTEMPTS_AT_COMPLETENESS = 3
_ATTEMPTS_AT_JSON = 5
# The limits of a page, and of all pages that wait to be written. A page that has more is read in smaller parts.
_MOST_VALUES = 250_000
_MOST_BYTES_WAITING = 72 * 2**20
_MOST_BYTES_OF_DOCUMENT = 16 * 2**20
_PART_OF_PAGE = 8
_MOST_PARTITIONS = 1_000
# A source that shows none so often has not as many documents as it says.
_MOST_EMPTY_PAGES = 200
_LONGEST_TOTAL = 15
_LARGEST_VERSION = 2**63 - 1

Result = TypeVar("Result")
Page = list[dict[str, Any]]


class ReadWindow(NamedTuple):
    """Change versions from `first` to `last`, both included; None is open."""

    first: int | None = None
    last: int | None = None

    def parameters(self) -> dict[str, int]:
        pairs = (("minChangeVersion", self.first), ("maxChangeVersion", self.last))
        return {name: value for name, value in pairs if value is not None}


EVERYTHING = ReadWindow()


class ReadResource(NamedTuple):
    """A resource on both sides."""

    here: Resource
    there: RemoteResource


@dataclass(slots=True)
class _Head:
    """The first pages of a collection as they were answered, how many documents these have, and how many there are."""

    answers: list[RemoteAnswer] = field(default_factory=list)
    number: int = 0
    total: int = 0
    is_readable: bool = True

    @property
    def is_complete(self) -> bool:
        return self.number >= self.total


class _SeenIds(TemporaryDatabase):
    """The different ids among the documents of a collection."""

    def __init__(self) -> None:
        super().__init__("CREATE TABLE seen (id TEXT PRIMARY KEY) WITHOUT ROWID;")

    def add(self, page: Page) -> None:
        self._database.executemany("INSERT OR IGNORE INTO seen VALUES (?)", ((str(each.get("id")),) for each in page))

    def number(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM seen").fetchone()[0])


class RemoteSource:
    """The source that a connection reads from. Raises RemoteFailed from everything that reads."""

    def __init__(
        self,
        connection: Connection,
        api: RemoteApi,
        *,
        page_size: int = PAGE_SIZE,
        threads: int = 4,
        uses_snapshot: bool = False,
    ) -> None:
        self.api = api
        self.capabilities = Capabilities.read(api)
        self.not_readable: set[str] = set()
        self._page_size = page_size
        self._threads = threads
        # So many pages wait, are read, or are the first ones of later collections.
        self._most_bytes = max(_MOST_BYTES_WAITING // (4 * threads), 2**20)
        self._headers = _SNAPSHOT if uses_snapshot else {}
        self._profile = connection.read_profile
        self._profiled = self.capabilities.of_profile(api, self._profile) if self._profile else set[str]()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="reading")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)

    def newest_version(self) -> int | None:
        """Return the newest version, None if the source has no change queries."""
        address = self.capabilities.change_queries
        if not address or not any(each.has_windows for each in self.capabilities.resources.values()):
            return None
        found = self.api.get_json(address + AVAILABLE_VERSIONS, headers=self._headers)
        members = {name.lower(): value for name, value in found.items()} if isinstance(found, dict) else {}
        newest = members.get("newestchangeversion")
        if type(newest) is not int or not 0 <= newest < _LARGEST_VERSION:
            raise RemoteFailed("the available change versions are none")
        return newest

    def documents(self, resources: Sequence[ReadResource], window: ReadWindow) -> Iterator[tuple[ReadResource, Page]]:
        """All documents, in the order of the resources; those of one resource in any order, some twice."""
        for resource, head in self._read_ahead(resources, lambda each: self._head(each, window)):
            if not head.is_readable:
                self.not_readable.add(resource.there.path)
            elif head.is_complete:
                yield from ((resource, page) for each in head.answers if (page := _page(each)))
            elif resource.there.has_page_tokens:
                yield from ((resource, page) for page in self._by_tokens(resource, window, head.total))
            else:
                yield from ((resource, page) for page in self._all_by_offsets(resource, window))

    def deletes(self, resources: Sequence[ReadResource], window: ReadWindow) -> Iterator[tuple[ReadResource, Page]]:
        """The deletes of each resource, in the given order."""
        return self._tracked(_DELETES, [each for each in resources if each.there.has_deletes], window)

    def key_changes(self, resources: Sequence[ReadResource], window: ReadWindow) -> Iterator[tuple[ReadResource, Page]]:
        """The key changes of each resource, in the given order."""
        return self._tracked(_KEY_CHANGES, [each for each in resources if each.there.has_key_changes], window)

    def document(self, resource: ReadResource, remote_id: str) -> dict[str, Any] | None:
        """The document with this id there; None if there is none, or none that the client may read."""
        if plain_id(remote_id) is None:
            return None
        address = self.api.data_address(f"{resource.there.path}/{remote_id}")
        answer = self.api.get(address, headers=self._headers_of(resource))
        if answer.status in _NOT_FOR_THE_CLIENT or answer.status == 410:
            return None
        found = expect(answer, address).json()
        if not isinstance(found, dict):
            raise RemoteFailed(f"{address} is no document")
        return found

    def _tracked(
        self, below: str, resources: Sequence[ReadResource], window: ReadWindow
    ) -> Iterator[tuple[ReadResource, Page]]:
        def read(resource: ReadResource, offset: int = 0) -> RemoteAnswer:
            return self._get(resource, below, {**window.parameters(), "limit": self._page_size, "offset": offset})

        for resource, first in self._read_ahead(resources, read):
            if first.status in _NOT_FOR_THE_CLIENT:
                continue
            answer, page, offset = first, _page(first), 0
            while page:
                yield resource, page
                offset += len(page)
                if len(page) < self._page_size:
                    break
                before, answer = answer.body, read(resource, offset)
                if answer.body == before:
                    raise RemoteFailed(f"{resource.there.path}/{below} answers the same to every offset")
                page = _page(answer)

    def _head(self, resource: ReadResource, window: ReadWindow) -> _Head:
        parameters = {**window.parameters(), "limit": self._page_size, "totalCount": "true"}
        try:
            answer = self._get(resource, "", parameters)
        except RemoteTooLarge:
            if self._page_size == 1:
                raise
            answer = self._get(resource, "", {**parameters, "limit": 1})
        if answer.status in _NOT_FOR_THE_CLIENT:
            return _Head(is_readable=False)
        return _Head([answer], len(_page(answer)), _total(answer))

    def _by_tokens(self, resource: ReadResource, window: ReadWindow, total: int) -> Iterator[Page]:
        path = resource.there.path
        answer = expect(self._get(resource, _PARTITIONS, {**window.parameters(), "number": self._threads}), path)
        listed = answer.json()
        tokens = listed.get("pageTokens") if isinstance(listed, dict) else None
        if not isinstance(tokens, list) or len(tokens) > _MOST_PARTITIONS:
            raise RemoteFailed(f"the partitions of {path} are none, or more than {_MOST_PARTITIONS:,}")
        # Documents may be added in the meantime, and a page may have few.
        most_pages = 2 * total + _MOST_EMPTY_PAGES

        def pages(token: str) -> Iterator[RemoteAnswer]:
            following, number, size = token, 0, self._page_size
            while following:
                number += 1
                if number > most_pages:
                    raise RemoteFailed(f"the pages of {path} have no end")
                try:
                    answer = self._get(resource, "", {**window.parameters(), "pageToken": following, "pageSize": size})
                except RemoteTooLarge:
                    if size == 1:
                        raise
                    size = max(size // _PART_OF_PAGE, 1)
                    continue
                yield answer
                before, following = following, answer.headers.get("next-page-token", "")
                if following == before:
                    raise RemoteFailed(f"a page of {path} names itself as the next one")

        return _read_at_once([partial(pages, str(token)) for token in tokens], self._threads)

    def _by_offsets(self, resource: ReadResource, window: ReadWindow, total: int) -> Iterator[Page]:
        offsets = range((total - 1) // self._page_size * self._page_size, -1, -self._page_size)

        def pages() -> Iterator[RemoteAnswer]:
            empty = 0
            for offset in offsets:
                for answer in self._part(resource, window, offset, self._page_size):
                    empty = empty + 1 if answer.body.strip() == b"[]" else 0
                    if empty > _MOST_EMPTY_PAGES:
                        raise RemoteFailed(f"{resource.there.path} has fewer documents than its Total-Count says")
                    yield answer

        return _read_at_once([pages], 1)

    def _part(self, resource: ReadResource, window: ReadWindow, offset: int, size: int) -> Iterator[RemoteAnswer]:
        """Yield so many documents, in several answers if one would be too large; the last ones first."""
        try:
            yield self._get(resource, "", {**window.parameters(), "limit": size, "offset": offset})
        except RemoteTooLarge:
            if size == 1:
                raise
            part = max(size // _PART_OF_PAGE, 1)
            for first in reversed(range(0, size, part)):
                yield from self._part(resource, window, offset + first, min(part, size - first))

    def _all_by_offsets(self, resource: ReadResource, window: ReadWindow) -> Iterator[Page]:
        """Documents leave a window, and without one others also come in between: the collection is read again until as
        many different ones have been read as it has. Raises RemoteFailed if it never has."""
        with _SeenIds() as seen:
            for _ in range(_ATTEMPTS_AT_COMPLETENESS):
                total = self._head(resource, window).total
                for page in self._by_offsets(resource, window, total):
                    seen.add(page)
                    yield page
                if seen.number() >= self._head(resource, window).total:
                    return
        raise RemoteFailed(
            f"{resource.there.path} changes too fast to be read completely, or has fewer documents than its "
            "Total-Count says"
        )

    def _get(self, resource: ReadResource, below: str, parameters: Mapping[str, Any]) -> RemoteAnswer:
        """An answer that has JSON if it is a 200. One that has none is requested again. Raises RemoteTooLarge."""
        path = f"{resource.there.path}/{below}" if below else resource.there.path
        headers = self._headers if below else self._headers_of(resource)
        address = self.api.data_address(path)
        is_single = parameters.get("limit", parameters.get("pageSize")) == 1
        most = _MOST_BYTES_OF_DOCUMENT if is_single else self._most_bytes
        for _ in range(_ATTEMPTS_AT_JSON):
            answer = self.api.get(address, parameters, headers, most)
            if answer.status != 200:
                return answer
            # Decoded again where it is used: texts wait in less memory than values.
            with suppress(NotJson):
                answer.json(_MOST_VALUES)
                return answer
        raise RemoteFailed(f"{address} answers with what is not JSON")

    def _headers_of(self, resource: ReadResource) -> Mapping[str, str]:
        """Return the headers with the media type of the profile, if that is about the resource."""
        if resource.there.path not in self._profiled:
            return self._headers
        media_type = f"application/vnd.ed-fi.{resource.here.name.resource}.{self._profile}.readable+json".lower()
        return {**self._headers, "Accept": media_type}

    def _read_ahead(
        self, resources: Sequence[ReadResource], read: Callable[[ReadResource], Result]
    ) -> Iterator[tuple[ReadResource, Result]]:
        """Read ahead, and yield what `read` returns for each resource, in their order; one per thread is read ahead."""
        under_way: deque[tuple[ReadResource, Future[Result]]] = deque()
        try:
            for resource in resources:
                under_way.append((resource, self._pool.submit(read, resource)))
                if len(under_way) > self._threads:
                    done, future = under_way.popleft()
                    yield done, future.result()
            while under_way:
                done, future = under_way.popleft()
                yield done, future.result()
        finally:
            for _, future in under_way:
                future.cancel()


def _read_at_once(streams: Sequence[Callable[[], Iterator[RemoteAnswer]]], threads: int) -> Iterator[Page]:
    """The pages of all streams, each read by a thread, as they come; a few wait at most."""
    pages: queue.Queue[RemoteAnswer | BaseException | None] = queue.Queue(_PAGES_AHEAD * threads)
    is_over = threading.Event()

    def put(item: RemoteAnswer | BaseException | None) -> None:
        while not is_over.is_set():
            try:
                return pages.put(item, timeout=0.1)
            except queue.Full:
                continue

    def run(stream: Callable[[], Iterator[RemoteAnswer]]) -> None:
        try:
            for page in stream():
                put(page)
                if is_over.is_set():
                    return
        except BaseException as error:  # Raised where the pages are taken.
            put(error)
        else:
            put(None)

    with ThreadPoolExecutor(threads, thread_name_prefix="pages") as pool:
        try:
            for stream in streams:
                pool.submit(run, stream)
            left = len(streams)
            while left:
                item = pages.get()
                if isinstance(item, BaseException):
                    raise item
                if item is None:
                    left -= 1
                else:
                    yield _page(item)
        finally:
            is_over.set()


def _page(answer: RemoteAnswer) -> Page:
    if answer.status != 200:
        raise RemoteRefused(f"a page is answered with {answer.status} {answer.problem()}".strip(), answer.status)
    found = answer.json(_MOST_VALUES)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise RemoteFailed("a page is not a list of documents")
    return found


def _total(answer: RemoteAnswer) -> int:
    said = answer.headers.get("total-count", "")
    if said.isascii() and said.isdecimal() and len(said) <= _LONGEST_TOTAL:
        return int(said)
    raise RemoteFailed("a collection does not say its Total-Count, or says more than there can be")
