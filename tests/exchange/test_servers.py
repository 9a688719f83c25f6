"""Pushing from servers to servers, with thousands of changes and kills: `make test-exchange`."""

import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from tests.exchange.random_changes import RandomChanges
from tests.exchange.sides import Side, side

_REQUESTS, _KILLS = 5_000, 10


@pytest.fixture(autouse=True)
def _only_if_wanted(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--exchange"):
        pytest.skip("make test-exchange")


def _settled(source: Side, name: str, seconds: float = 120) -> None:
    """Wait until the follower has sent everything."""
    deadline = time.monotonic() + seconds
    newest = (
        "SELECT newest_change_version(), (SELECT max(change_version) FROM change_consumer WHERE name = 'push state')"
    )
    while len(set(source.query(newest)[0])) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.parametrize("batches", ["true", "false"])
def test_a_district_is_the_same_there(prepared_home: Callable[[Path], Path], tmp_path: Path, batches: str) -> None:
    with (
        side(prepared_home(tmp_path / "district")) as district,
        side(prepared_home(tmp_path / "state"), MEADOWLARK_BATCH=batches) as state,
    ):
        district.manage("generate_demo_district", "--output", str(tmp_path / "demo"), "--students", "200")
        district.manage("load_documents", str(tmp_path / "demo"))
        district.connect("state", state, state.new_client("district", "EdFiSandbox"), "--client", "tests")

        said = district.push("state", "--full")

        assert "0 refused" in said
        assert state.documents() == district.documents()


def test_random_changes_arrive_whatever_is_killed(prepared_home: Callable[[Path], Path], tmp_path: Path) -> None:
    with side(prepared_home(tmp_path / "district")) as district, side(prepared_home(tmp_path / "state")) as state:
        district.connect("state", state, state.new_client("district", "EdFiSandbox"), "--client", "tests")
        changed = 0
        with district.following("state", tmp_path / "follower.log") as follower, district.client() as client:
            changes = RandomChanges(client, seed=7)
            kills = cycle(
                [follower.kill, state.kill_workers, district.kill_workers, state.kill_database, district.kill_database]
            )
            for _, kill in zip(range(_KILLS), kills, strict=False):
                changed += changes.make(_REQUESTS // _KILLS)
                kill()
            _settled(district, "state")
        district.push("state", "--retry")

        assert changed > _REQUESTS // 4
        assert state.documents() == district.documents()
        assert district.query("SELECT count(*) FROM exchange_sent_document WHERE refused_at IS NOT NULL") == [(0,)]
        assert district.query("SELECT count(*) FROM refusal WHERE direction = 'sent' AND resolved_at IS NULL") == [(0,)]
