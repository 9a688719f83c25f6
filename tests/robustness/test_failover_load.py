"""The load of `make drill-failover` finds what the database has lost."""

import psycopg

from tests.drills.load import Load
from tests.robustness.real_server import RealServer
from tests.robustness.waiting import wait_until


def test_a_lost_write_is_found(real_server: RealServer) -> None:
    load = Load(real_server.port, real_server.token, clients=1)

    with psycopg.connect(real_server.database_url, autocommit=True) as database:
        students: list[str] = []
        while not students:
            written = len(load.observed.writes)
            load.start()
            wait_until(lambda: len(load.observed.writes) > written + 10, 30)  # noqa: B023
            load.stop()
            query = "SELECT body ->> 'studentUniqueId' FROM document WHERE body ? 'birthCity'"
            students = [name for (name,) in database.execute(query)]
        assert load.differences(real_server.database_url) == []

        database.execute("UPDATE document SET body = jsonb_set(body, '{birthCity}', '\"9\"') WHERE body ? 'birthCity'")

    lost = load.differences(real_server.database_url)
    assert sorted(text.partition(",")[0] for text in lost) == sorted(f"{name}: 9 is stored" for name in students)
    assert load.observed.wrong == []
    assert set(load.observed.statuses) <= {200, 201, 204, 404}
