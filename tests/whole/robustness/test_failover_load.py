"""The load of `make drill-failover` finds what the database has lost."""

import psycopg

from tests.tools.drills.load import STUDENTS, Load
from tests.whole.robustness.real_server import RealServer
from tests.whole.robustness.waiting import wait_until


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


def test_a_delete_that_finds_nothing_has_to_have_been_carried_out(real_server: RealServer) -> None:
    """404 is also what a delete gets if the insert before it was lost."""
    load = Load(real_server.port, real_server.token, clients=2)
    load.writers.pop(0)  # Its documents are those of the other test.
    [writer], url = load.writers, real_server.database_url
    with writer.connected(), psycopg.connect(url, autocommit=True) as database:
        carried_out, lost = (item for item in writer.items if item.path == STUDENTS and item.name in ("1-0", "1-1"))
        for item in (carried_out, lost):
            assert writer.insert(item)
        with real_server.client() as other:
            assert other.send("DELETE", f"{STUDENTS}/{carried_out.id}").status == 204
        assert writer.delete(carried_out)
        assert load.differences(url) == []

        database.execute("DELETE FROM document WHERE document_uuid = %s", [lost.id])
        database.execute("DELETE FROM deleted_document WHERE document_uuid = %s", [lost.id])
        assert writer.delete(lost)

    assert load.differences(url) == ["1-1: its delete found no document, and none was deleted"]
    assert load.observed.wrong == []
