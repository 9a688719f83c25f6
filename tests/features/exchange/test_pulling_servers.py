"""Servers that pull from servers, with thousands of changes and kills: `make test-exchange`."""

import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from tests.features.exchange.random_changes import RandomChanges, enrollment, school, student
from tests.features.exchange.sides import Side, side

_REQUESTS, _KILLS, _RESTORED = 5_000, 10, 10


pytestmark = pytest.mark.exchange


def _settled(source: Side, puller: Side, seconds: float = 240) -> None:
    """Wait until everything has been pulled, and nothing waits."""
    deadline = time.monotonic() + seconds
    while puller.query("SELECT version, (SELECT count(*) FROM exchange_waiting) FROM exchange_position") != [
        (source.query("SELECT newest_change_version()")[0][0], 0)
    ]:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_district_is_the_same_here(prepared_home: Callable[[Path], Path], tmp_path: Path) -> None:
    with side(prepared_home(tmp_path / "there")) as there, side(prepared_home(tmp_path / "here")) as here:
        there.manage("generate_demo_district", "--output", str(tmp_path / "demo"), "--students", "200")
        there.manage("load_documents", str(tmp_path / "demo"))
        here.connect_to_pull("district", there, there.new_client("puller", "EdFiSandbox"), "--client", "tests")

        said = here.pull("district", "--adopt")

        assert "refused" not in said
        assert here.documents() == there.documents()
        assert "nothing has changed" in here.pull("district")
        assert "inserted" not in here.pull("district", "--full")


def test_random_changes_come_whatever_is_killed(
    prepared_home: Callable[[Path], Path], tmp_path: Path, seed: int
) -> None:
    with side(prepared_home(tmp_path / "there")) as there, side(prepared_home(tmp_path / "here")) as here:
        here.connect_to_pull("district", there, there.new_client("puller", "EdFiSandbox"), "--client", "tests")
        changed = 0
        log = tmp_path / "follower.log"
        with here.following("district", log, "pull_changes") as follower, there.client() as client:
            changes = RandomChanges(client, seed)
            kills = cycle([follower.kill, there.kill_workers, here.kill_database, there.kill_database, follower.kill])
            for _, kill in zip(range(_KILLS), kills, strict=False):
                with there.restoring(changes.some_deleted(_RESTORED)):
                    changed += changes.make(_REQUESTS // _KILLS)
                kill()
            _settled(there, here)

        assert changed > _REQUESTS // 4
        assert there.restored() > _KILLS
        assert here.documents() == there.documents()


def test_what_three_districts_have_is_collected(prepared_home: Callable[[Path], Path], tmp_path: Path) -> None:
    """As the recipe does it: each with a client of its own, which owns what it brings."""
    with side(prepared_home(tmp_path / "districts")) as districts, side(prepared_home(tmp_path / "here")) as here:
        for number in (1, 2, 3):
            with districts.client() as client:
                assert client.post("/data/ed-fi/schools", json=school(number)).is_success
                assert client.post("/data/ed-fi/students", json=student(f"S{number}")).is_success
                enrolled = enrollment(f"S{number}", number)
                assert client.post("/data/ed-fi/studentSchoolAssociations", json=enrolled).is_success
            here.new_client(f"d{number}", "EdFiSandbox")
            credentials = districts.new_client(f"d{number}", "EdFiSandbox")
            here.connect_to_pull(f"d{number}", districts, credentials, "--client", f"d{number}", "--enable")
            assert "it works" in here.manage("check_connection", f"d{number}")
            assert "refused" not in here.pull(f"d{number}")

        owned = here.query(
            "SELECT c.name, count(*) FROM document d JOIN security_apiclient c ON c.id = d.created_by"
            " WHERE c.name LIKE 'd%' GROUP BY 1 ORDER BY 1"
        )
        assert owned == [("d1", 3), ("d2", 3), ("d3", 3)]
