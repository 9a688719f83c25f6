"""The index of the words of names is built without blocking writers, for the names of the served model."""

import pytest
from django.db import DataError, connections

from edfi_api.core.queries import name_index
from edfi_api.core.queries.name_index import named_resources, numbers_of
from tests.support.databases import DOCUMENTS
from tests.support.factories import STUDENT
from tests.support.management_commands import run


def installed() -> dict[str, bool]:
    """The indexes of names, and whether each is whole."""
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute(
            "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
            " WHERE starts_with(relname, 'document_names_')"
        )
        return dict(cursor.fetchall())


def test_it_is_built_where_it_is_missing_or_of_another_model(transactional_db) -> None:
    name = named_resources().index(DOCUMENTS).name
    assert installed() == {name: True}
    assert run("index_names") == ["index of names: nothing to do"]
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute(f"ALTER INDEX {name} RENAME TO document_names_of_another_model")

    assert run("index_names") == [f"{name} built"]
    assert installed() == {name: True}


def test_what_an_interrupted_build_has_left_is_built_again(committing_api) -> None:
    committing_api.post("/students", STUDENT)
    name = named_resources().index(DOCUMENTS).name
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute(f"DROP INDEX {name}")
        with pytest.raises(DataError):
            cursor.execute(f"CREATE INDEX CONCURRENTLY {name} ON document ((1 / (id - id)))")
    assert installed() == {name: False}

    run("migrate")

    assert installed() == {name: True}


def test_a_search_reads_it(db) -> None:
    named = named_resources()
    index = named.index(DOCUMENTS)
    words = name_index.words_of("greene, ada", DOCUMENTS)
    statement = name_index.statement_of(index, words, numbers_of(named.people, DOCUMENTS), ":*", 20)

    with name_index.by_bitmaps(DOCUMENTS), connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement.text}", statement.parameters)
        plan = "\n".join(line for (line,) in cursor)

    assert f"Bitmap Index Scan on {index.name}" in plan


def test_documents_about_a_person_are_not_indexed_by_the_names_in_them() -> None:
    named = named_resources()

    assert [name.resource for name in named.people] == ["Contact", "Staff", "Student"]
    assert "School" in {name.resource for name in named.organizations}
    assert {"Section", "Course"} <= {name.resource for name in named.others}
    assert "CourseTranscript" not in {name.resource for name in named.others}
