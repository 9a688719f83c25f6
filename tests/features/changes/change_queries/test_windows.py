"""Available change versions, and the documents of a window of versions. See
meadowlark/docs/reference/contract.md#change-queries."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.core.models import Document
from tests.conftest import http, item_path
from tests.support.factories import STUDENT

VERSIONS = "/changeQueries/v1/availableChangeVersions"


def post(api, number, **changes):
    return item_path(api.post("/students", STUDENT | {"studentUniqueId": str(number)} | changes))


def ids(documents):
    return [document["studentUniqueId"] for document in documents]


@pytest.fixture
def seven_students(api):
    return [post(api, number) for number in range(7)]


def test_available_versions_require_a_token_only(api):
    response = api.get(f"{VERSIONS}?anything=goes")

    assert response.status_code == 200
    assert set(response.json()) == {"oldestChangeVersion", "newestChangeVersion"}
    assert response.json()["oldestChangeVersion"] == 0
    assert http().get(VERSIONS).status_code == 401


@pytest.mark.parametrize("path", [VERSIONS.lower(), VERSIONS.upper(), VERSIONS + "/"])
def test_the_path_is_case_insensitive(api, path):
    assert http().get(path, HTTP_AUTHORIZATION=f"Bearer {api.token}").status_code == 200


def test_versions_are_read_only(api):
    response = api.post(VERSIONS, {})

    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD"


def test_an_unknown_change_query_is_not_found(api):
    assert api.get("/changeQueries/v1/unknown").status_code == 404


def test_after_an_insert_the_newest_version_is_greater_than_that_of_the_document(api, changes):
    post(api, 1)
    newest = changes.newest()
    post(api, 2)

    assert ids(changes.live("students", first=newest)) == ["2"]


def test_after_a_delete_the_newest_version_is_that_of_the_delete(api, changes):
    post(api, 1)
    api.delete(post(api, 2))
    newest = changes.newest()

    (deleted,) = changes.deletes("students", newest, newest)
    assert deleted["keyValues"] == {"studentUniqueId": "2"}
    assert deleted["changeVersion"] == newest


def test_after_an_update_the_version_is_greater_than_any_read_before(api, changes):
    path = post(api, 1)
    before = changes.newest()
    api.put(path, api.get(path).json() | {"firstName": "May"})

    version = Document.objects.get().change_version
    assert before < version <= changes.newest()
    assert ids(changes.live("students", before + 1, changes.newest())) == ["1"]


def test_reads_and_unchanged_writes_take_no_version(api, changes):
    path = post(api, 1)
    before = changes.newest()

    post(api, 1)
    api.put(path, api.get(path).json())
    api.get("/students?totalCount=true")
    api.delete(path.replace(path[-1], "0" if path[-1] != "0" else "1"))

    assert changes.newest() == before


def test_a_changed_document_leaves_the_window(api, changes, seven_students):
    newest = changes.newest()
    post(api, 3, firstName="May")

    assert ids(changes.live("students", 0, newest)) == ["0", "1", "2", "4", "5", "6"]
    assert ids(changes.live("students", newest)) == ["3"]


def test_both_ends_of_a_window_are_inclusive(api, changes, seven_students):
    versions = list(Document.objects.order_by("change_version").values_list("change_version", flat=True))

    assert ids(changes.live("students", versions[2], versions[4])) == ["2", "3", "4"]
    assert ids(changes.live("students", versions[2] + 1, versions[4] - 1)) == ["3"]
    assert ids(changes.live("students", versions[5])) == ["5", "6"]
    assert ids(changes.live("students", "", versions[1])) == ["0", "1"]


def test_a_window_with_an_end_is_paged_in_the_order_of_versions(api, changes, seven_students):
    post(api, 2, firstName="May")
    newest = changes.newest()

    pages = [ids(changes.live("students", 0, newest, f"limit=3&offset={offset}")) for offset in (0, 3, 6)]

    assert pages == [["0", "1", "3"], ["4", "5", "6"], ["2"]]
    assert "Next-Page-Token" not in api.get(f"/students?maxChangeVersion={newest}")


def test_a_window_without_an_end_is_paged_in_the_order_of_creation(api, changes, seven_students):
    post(api, 2, firstName="May")

    assert ids(changes.live("students", 1)) == ["0", "1", "2", "3", "4", "5", "6"]
    assert "Next-Page-Token" in api.get("/students?minChangeVersion=1")


def test_a_window_can_be_combined_with_filters_and_totals(api, changes, seven_students):
    newest = changes.newest()
    post(api, 2, firstName="May")

    response = api.get(f"/students?minChangeVersion=1&maxChangeVersion={newest}&firstName=Mae&totalCount=true&limit=2")

    assert response["Total-Count"] == "6"
    assert ids(response.json()) == ["0", "1"]
    assert ids(changes.live("students", 1, newest + 9, "firstName=May")) == ["2"]
    assert changes.live("students", 1, newest, "firstName=May") == []


def test_cursor_paging_of_a_window(api, changes, seven_students):
    newest = changes.newest()
    post(api, 2, firstName="May")
    window = f"minChangeVersion=1&maxChangeVersion={newest}"
    (token,) = api.get(f"/students/partitions?{window}").json()["pageTokens"]

    found = []
    while token:
        response = api.get(f"/students?{window}&pageSize=2&pageToken={token}")
        found += ids(response.json())
        token = response.get("Next-Page-Token")

    assert found == ["0", "1", "3", "4", "5", "6"]


def test_there_are_no_partitions_of_an_empty_window(api, changes, seven_students):
    newest = changes.newest()

    assert api.get(f"/students/partitions?minChangeVersion={newest}").json() == {"pageTokens": []}


def test_names_are_read_in_any_case_and_blanks_are_left_out(api, changes, seven_students):
    newest = changes.newest()
    post(api, 2, firstName="May")

    assert ids(api.get(f"/students?MINCHANGEVERSION={newest}&maxchangeversion=").json()) == ["2"]
    assert len(api.get("/students?minChangeVersion=%20&maxChangeVersion=").json()) == 7


MIN = "MinChangeVersion must be a numeric value greater than or equal to 0."
MAX = "MaxChangeVersion must be a numeric value greater than or equal to 0."
ORDER = "MinChangeVersion must be less than or equal to MaxChangeVersion."


@pytest.mark.parametrize("path", ["/students", "/students/partitions", "/students/deletes", "/students/keyChanges"])
@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ("minChangeVersion=-1", [MIN]),
        ("minChangeVersion=x&maxChangeVersion=1.5", [MIN, MAX]),
        ("maxChangeVersion=99999999999999999999", [MAX]),
        ("minChangeVersion=5&maxChangeVersion=3", [ORDER]),
    ],
)
def test_an_invalid_window_is_refused(api, path, query, errors):
    response = api.get(f"{path}?{query}")

    assert response.status_code == 400
    assert response.json()["type"] == "urn:ed-fi:api:bad-request:parameter-validation-failed"
    assert response.json()["detail"] == "Parameters supplied to the request were invalid."
    assert response.json()["errors"] == errors


@pytest.mark.parametrize("path", ["/students", "/students/deletes", "/students/keyChanges"])
@pytest.mark.parametrize(("compatibility", "above"), [("", 1), ("ods", 1), ("ods", 50)])
@pytest.mark.usefixtures("seven_students")
def test_an_empty_window_has_nothing(api, changes, settings, path, compatibility, above):  # noqa: PLR0917
    settings.EDFI_API = settings.EDFI_API | {"COMPATIBILITY": compatibility}
    newest = changes.newest()

    found = api.get(f"{path}?minChangeVersion={newest + above}&maxChangeVersion={newest}&totalCount=true")

    assert (found.status_code, found.json(), found["Total-Count"]) == (200, [], "0")
    within = api.get(f"{path}?minChangeVersion={above}&maxChangeVersion=0&totalCount=true")
    assert (within.status_code, within.json(), within["Total-Count"]) == (200, [], "0")


def test_an_empty_window_has_no_partitions(api, changes, seven_students):
    newest = changes.newest()

    found = api.get(f"/students/partitions?minChangeVersion={newest + 1}&maxChangeVersion={newest}")

    assert (found.status_code, found.json()) == (200, {"pageTokens": []})


def test_a_window_that_ends_before_it_begins_is_explained(api):
    refused = api.get("/students?minChangeVersion=9&maxChangeVersion=4")

    assert refused.json()["hints"][0].startswith("The window is empty: it ends before it begins.")


@pytest.mark.parametrize("path", ["/students", "/students/deletes", "/students/keyChanges"])
def test_paging_problems_are_reported_first(api, path):
    response = api.get(f"{path}?limit=x&minChangeVersion=x&colour=red")

    assert response.json()["errors"] == ["Limit must be omitted or set to a numeric value between 0 and 500."]


def test_a_wrong_window_is_reported_before_a_wrong_filter(api):
    assert api.get("/students?minChangeVersion=x&colour=red").json()["errors"] == [MIN]
    assert api.get("/students/deletes?minChangeVersion=x&colour=red").json()["errors"] == [MIN]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.text(max_size=6), last=st.text(max_size=6), path=st.sampled_from(["", "/deletes", "/keyChanges"]))
def test_any_text_is_answered(api, first, last, path):
    response = http().get(
        f"/data/ed-fi/students{path}",
        {"minChangeVersion": first, "maxChangeVersion": last},
        HTTP_AUTHORIZATION=f"Bearer {api.token}",
    )

    assert response.status_code in (200, 400)
