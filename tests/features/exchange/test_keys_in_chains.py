"""Changes of keys in chains of parents, exchanges of keys and deletes among them, however windows end."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.core.models import Document
from edfi_api.features.exchange.models import Connection, PinnedDocument, WaitingDocument
from edfi_api.features.exchange.pull.pulling import Puller, PullOptions
from edfi_api.features.exchange.pull.reading import RemoteSource
from edfi_api.features.exchange.remote_api import RemoteApi, RemoteFailed, Trust
from edfi_api.model.surface.resource import Surface
from tests.features.exchange.cascading_source import CascadingSource
from tests.features.exchange.reference_source import Stored
from tests.support.databases import DOCUMENTS
from tests.support.examples import examples
from tests.support.factories import DocumentFactory

EXAMPLES = examples(4)
SESSIONS, OFFERINGS, SECTIONS, ENROLLMENTS = ORDER = (
    "ed-fi/sessions",
    "ed-fi/courseOfferings",
    "ed-fi/sections",
    "ed-fi/studentSectionAssociations",
)
# Of the own member of the key.
MEMBERS = {
    SESSIONS: "sessionName",
    OFFERINGS: "localCourseCode",
    SECTIONS: "sectionIdentifier",
    ENROLLMENTS: "beginDate",
}
NAMES = "ABC"
# What happens, to which resource, and two numbers that choose documents and names.
Step = tuple[str, str, int, int]


class Classes:
    """Sessions with courses, their sections, and enrollments in these, of a source."""

    def __init__(self, source: CascadingSource, bodies: dict[str, dict[str, Any]]) -> None:
        self.source = source
        self._bodies = bodies

    def put(self, path: str, names: str, **changes: Any) -> Stored | None:
        """The document whose key has these names from the session on, if its parents are there."""
        body = self.body(path, names) | changes
        if not self.source.has_targets(path, body):
            return None
        there = self.source.find(path, body)
        return self.source.put(path, body, there.id if there else None)

    def body(self, path: str, names: str) -> dict[str, Any]:
        values = {MEMBERS[each]: _value(each, name) for each, name in zip(ORDER, names, strict=False)}
        return _with_values(self._bodies[path], values)

    def find(self, path: str, names: str) -> Stored | None:
        return self.source.find(path, self.body(path, names))

    def rename(self, stored: Stored, name: str) -> bool:
        """Whether the new key was free."""
        key = {MEMBERS[stored.path]: _value(stored.path, name)}
        if self.source.find(stored.path, stored.body | key):
            return False
        self.source.change_key(stored, **key)
        return True

    def exchange(self, one: Stored, other: Stored) -> None:
        """Let two documents of one parent exchange their names."""
        names = [_name(each) for each in (one, other)]
        if one.id == other.id or not self.rename(one, "Z"):
            return
        if self.rename(self.source.documents[other.id], names[0]):
            self.rename(self.source.documents[one.id], names[1])
        else:
            self.rename(self.source.documents[one.id], names[0])


def _value(path: str, name: str) -> str:
    return f"2025-09-{ord(name) - ord('A') + 1:02}" if path == ENROLLMENTS else name


def _name(stored: Stored) -> str:
    value = stored.body[MEMBERS[stored.path]]
    return chr(ord("A") + int(value[-2:]) - 1) if stored.path == ENROLLMENTS else value


def _with_values(value: Any, values: dict[str, Any]) -> Any:
    """A copy with these values wherever members have their names."""
    if isinstance(value, dict):
        return {name: values.get(name) or _with_values(each, values) for name, each in value.items()}
    return [_with_values(each, values) for each in value] if isinstance(value, list) else value


@pytest.fixture
def classes(surface: Surface, db: None) -> Iterator[Classes]:
    """What they refer to, and is none of them, is here."""
    documents = DocumentFactory(surface)
    by_path = {each.url_path.strip("/"): each for each in surface.resources}
    documents.store_targets(by_path[ENROLLMENTS], documents.minimal_body(by_path[ENROLLMENTS]))
    Document.objects.using(DOCUMENTS).filter(resource_type__name__in=_names_of(surface)).delete()
    with CascadingSource(order=ORDER, surface=surface, has_tokens=False).serving() as source:
        yield Classes(source, {path: documents.minimal_body(by_path[path]) for path in ORDER})


def _names_of(surface: Surface) -> list[str]:
    return [each.name.resource for each in surface.resources if each.url_path.strip("/") in ORDER]


@pytest.fixture
def connected(classes: Classes, connect: Callable[..., Connection]) -> Connection:
    return connect(address=classes.source.address)


class Pulling:
    """Pulls of one connection, each perhaps in a new process."""

    def __init__(self, classes: Classes, connection: Connection, surface: Surface, opened: RemoteSource) -> None:
        self.classes, self.connection, self.surface, self.opened = classes, connection, surface, opened

    def pull(self, requests: int = 0) -> None:
        """Pull until it has made so many requests; 0 is to its end."""
        source = self.classes.source
        ends_at = len(source.requests) + requests
        source.fault = lambda number, path: 400 if requests and number > ends_at else None
        puller = Puller(self.connection, self.opened, self.surface, DOCUMENTS, PullOptions(processes=0))
        with suppress(RemoteFailed):
            puller.pull()
        source.fault = lambda number, path: None

    def finish(self) -> None:
        for _ in range(10):
            self.pull()
            with connections[DOCUMENTS].cursor() as cursor:
                cursor.execute("UPDATE exchange_waiting SET due_at = now()")
            if not WaitingDocument.objects.using(DOCUMENTS).exists():
                break
        self.pull()

    def here(self) -> list[str]:
        rows = Document.objects.using(DOCUMENTS).filter(resource_type__name__in=_names_of(self.surface))
        return sorted(json.dumps(row.body, sort_keys=True) for row in rows)

    def there(self) -> list[str]:
        return sorted(json.dumps(each.body, sort_keys=True) for each in self.classes.source.documents.values())


@pytest.fixture
def pulling(classes: Classes, connected: Connection, surface: Surface) -> Iterator[Pulling]:
    with RemoteSource(connected, RemoteApi(connected, Trust(), 1), threads=1) as opened:
        yield Pulling(classes, connected, surface, opened)


def test_a_document_and_its_parents_get_new_keys_in_one_window(classes: Classes, pulling: Pulling) -> None:
    for path, names in zip(ORDER, ("A", "AA", "AAA", "AAAA"), strict=True):
        classes.put(path, names)
    pulling.pull()
    ids = set(Document.objects.using(DOCUMENTS).values_list("document_uuid", flat=True))
    classes.rename(classes.find(SESSIONS, "A"), "B")
    classes.rename(classes.find(SECTIONS, "BAA"), "C")
    classes.rename(classes.find(ENROLLMENTS, "BACA"), "B")

    pulling.pull()

    assert classes.find(ENROLLMENTS, "BACB")
    assert pulling.here() == pulling.there()
    assert set(Document.objects.using(DOCUMENTS).values_list("document_uuid", flat=True)) == ids


def test_a_delete_followed_by_a_change_of_the_key_of_its_parent(classes: Classes, pulling: Pulling) -> None:
    for path, names in zip(ORDER, ("A", "AA", "AAA", "AAAA"), strict=True):
        classes.put(path, names)
    classes.put(ENROLLMENTS, "AAAB")
    pulling.pull()
    classes.source.remove_unreferenced(classes.find(ENROLLMENTS, "AAAA"))
    classes.rename(classes.find(SECTIONS, "AAA"), "B")
    classes.rename(classes.find(SESSIONS, "A"), "C")

    pulling.pull()

    assert len(pulling.here()) == 4
    assert pulling.here() == pulling.there()


def test_documents_that_exchange_their_keys_keep_what_refers_to_them(classes: Classes, pulling: Pulling) -> None:
    for names in ("A", "B"):
        classes.put(SESSIONS, names, totalInstructionalDays=100 + ord(names))
    classes.put(OFFERINGS, "AA")
    classes.put(SECTIONS, "AAA")
    pulling.pull()
    rows = Document.objects.using(DOCUMENTS)
    before = {row.document_uuid: row.body for row in rows.filter(resource_type__name="Session")}
    classes.exchange(classes.find(SESSIONS, "A"), classes.find(SESSIONS, "B"))

    pulling.pull()

    for row in rows.filter(resource_type__name="Session"):
        assert row.body["totalInstructionalDays"] == before[row.document_uuid]["totalInstructionalDays"]
        assert row.body["sessionName"] != before[row.document_uuid]["sessionName"]
    assert pulling.here() == pulling.there()
    assert not PinnedDocument.objects.using(DOCUMENTS).exists()


def test_a_key_of_a_document_that_is_deleted_in_the_same_window(classes: Classes, pulling: Pulling) -> None:
    for names in ("A", "B"):
        classes.put(SESSIONS, names)
        classes.put(OFFERINGS, names + "A")
    pulling.pull()
    for path, names in ((OFFERINGS, "AA"), (SESSIONS, "A")):
        assert classes.source.remove_unreferenced(classes.find(path, names))
    classes.rename(classes.find(SESSIONS, "B"), "A")

    pulling.pull()

    assert pulling.here() == pulling.there()


_ORDINARY = ("put", "put", "put", "rename", "rename", "exchange", "remove", "remove", "pull")
_STEPS = st.lists(
    st.tuples(st.sampled_from([*_ORDINARY, "interrupted"]), st.sampled_from(ORDER), *[st.integers(0, 30)] * 2),
    max_size=45,
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=_STEPS)
def test_source_and_target_are_equal(
    classes: Classes, pulling: Pulling, steps: list[tuple[str, str, int, int]]
) -> None:
    source = classes.source
    source.documents, source.deletes, source.key_changes, source.version = {}, [], [], 0
    for session in "AB":
        for path, names in zip(ORDER, ("", "A", "AA", "AAA"), strict=True):
            classes.put(path, session + names)
    with transaction.atomic(DOCUMENTS):
        pulling.pull()
        for step in steps:
            _take(classes, pulling, step)
        pulling.finish()

        assert pulling.here() == pulling.there()
        transaction.set_rollback(True, DOCUMENTS)


def _take(classes: Classes, pulling: Pulling, step: Step) -> None:
    kind, path, one, other = step
    stored = [each for each in classes.source.documents.values() if each.path == path]
    first, second = (stored[each % len(stored)] if stored else None for each in (one, other))
    name = NAMES[other % len(NAMES)]
    match kind:
        case "pull":
            pulling.pull()
        case "interrupted":
            pulling.pull(requests=1 + one)
        case "put":
            _put_below(classes, path, one, name)
        case "rename" if first:
            classes.rename(first, name)
        case "exchange" if first and second and _parent(first) == _parent(second):
            classes.exchange(first, second)
        case "remove" if first:
            classes.source.remove_unreferenced(first)


def _put_below(classes: Classes, path: str, number: int, name: str) -> None:
    """A document of this name below one that there is."""
    depth = ORDER.index(path)
    parents = [each for each in classes.source.documents.values() if each.path == ORDER[depth - 1]] if depth else []
    if depth and not parents:
        return
    names = _names(parents[number % len(parents)]) if depth else ""
    classes.put(path, names + name)


def _names(stored: Stored) -> str:
    """The names of its key from the session on."""
    text = json.dumps(stored.body)
    found = [json.loads(text)]
    values: dict[str, Any] = {}
    while found:
        each = found.pop()
        values |= {name: value for name, value in each.items() if name in MEMBERS.values()}
        found += [value for value in each.values() if isinstance(value, dict)]
    depth = ORDER.index(stored.path)
    return "".join(_name(Stored(each, "", 0, values)) for each in ORDER[: depth + 1])


def _parent(stored: Stored) -> str:
    return _names(stored)[:-1]
