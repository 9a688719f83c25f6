"""Hidden members can be found out neither by query fields nor through anything else that tells of documents."""

from dataclasses import replace

import pytest

from edfi_api.core.models import Document
from edfi_api.core.queries.parameters import with_visible_fields
from edfi_api.model.profiles.definition import FilterMode
from edfi_api.model.profiles.view import CollectionView, ItemFilter, ObjectView
from edfi_api.model.surface.resource import JsonPath, QueryField, QueryType
from tests.conftest import item_path
from tests.core.security.profiles.media_types import media_type

STUDENT = {"studentUniqueId": "604822", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
HIDES_NAME = 'ExcludeOnly:<Property name="firstName"/>'


@pytest.fixture
def students(api) -> None:
    api.post("/students", STUDENT)
    api.post("/students", STUDENT | {"studentUniqueId": "604823", "firstName": "Ann"})


@pytest.mark.usefixtures("students")
@pytest.mark.parametrize("path", ["/students", "/students/partitions"])
def test_a_hidden_query_field_is_answered_as_one_that_does_not_exist(narrow, path: str) -> None:
    client = narrow("Student", HIDES_NAME)

    hidden = client.get(f"{path}?FirstName=Mae&totalCount=true")
    nonexistent = client.get(f"{path}?NoSuch=Mae&totalCount=true")

    assert hidden.status_code == 400
    assert hidden.json()["errors"] == ["The query field 'FirstName' is not valid for this resource."]
    answers = [response.json() | {"correlationId": "", "hints": []} for response in (hidden, nonexistent)]
    assert str(answers[0]).replace("FirstName", "NoSuch") == str(answers[1])
    assert "firstName" not in str(hidden.json()["hints"])


@pytest.mark.usefixtures("students")
@pytest.mark.parametrize(
    "query", ["{}[prefix]=M", "{}[ne]=Mae", "{}[exists]=true", "{}[no]=1", "orderBy={}", "orderBy=-{}", "fields={}"]
)
def test_a_hidden_member_has_no_operators_no_order_and_is_no_field(narrow, query: str) -> None:
    client = narrow("Student", HIDES_NAME)

    hidden, nonexistent = (client.get("/students", QUERY_STRING=query.format(name)) for name in ("firstName", "noSuch"))

    assert hidden.status_code == 400
    answers = [response.json() | {"correlationId": "", "hints": []} for response in (hidden, nonexistent)]
    assert str(answers[0]).replace("firstName", "noSuch") == str(answers[1])


@pytest.mark.usefixtures("students")
def test_a_profile_narrows_before_fields_do(narrow) -> None:
    client = narrow("Student", HIDES_NAME)

    [first, _] = client.get("/students?fields=lastSurname&orderBy=studentUniqueId").json()

    assert first.keys() == {"id", "studentUniqueId", "lastSurname", "_etag", "_lastModifiedDate"}
    assert client.get(f"/students/{first['id']}").json()["_etag"] == first["_etag"]


@pytest.mark.usefixtures("students")
def test_where_unknown_parameters_are_ignored_hidden_members_are_refused(narrow, settings) -> None:
    settings.EDFI_API = settings.EDFI_API | {"IGNORE_UNKNOWN_PARAMETERS": True}
    client = narrow("Student", HIDES_NAME)

    assert client.get("/students?firstName=Mae").status_code == 400
    assert len(client.get("/students?colour=red").json()) == 2
    assert len(client.get("/students?lastSurname=Other").json()) == 0


@pytest.mark.usefixtures("students")
def test_visible_members_the_id_and_paging_are_queried_as_ever(api, narrow) -> None:
    client = narrow("Student", HIDES_NAME)
    first = client.get("/students?studentUniqueId=604822").json()[0]

    assert client.get(f"/students?id={first['id']}").json() == [first]
    assert len(client.get("/students?lastSurname=Ortiz&birthDate=2010-02-03").json()) == 2
    counted = client.get("/students?limit=1&offset=1&totalCount=true")
    assert (counted["Total-Count"], counted.json()[0]["studentUniqueId"]) == ("2", "604823")
    assert len(client.get("/students?minChangeVersion=0").json()) == 2


def test_a_field_has_its_visible_places(resource_named) -> None:
    """The bundled standards have no field with a hidden and a visible place, and none in a collection."""
    fields = {
        "both": ["$.webSite", "$.nameOfInstitution"],
        "hidden": ["$.webSite"],
        "item": ["$.addresses[*].city"],
        "other": ["$.indicators[*].designatedBy"],
    }
    school = replace(
        resource_named("School"),
        query_fields=tuple(
            QueryField(name, QueryType.STRING, tuple(map(JsonPath.parse, paths))) for name, paths in fields.items()
        ),
    )
    part = ItemFilter("city", frozenset({"x"}), FilterMode.EXCLUDE_ONLY, is_descriptor=False)
    narrowed = {"addresses": CollectionView(None, part), "indicators": CollectionView(ObjectView(frozenset()))}

    left = with_visible_fields(school, ObjectView(frozenset({"nameOfInstitution"}), narrowed)).query_fields

    assert {field.name: [str(path) for path in field.paths] for field in left} == {"both": ["$.nameOfInstitution"]}


def test_a_query_value_that_is_wrong_is_reported_at_a_visible_place(narrow) -> None:
    client = narrow("StudentSchoolAssociation", 'ExcludeOnly:<Property name="calendarReference"/>')

    response = client.get("/studentSchoolAssociations?schoolYear=x")

    assert list(response.json()["validationErrors"]) == ["$.schoolYearTypeReference.schoolYear"]


@pytest.mark.usefixtures("students")
def test_another_profile_has_query_fields_of_its_own(api, narrow, store) -> None:
    narrow("Student", HIDES_NAME)
    store("Other", "Student", read='ExcludeOnly:<Property name="lastSurname"/>')

    assert len(api.get("/students?firstName=Mae", HTTP_ACCEPT=media_type("Other")).json()) == 1
    assert api.get("/students?firstName=Mae", HTTP_ACCEPT=media_type("Part")).status_code == 400
    assert len(api.get("/students?firstName=Mae").json()) == 1


def test_a_change_of_a_hidden_member_is_in_the_window_projected(api, narrow) -> None:
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann"}))
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')
    version = Document.objects.get(resource_type__name="Student").change_version
    api.put(path, STUDENT | {"id": path.rsplit("/", 1)[1], "middleName": "Eve"})

    (document,) = client.get(f"/students?minChangeVersion={version + 1}").json()

    assert document["studentUniqueId"] == "604822"
    assert "middleName" not in document
