"""The foreign keys of the ODS's tables: in the comments of the views, and as tests of dbt."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import transaction

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.features.sql_views.current import all_views
from edfi_api.model.surface.builder import build_surface
from tests.features.sql_views.models import compiled
from tests.features.sql_views.running import query, run
from tests.support.serving import LAKE_COUNTY
from tests.tools.seeding.seed import seed

pytestmark = pytest.mark.django_db

# Those of the tables of ODS 7.3 for data standard 5.2, each table's once.
PUBLISHED = Path(__file__).parent / "expected" / "foreign_keys_5.2.json"

# What dbt makes of its test `relationships`.
_ORPHANS = """
WITH child AS (SELECT {column} AS from_field FROM {model} WHERE {column} IS NOT NULL),
     parent AS (SELECT {field} AS to_field FROM {to})
SELECT from_field FROM child LEFT JOIN parent ON child.from_field = parent.to_field WHERE parent.to_field IS NULL
"""


@pytest.fixture(scope="module")
def school(django_db_setup, django_db_blocker) -> Iterator[dict[str, dict[str, Any]]]:
    """The views over the documents of a school; the tables of the file for dbt, by schema and name."""
    with django_db_blocker.unblock(), transaction.atomic():
        seed(1, processes=0)
        run("create_sql_views")
        exported = yaml.load(run("export_dbt_sources"), yaml.CSafeLoader)
        yield {
            f"{source['name']}.{table['name']}": table for source in exported["sources"] for table in source["tables"]
        }
        transaction.set_rollback(True)


def relationships(table: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Column, table referred to and its column, of each relationship that is tested."""
    tests = [(None, test) for test in table.get("data_tests", ())]
    tests += [(column["name"], test) for column in table["columns"] for test in column.get("data_tests", ())]
    for column, test in tests:
        if test != "not_null":
            facts = test["relationships"]
            schema, name = re.fullmatch(r"source\('(\w+)', '(\w+)'\)", facts["to"]).groups()
            yield column or facts["column_name"], f"{schema}.{name}", facts["field"]


def test_the_foreign_keys_of_the_standard_are_the_published_ones(current_views) -> None:
    found = {str(view): sorted(map(str, view.foreign_keys)) for view in current_views.views if view.foreign_keys}

    assert found == json.loads(PUBLISHED.read_text())


def test_tables_of_an_extension_refer_to_what_they_extend_and_to_their_own() -> None:
    model = compiled(BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)
    surface = build_surface(model)
    numbers = {resource.name: number for number, resource in enumerate(surface.resources)}
    views = all_views(model, surface, numbers)

    found = {view.name: list(map(str, view.foreign_keys)) for view in views if view.schema == "lakecounty"}

    address = "educationorganizationid, addresstypedescriptorid, city, postalcode, stateabbreviationdescriptorid"
    assert found["educationorganizationaddressextension"] == [
        f"{address}, streetnumbername -> edfi.educationorganizationaddress",
        "piernumber -> lakecounty.pier",
        "mooringdescriptorid -> lakecounty.mooringdescriptor",
    ]
    assert found["schoolbenchplank"] == [
        "schoolid, benchcode, sectionidentifier -> lakecounty.schoolbench",
        "mooringdescriptorid -> lakecounty.mooringdescriptor",
    ]
    assert found["schoolharbourstaff"] == ["schoolid -> edfi.school", "harbourstaffusi -> edfi.staff (staffusi)"]
    assert found["ferry"] == ["ferrycode -> lakecounty.vessel (vesselcode)", "homeschoolid -> edfi.school (schoolid)"]
    assert found["studentsailingprogramassociationmooring"][0].endswith(
        "studentusi -> lakecounty.studentsailingprogramassociation"
    )
    assert found["mooringdescriptor"] == ["mooringdescriptorid -> edfi.descriptor (descriptorid)"]


@pytest.mark.long
def test_comments_of_views_name_their_foreign_keys(school) -> None:
    ((comment,),) = query("SELECT obj_description('edfi.gradingperiod'::regclass)")

    assert comment.endswith(
        " Foreign keys: schoolid -> edfi.school; gradingperioddescriptorid -> edfi.gradingperioddescriptor;"
        " schoolyear -> edfi.schoolyeartype."
        " Primary key: gradingperioddescriptorid, gradingperiodname, schoolid, schoolyear"
    )


def test_foreign_keys_are_relationships_of_dbt(school) -> None:
    assert set(relationships(school["edfi.sectionclassperiod"])) == {
        (
            "localcoursecode::text || '|' || schoolid::text || '|' || schoolyear::text || '|' || "
            "sectionidentifier::text || '|' || sessionname::text",
            "edfi.section",
            "localcoursecode::text || '|' || schoolid::text || '|' || schoolyear::text || '|' || "
            "sectionidentifier::text || '|' || sessionname::text",
        ),
        (
            "classperiodname::text || '|' || schoolid::text",
            "edfi.classperiod",
            "classperiodname::text || '|' || schoolid::text",
        ),
    }
    assert set(relationships(school["edfi.school"])) >= {
        ("schoolid", "edfi.educationorganization", "educationorganizationid"),
        ("localeducationagencyid", "edfi.localeducationagency", "localeducationagencyid"),
    }
    assert sum(1 for table in school.values() for _ in relationships(table)) == 1200


def test_the_relationships_hold_for_the_documents_of_a_school(school) -> None:
    tested = [(model, *facts) for model, table in school.items() for facts in relationships(table)]
    orphans = {
        (model, column): rows
        for model, column, to, field in tested
        if (rows := query(_ORPHANS.format(model=model, column=column, to=to, field=field)))
    }

    assert len(tested) == 1200
    assert orphans == {}
