"""Without `MEADOWLARK_COMPATIBILITY=ods` members and endpoints have the names of Ed-Fi's compiler alone; in which of a
standard the ODS/API has others."""

from typing import Any

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.models import Document
from edfi_api.features.sql_views.tables import sql_tables
from edfi_api.model.metaed.compiler import compile_projects
from tests.conftest import ApiTestClient, http, item_path, new_token
from tests.support.databases import rolled_back
from tests.support.serving import SERVED_BY_DEFAULT, SHIPYARD, served

pytestmark = pytest.mark.django_db

# The ODS/API leaves out any number of words with which the name of the entity ends.
OF_6_1 = [
    ("EvaluationElementRating", "$.elementRatingResults", "results"),
    ("EvaluationObjectiveRating", "$.objectiveRatingResults", "results"),
    ("StudentPathMilestoneStatus", "$.pathMilestoneStatusEvent", "event"),
    ("StudentPathPhaseStatus", "$.pathPhaseStatusEvents", "events"),
]


def test_without_the_setting_nothing_has_them(django_db_setup: None, django_db_blocker: Any) -> None:
    plain = served(SERVED_BY_DEFAULT, SHIPYARD)
    with django_db_blocker.unblock(), rolled_back(), plain.instead():
        api = ApiTestClient(new_token("compiler", "FullAccess"))
        api.post("/data/shipyard/boats", {"boatCode": "Heron"})

        refused = api.post("/data/shipyard/boatDocks", {"dockNumber": 7, "ferryBoatReference": {"boatCode": "Heron"}})
        created = api.post(
            "/data/shipyard/boatDocks", {"dockNumber": 7, "ferryBoatBoatReference": {"boatCode": "Heron"}}
        )
        absent = api.get("/data/shipyard/liftingEquipment")
        document = http().get("/metadata/data/v3/resources/swagger.json").json()

        assert refused.json()["validationErrors"] == {
            "$.ferryBoatBoatReference": ["ferryBoatBoatReference is required."]
        }
        body = Document.objects.get(resource_type__name="BoatDock").body
        assert body == {"dockNumber": 7, "ferryBoatBoatReference": {"boatCode": "Heron"}}
        assert api.get(item_path(created)).json()["ferryBoatBoatReference"]["boatCode"] == "Heron"
        assert absent.status_code == 404
        assert "/shipyard/liftingEquipment" not in document["paths"]
        assert "ferryBoatBoatReference" in document["components"]["schemas"]["shipyard_boatDock"]["properties"]


@pytest.mark.parametrize(("standard", "expected"), [("3.3.1-b", []), ("4.0", []), ("5.2", []), ("6.1", OF_6_1)])
def test_the_names_of_a_standard_that_differ(standard: str, expected: list[tuple[str, str, str]]) -> None:
    resources = served(standard).surface.resources

    found = [(each.name.resource, str(other.path), other.name) for each in resources for other in each.ods_names]

    assert sorted(found) == expected
    assert [each.endpoint for each in resources if each.ods_endpoint] == []


def test_sql_views_have_the_columns_of_the_ods_anyway() -> None:
    model = compile_projects([BUNDLED_STANDARDS / SERVED_BY_DEFAULT, SHIPYARD])

    tables = {table.name: [column.name for column in table.columns] for table in sql_tables(model)}

    assert tables["boatdock"][:5] == [
        "docknumber",
        "ferryboatcode",
        "deftermdescriptorid",
        "exitschoolyear",
        "gradeleveldescriptorid",
    ]
    assert tables["boatdocktankinformation"][:4] == ["docknumber", "ferryboatcode", "tankname", "tankerboatcode"]
    assert tables["boatdockoldnickname"][:3] == ["docknumber", "ferryboatcode", "nickname"]
    assert tables["boatrepairorderpart"][:4] == ["docknumber", "ferryboatcode", "ordernumber", "partname"]
