"""Many refused writes at once, each with a resource and cause of its own."""

import time
from contextlib import closing

import psutil
import pytest

from edfi_api.features.refusals import recorder as recorder_module
from edfi_api.features.refusals.ledger import MOST_SUMMARIES
from edfi_api.features.refusals.models import Refusal
from edfi_api.features.refusals.pending import MOST_BYTES, MOST_WRITES
from edfi_api.features.refusals.recorder import Recorder
from edfi_api.web.write_recorder import RefusedWrite

PER_CLIENT = 1_000
BODY = 1_000
PROBLEM = {"type": "urn:ed-fi:api:not-found", "title": "Not Found", "status": 404, "errors": []}


@pytest.fixture(params=[20_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def flood(request) -> int:
    return request.param


def refusal(number: int) -> RefusedWrite:
    resource, body = f"/unknown/{number}", {"text": f"{number:0{BODY}}"}
    return RefusedWrite(1, 0, resource, None, "upsert", PROBLEM, time.time(), size=BODY, sent=body)


def test_neither_memory_nor_the_table_grows_with_a_flood(transactional_db, settings, monkeypatch, flood):
    # Ten thousand entries that are written at the end may take longer than two seconds.
    monkeypatch.setattr(recorder_module, "_SECONDS_AT_EXIT", 60)
    settings.EDFI_API = settings.EDFI_API | {"REFUSALS_PER_CLIENT": PER_CLIENT}
    process = psutil.Process()
    before = most = process.memory_info().rss
    with closing(Recorder()) as recorder:
        for number in range(flood):
            recorder.record_refused(refusal(number))
            if number % 1_000 == 0:
                most = max(most, process.memory_info().rss)

    # Of what waits and of what is being written there are several forms: bodies, rows, JSON.
    assert most - before < 8 * MOST_BYTES
    assert 0 < Refusal.objects.count() <= MOST_SUMMARIES * PER_CLIENT + MOST_WRITES
