"""Several connections read a source: one moment, in the order of the queries, whatever the size of the rows."""

import pytest

from edfi_api.features.ods_import.compatibility import ServedModel, queries
from edfi_api.features.ods_import.ods_source import Portion, SourceUnusable, opened
from tests.features.ods_import.running import import_documents
from tests.features.ods_import.stored import stored
from tests.support.databases import DOCUMENTS

STUDENT = (
    "INSERT INTO edfi.student (studentusi, birthdate, firstname, lastsurname, studentuniqueid, createdate,"
    " lastmodifieddate, id, aggregateid, changeversion)"
    " SELECT n, '2010-02-03', 'Mae', 'Ortiz', n::text, now(), now(), gen_random_uuid(), n, n"
    "   FROM generate_series(1, {}) AS n"
)


def test_all_connections_read_the_moment_of_the_first(ods) -> None:
    ods.run(STUDENT.format(1))

    with opened(ods.address, connections=3) as source:
        ods.run("UPDATE edfi.student SET firstname = 'May'")
        portions = [Portion(0, number, "SELECT firstname FROM edfi.student") for number in range(3)]
        read = dict(source.read(portions))

    assert read == {0: [("Mae",)], 1: [("Mae",)], 2: [("Mae",)]}


@pytest.mark.parametrize("connections", [1, 2, 5])
def test_rows_come_in_the_order_of_their_ranks_and_none_is_lost(ods, connections) -> None:
    portions = [
        Portion(rank, (rank, part), f"SELECT n::text FROM generate_series(1, {1 + 977 * rank}) AS n")
        for rank in range(6)
        for part in range(1 + rank % 3)
    ]

    with opened(ods.address, connections) as source:
        read = [(origin, len(rows)) for origin, rows in source.read(portions)]

    ranks = [rank for (rank, _), _ in read]
    assert ranks == sorted(ranks)
    for portion in portions:
        assert sum(count for origin, count in read if origin == portion.origin) == 1 + 977 * portion.rank


def test_the_larger_the_rows_the_fewer_are_fetched_at_once(ods) -> None:
    large = "SELECT repeat('x', 300000) FROM generate_series(1, 60)"

    with opened(ods.address) as source:
        fetched = [len(rows) for _, rows in source.read([Portion(0, "", large)])]

    assert sum(fetched) == 60
    assert max(fetched[1:]) <= 4


def test_what_fails_in_one_connection_ends_all(ods) -> None:
    fails = "SELECT (1 / (9000 - n))::text FROM generate_series(1, 10000) AS n"
    lasts = "SELECT n::text FROM generate_series(1, 10000) AS n, pg_sleep(0.001)"

    with opened(ods.address, connections=2) as source, pytest.raises(SourceUnusable, match="division by zero"):
        list(source.read([Portion(0, "fails", fails), Portion(0, "lasts", lasts)]))


def test_the_parts_of_a_query_have_each_document_once(ods, db) -> None:
    ods.run(STUDENT.format(50))

    with opened(ods.address) as source:
        query = next(
            each for each in queries(ServedModel.current(DOCUMENTS), source).values() if each.root.name == "student"
        )
        parts = [source.rows(query.documents(part=(number, 3))) for number in range(3)]
        whole = source.rows(query.documents())

    assert all(parts)
    assert sorted(row for part in parts for row in part) == sorted(whole)


def test_a_role_that_may_not_export_a_snapshot_reads_with_one_connection(api, ods, altered) -> None:
    altered(
        "REVOKE EXECUTE ON FUNCTION pg_export_snapshot FROM PUBLIC",
        "GRANT EXECUTE ON FUNCTION pg_export_snapshot TO PUBLIC",
    )
    ods.run(STUDENT.format(2))

    import_documents(ods, "--connections", 4)

    assert len(stored()) == 2
