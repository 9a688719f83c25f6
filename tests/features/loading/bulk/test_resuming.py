"""A load that is killed has left whole batches; run again, it goes over what is there and writes the rest."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.db import connection

from edfi_api.core.models import Document
from edfi_api.core.storage.integrity import disagreements
from edfi_api.features.loading.bulk import write_documents
from meadowlark.run import embedded_postgres

_TOP = Path(__file__).parents[4]
_PERIODS = 16_000
# Until then one process does everything.
_ALONE = 6_000
_LONGEST_WAIT_SECONDS = 60


@pytest.fixture
def periods(transactional_db, district, tmp_path):
    """A file of class periods for a school that is there."""
    list(write_documents([*district.descriptors(), district.school(1)]))
    path = tmp_path / "classPeriods.jsonl"
    path.write_bytes(b"\n".join(district.period(str(number)).text for number in range(_PERIODS)))
    return path


def written_periods():
    return Document.objects.filter(resource_type__name="ClassPeriod").count()


def load_in_a_process(path, **streams):
    server = os.environ.get("DATABASE_URL") or embedded_postgres.url(embedded_postgres.default_home())
    url = urlsplit(server)._replace(path="/" + connection.settings_dict["NAME"]).geturl()
    command = [sys.executable, "manage.py", "load_documents", path]
    return subprocess.Popen(command, cwd=_TOP, env=os.environ | {"DATABASE_URL": url}, **streams)


@pytest.mark.long
def test_a_load_that_is_killed_can_be_run_again(periods, validators, capsys):
    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    busy = busy_backends()
    with load_in_a_process(periods) as load:
        while written_periods() <= _ALONE and load.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        load.kill()
    wait_until_the_load_has_ended(busy, deadline)
    before = written_periods()

    call_command("load_documents", str(periods))

    created, updated, unchanged, refused = map(int, capsys.readouterr().out.splitlines()[1].split()[1:])
    assert _ALONE < before < _PERIODS
    assert (created, updated, unchanged, refused) == (_PERIODS - before, 0, before, 0)
    assert list(disagreements(validators, "default")) == []


def test_ctrl_c_ends_a_load_with_a_line(transactional_db, tmp_path):
    path = tmp_path / "students.jsonl"
    os.mkfifo(path)
    with load_in_a_process(path, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c) as load, path.open("w"):
        load.send_signal(signal.SIGINT)  # Opening the pipe has waited until the load began to read.
        _, told = load.communicate(timeout=_LONGEST_WAIT_SECONDS)

    assert (load.returncode, told) == (130, "Stopped. The command may be run again.\n")


def heed_ctrl_c():
    """Even if the tests run in the background of a shell, whose children ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def busy_backends():
    """The processes of PostgreSQL that work in this database, but for our own."""
    others = """
        SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
    """
    with connection.cursor() as cursor:
        return {pid for (pid,) in cursor.execute(others)}


def wait_until_the_load_has_ended(before, deadline):
    """PostgreSQL finishes what it was told before it sees that the other end is gone. What was busy before is what an
    earlier test has left."""
    while busy_backends() - before and time.monotonic() < deadline:
        time.sleep(0.01)
