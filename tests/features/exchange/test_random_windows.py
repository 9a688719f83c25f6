"""Random changes at a source, before and while windows are read, which end anywhere: `make test-exchange`."""

import json
import random
import string
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest
from django.db import connections

from edfi_api.core.models import Document
from edfi_api.features.exchange.models import Connection, WaitingDocument
from edfi_api.features.exchange.pull.outcomes import Outcomes
from edfi_api.features.exchange.pull.pulling import Puller, PullOptions
from edfi_api.features.exchange.pull.reading import RemoteSource
from edfi_api.features.exchange.remote_api import RemoteApi, RemoteFailed, Trust
from edfi_api.model.surface.resource import Surface
from tests.features.exchange.district import District
from tests.features.exchange.reference_source import ReferenceSource, Stored
from tests.support.databases import DOCUMENTS

PERIODS, BELLS = "ed-fi/classPeriods", "ed-fi/bellSchedules"
NAMES = string.ascii_uppercase


class Changes:
    """Changes a source at random, as a server with foreign keys would let them be made."""

    def __init__(self, district: District, random_: random.Random) -> None:
        self.district, self.source, self.random = district, district.source, random_
        self.removed: list[Stored] = []

    def make(self) -> None:
        """One of them, unless it is refused."""
        kinds = [self.put_period, self.rename, self.rename, self.put_bells, self.remove, self.remove, self.restore]
        with self.source.lock:
            self.random.choice(kinds)()

    def stored(self, path: str) -> list[Stored]:
        return [each for each in self.source.documents.values() if each.path == path]

    def find(self, path: str, name: str) -> Stored | None:
        return next((each for each in self.stored(path) if _name(each) == name), None)

    def put_period(self) -> None:
        name = self.random.choice(NAMES)
        there = self.find(PERIODS, name)
        body = self.district.period(name) | {"officialAttendancePeriod": self.random.random() < 0.5}
        self.source.put(PERIODS, body, there.id if there else None)

    def rename(self) -> None:
        stored, new = self.any(PERIODS), self.random.choice(NAMES)
        if stored is None or self.find(PERIODS, new):
            return
        old = _name(stored)
        self.source.rename(
            stored, {**stored.body, "classPeriodName": new}, _key(stored), {**_key(stored), "classPeriodName": new}
        )
        for each in self.stored(BELLS):
            if old in _referred(each):
                names = [new if name == old else name for name in _referred(each)]
                self.source.put(BELLS, self.district.bells(_name(each), *names), each.id)

    def put_bells(self) -> None:
        name, there = self.random.choice(NAMES), [_name(each) for each in self.stored(PERIODS)]
        if not there:
            return
        bells = self.find(BELLS, name)
        body = self.district.bells(name, *self.random.sample(there, min(len(there), 2)))
        self.source.put(BELLS, body, bells.id if bells else None)

    def remove(self) -> None:
        path = self.random.choice([PERIODS, PERIODS, BELLS])
        stored = self.any(path)
        if stored is None or (path == PERIODS and any(_name(stored) in _referred(each) for each in self.stored(BELLS))):
            return
        self.source.remove(stored, **_key(stored))
        self.removed.append(stored)

    def restore(self) -> None:
        if not self.removed:
            return
        found = self.removed.pop(self.random.randrange(len(self.removed)))
        there = {_name(each) for each in self.stored(PERIODS)}
        if self.find(found.path, _name(found)) is None and there.issuperset(_referred(found)):
            self.source.put(found.path, found.body, found.id)

    def any(self, path: str) -> Stored | None:
        found = self.stored(path)
        return self.random.choice(found) if found else None


def _name(stored: Stored) -> str:
    return stored.body.get("classPeriodName") or stored.body["bellScheduleName"]


def _key(stored: Stored) -> dict[str, Any]:
    return {name: value for name, value in stored.body.items() if name.endswith("Name")} | {"schoolId": 1}


def _referred(bells: Stored) -> list[str]:
    return [each["classPeriodReference"]["classPeriodName"] for each in bells.body.get("classPeriods", ())]


@pytest.mark.exchange
def test_nothing_is_missing_and_nothing_left_over(
    district: District,
    source: ReferenceSource,
    connect: Callable[..., Connection],
    surface: Surface,
    *,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    chance = random.Random(seed)  # noqa: S311  not a secret
    changes = Changes(district, chance)
    district.descriptors()
    district.school()
    connection = connect()
    is_over, ends_at, finish = False, 0, Outcomes.finish

    def happens(number: int, path: str) -> int | None:
        if is_over or not path.startswith("/data/"):
            return None
        if chance.random() < 0.4:
            changes.make()
        return 400 if number == ends_at else None

    def finish_unanswered(outcomes: Outcomes, version: int | None) -> None:
        finish(outcomes, version)
        if not is_over and chance.random() < 0.1:
            raise RemoteFailed("the commit is not answered")

    source.fault = happens
    monkeypatch.setattr(Outcomes, "finish", finish_unanswered)
    with RemoteSource(connection, RemoteApi(connection, Trust(), 1), threads=1) as opened:

        def new_process() -> Puller:
            overlap, is_full = chance.choice((0, 0, 10)), not is_over and chance.random() < 0.05
            options = PullOptions(processes=0, overlap=overlap, is_full=is_full, deletes_allowed=100)
            return Puller(connection, opened, surface, DOCUMENTS, options)

        puller = new_process()
        for _ in range(60):
            for _ in range(chance.randrange(12)):
                changes.make()
            if chance.random() < 0.5:
                puller = new_process()
            _let_some_be_due()
            ends_at = len(source.requests) + chance.randrange(40)
            with suppress(RemoteFailed):
                puller.pull()
        is_over, puller = True, new_process()
        for _ in range(20):
            _let_some_be_due()
            puller.pull()
            if not WaitingDocument.objects.using(DOCUMENTS).exists():
                break
        puller.pull()

    rows = Document.objects.using(DOCUMENTS).filter(resource_type__name__in=["ClassPeriod", "BellSchedule"])
    there = [each.body for each in changes.stored(PERIODS) + changes.stored(BELLS)]
    assert _texts(row.body for row in rows) == _texts(there)


def _let_some_be_due() -> None:
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("UPDATE exchange_waiting SET due_at = now() WHERE random() < 0.5")


def _texts(bodies: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(body, sort_keys=True) for body in bodies)
