"""Natural keys are derived from bodies where they are shown, by the database as by the code that hashes them."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from psycopg.types.json import Jsonb

from edfi_api import core
from edfi_api.core.models import ResourceType

SQL = Path(core.__file__).with_name("sql")

pytestmark = pytest.mark.django_db


def query(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"code": "ENG", "schoolReference": {"schoolId": 122}}, "NK#code=ENG#schoolReference.schoolId=122"),
        ({"code": "7.50", "schoolReference": {"schoolId": 7.50}}, "NK#code=7.50#schoolReference.schoolId=7.5"),
        ({"code": "é", "schoolReference": {"schoolId": 1e3}}, "NK#code=é#schoolReference.schoolId=1000"),
        ({"code": "a#b=c", "schoolReference": {"schoolId": True}}, "NK#code=a#b=c#schoolReference.schoolId=true"),
        (
            {"code": "é#code=x", "schoolReference": {"schoolId": 122}},
            "NK#code=é#code=x#schoolReference.schoolId=122#!8,3",
        ),
        ({"code": "of another standard"}, "NK#code=of another standard#schoolReference.schoolId=?"),
    ],
)
def test_a_natural_key_has_paths_and_values(body: dict[str, Any], key: str) -> None:
    number = ResourceType.objects.get(name="Course").pk
    ResourceType.objects.filter(pk=number).update(key_paths=["code", "schoolReference.schoolId"])

    assert query("SELECT natural_key(%s::smallint, %s)", number, Jsonb(body)) == [(key,)]


def test_views_of_the_former_column_read_what_it_had(documents, resource_named) -> None:
    """An operator's, and one like those of `create_sql_views`."""
    documents.store(resource_named("StudentSchoolAssociation"))
    query((SQL / "smaller_documents.reverse.sql").read_text())
    query("CREATE VIEW of_operator WITH (security_barrier) AS SELECT natural_key FROM document WHERE natural_key <> ''")
    query(
        "CREATE VIEW of_analyst AS SELECT d.id, (SELECT jsonb_object_agg(substr(x.natural_key, 4), x.id)"
        ' FROM document x WHERE x.namespace IS NOT NULL) AS uris FROM document "d"'
    )
    readings = ("SELECT * FROM of_operator ORDER BY 1", "SELECT * FROM of_analyst ORDER BY 1")
    before = [query(reading) for reading in readings]

    query((SQL / "smaller_documents.sql").read_text())

    assert [query(reading) for reading in readings] == before
    assert ("NK#studentUniqueId=Value",) in before[0]
    assert query("SELECT reloptions FROM pg_class WHERE relname = 'of_operator'") == [(["security_barrier=true"],)]
    assert query("SELECT pg_get_viewdef('of_analyst'::regclass) LIKE '%natural_key%'") == [(False,)]
