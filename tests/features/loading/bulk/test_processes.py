"""Preparing in other processes: the same results in the same order, and nobody left behind."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from edfi_api.common.processes import process_pool
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.models import Document
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import bulk_writer, pipeline, preparation
from references.exceptions import UnresolvedReference

_OWNER_OF_A_POOL = """
import os, sys, time
from edfi_api.common.processes import process_pool

if __name__ == "__main__":
    pool = process_pool(1)
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def many_small_batches(monkeypatch):
    monkeypatch.setattr(preparation, "MOST_DOCUMENTS", 3)
    monkeypatch.setattr(pipeline, "_ENOUGH_FOR_THREADS", 3)
    monkeypatch.setattr(pipeline, "_TOO_FEW_FOR_PROCESSES", 5)


def test_results_come_in_the_order_of_their_candidates(db, district, many_small_batches):
    bad = district.school("x"), district.school(1, grade="no#such")
    candidates = [
        *district.descriptors(),
        *(candidate for number in range(1, 9) for candidate in (district.school(number), *bad)),
        *(district.period("one", number) for number in range(1, 9)),
    ]

    with bulk_writer(processes=2) as writer:
        written = list(writer.write(candidates))

    assert [each.candidate for each in written] == candidates
    assert [each.result for each in written[3:27:3]] == [Outcome.INSERTED] * 8
    assert {type(each.result) for each in written[4:27:3]} == {DataValidationFailed}
    assert {type(each.result) for each in written[5:27:3]} == {UnresolvedReference}
    assert Document.objects.count() == 3 + 8 + 8


def test_a_load_that_is_given_up_leaves_no_process_behind(db, district, many_small_batches):
    ours = psutil.Process()
    before = {child.pid for child in ours.children(recursive=True)}
    endless = (district.descriptor("GradeLevelDescriptor", str(number)) for number in iter(int, 1))

    with bulk_writer(processes=2) as writer:
        results = writer.write(endless)
        first = [next(results).result for _ in range(20)]

    assert first == [Outcome.INSERTED] + [Outcome.UNCHANGED] * 19
    assert [child for child in ours.children(recursive=True) if child.pid not in before and not _stays(child)] == []


def test_a_process_that_dies_ends_the_work_instead_of_hanging_it():
    pool = process_pool(1)
    try:
        with pytest.raises(Exception, match="terminated abruptly"):
            pool.submit(os.kill, pool.submit(os.getpid).result(), signal.SIGKILL).result(timeout=60)
    finally:
        pool.shutdown()


def test_processes_end_when_their_owner_is_killed(tmp_path):
    script = tmp_path / "owner.py"
    script.write_text(_OWNER_OF_A_POOL)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    owner = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment, text=True)
    worker = psutil.Process(int(owner.stdout.readline()))

    owner.kill()
    owner.wait()

    deadline = time.monotonic() + 20
    while worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE


def _stays(process):
    """Whether it serves multiprocessing for as long as this process lives: all that others are forked from."""
    command = " ".join(process.cmdline())
    is_forked = "forkserver" in " ".join(process.parent().cmdline())
    return "resource_tracker" in command or ("forkserver" in command and not is_forked)
