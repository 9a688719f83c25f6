"""Scripts that insert descriptors and their mappings into an ODS, where they are not there yet, over the views."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.utils import OperationalError
from psycopg import errors

from edfi_api.features.sql_views.installation import Installation

DESCRIPTOR = (
    "INSERT INTO edfi.descriptor (namespace, codevalue, shortdescription, discriminator, uri)"
    " VALUES ('uri://example.org/TermDescriptor', 'Winter', 'Winter', 'edfi.TermDescriptor', 'x')"
    " ON CONFLICT DO NOTHING"
)
MAPPING = (
    "INSERT INTO edfi.descriptormapping (namespace, value, mappednamespace, mappedvalue)"
    " VALUES ('uri://example.org/TermDescriptor', 'Winter', 'uri://example.org/oneroster', 'term')"
    " ON CONFLICT DO NOTHING"
)
MAPPING_BODY = {
    "namespace": "uri://example.org/TermDescriptor",
    "value": "Winter",
    "mappedNamespace": "uri://example.org/oneroster",
    "mappedValue": "term",
}


PAGE = Path(__file__).parents[3] / "meadowlark/docs/use/sql-for-analysts.md"
(SEEDS,) = re.findall(r"^```json\n([^`]*)```", PAGE.read_text(), re.MULTILINE)


@pytest.fixture
def views(db, current_views) -> None:
    names = {"", "descriptor", "descriptormapping", "student"}
    chosen = [each for each in current_views.definitions if each.schema == "edfi" and each.name in names]
    Installation("default").install(chosen, "of a test")


def inserted(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.rowcount


def refusal(statement: str) -> Any:
    with pytest.raises(OperationalError) as refused, transaction.atomic():
        inserted(statement)
    return refused.value.__cause__.diag


def test_a_script_succeeds_once_the_documents_of_the_page_are_loaded(views, tmp_path) -> None:
    seeds = tmp_path / "seeds.jsonl"
    seeds.write_text(SEEDS)

    call_command("load_documents", str(seeds), stdout=StringIO())

    assert [inserted(DESCRIPTOR), inserted(MAPPING)] == [0, 0]


def test_a_descriptor_that_is_there_is_skipped(api, views) -> None:
    body = {"namespace": "uri://example.org/TermDescriptor", "codeValue": "Winter", "shortDescription": "Winter"}
    assert api.post("/termDescriptors", body).status_code == 201

    assert [inserted(DESCRIPTOR), inserted(DESCRIPTOR)] == [0, 0]


def test_a_mapping_that_is_there_is_skipped(api, views) -> None:
    assert api.post("/descriptorMappings", MAPPING_BODY).status_code == 201

    assert [inserted(MAPPING), inserted(MAPPING)] == [0, 0]


@pytest.mark.parametrize(
    ("statement", "view", "identity"),
    [(DESCRIPTOR, "descriptor", '"codevalue": "Winter"'), (MAPPING, "descriptormapping", '"mappedvalue": "term"')],
)
def test_what_is_not_there_is_refused_and_says_how_to_write_it(views, statement: str, view: str, identity: str) -> None:
    found = refusal(statement)

    assert found.sqlstate == errors.ObjectNotInPrerequisiteState.sqlstate
    assert found.message_primary == f'cannot insert into view "{view}"'
    assert identity in found.message_detail
    assert "manage.py load_documents" in found.message_hint


def test_other_views_refuse_every_row(views) -> None:
    assert refusal("INSERT INTO edfi.student (firstname) VALUES ('x')").message_primary == (
        'cannot insert into view "student"'
    )


def test_descriptors_are_neither_changed_nor_deleted(api, views) -> None:
    assert api.post("/descriptorMappings", MAPPING_BODY).status_code == 201

    for statement in ("UPDATE edfi.descriptormapping SET value = 'x'", "DELETE FROM edfi.descriptormapping"):
        assert "descriptormapping" in refusal(statement).message_primary
