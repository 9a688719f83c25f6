"""The resource of school years accepts any year, references only the range of the standard."""

import pytest

from tests.conftest import item_path


def school_year(year):
    return {"schoolYear": year, "currentSchoolYear": False, "schoolYearDescription": "A year"}


@pytest.mark.parametrize("year", [0, 1, 1899, 1900, 2100, 2101, 9999, "1850"])
def test_the_resource_accepts_any_year(api, year):
    response = api.post("/schoolYearTypes", school_year(year))

    assert response.status_code == 201, response.content
    assert api.get(item_path(response)).json()["schoolYear"] == int(year)
    assert len(api.get(f"/schoolYearTypes?schoolYear={year}").json()) == 1


@pytest.mark.parametrize(
    ("year", "message"),
    [
        (-1, "schoolYear must be greater than or equal to 0."),
        (2**31, "schoolYear must be less than or equal to 2147483647."),
        (2025.5, 'schoolYear Value is "number" but should be "integer"'),
        ("soon", 'schoolYear Value is "string" but should be "integer"'),
        (None, "schoolYear is required."),
    ],
)
def test_an_invalid_year_is_refused(api, year, message):
    response = api.post("/schoolYearTypes", school_year(year))

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {"$.schoolYear": [message]}


def test_a_reference_to_a_school_year_has_a_range(api, documents, resource_named):
    api.post("/schoolYearTypes", school_year(1899))
    body = documents.minimal_body(resource_named("Session")) | {"schoolYearTypeReference": {"schoolYear": 1899}}

    response = api.post("/sessions", body)

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {
        "$.schoolYearTypeReference.schoolYear": ["schoolYear must be greater than or equal to 1900."]
    }
