"""`/submissions/v1`: what a client learns of its own refusals, and of no others."""

import csv
import io
import json

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from edfi_api.core.security.models import ApiClient
from edfi_api.features.refusals.models import Refusal
from edfi_api.web.metadata.discovery import discovery_document, specifications
from tests.conftest import http
from tests.features.refusals.conftest import client_id
from tests.features.refusals.many_refusals import insert_many_refusals
from tests.support.class_periods import PERIOD, store_school
from tests.support.factories import STUDENT

REFUSALS = "/submissions/v1/refusals"


def listed(api, recorder, query="", **extra):
    recorder.flush()
    response = api.get(REFUSALS + query, **extra)
    assert response.status_code == 200, response.content
    return response.json()


def test_an_entry_has_what_the_answer_said(api, recorder):
    answer = api.post("/classPeriods", PERIOD).json()

    [entry] = listed(api, recorder)

    cause = entry.pop("cause")
    for name in ("id", "firstAt", "lastAt", "sequence"):
        assert entry.pop(name)
    assert cause.pop("id").startswith("c-")
    assert cause == {"text": "School NK#schoolId=7 is missing", "causeGone": False}
    assert entry == {
        "resource": "/ed-fi/classPeriods",
        "operation": "upsert",
        "naturalKey": "NK#classPeriodName=First#schoolReference.schoolId=7",
        "educationOrganizationId": 7,
        "status": 409,
        "type": "urn:ed-fi:api:data-conflict:unresolved-reference",
        "title": "Unresolved Reference",
        "validationErrors": {"$.schoolReference": ["The referenced School item does not exist."]},
        "errors": [],
        "hints": answer["hints"],
        "correlationId": answer["correlationId"],
        "count": 1,
        "state": "open",
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 2),
        ("?resource=ed-fi/classPeriods", 1),
        ("?resource=/Ed-Fi/CLASSPERIODS", 1),
        ("?problem=data-conflict:unresolved-reference", 1),
        ("?status=400", 1),
        ("?naturalKey=NK%23studentUniqueId=604822", 1),
        ("?educationOrganizationId=7", 1),
        ("?educationOrganizationId=8", 0),
        ("?state=resolved", 0),
        ("?State=ALL", 2),
        ("?since=2020-01-01T00:00:00Z", 2),
        ("?since=2999-01-01T00:00:00Z", 0),
        ("?documentId=0193a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b", 0),
        ("?limit=1", 1),
        ("?offset=1", 1),
    ],
)
def test_filters(api, recorder, query, found):
    api.post("/classPeriods", PERIOD)
    api.post("/students", STUDENT | {"birthDate": "never"})

    assert len(listed(api, recorder, query)) == found


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("state=ajar", "State must be one of: open, resolved, all."),
        ("status=many", "Status must be a number."),
        ("cause=c-1", "Cause must be an id."),
        ("documentId=x", "DocumentId must be an id."),
        ("since=yesterday", "Since must be a time such as 2026-11-22T02:10:09Z."),
        ("since=2026-13-45T00:00:00Z", "Since must be a time such as 2026-11-22T02:10:09Z."),
        ("minSequence=-1", "MinSequence must be a number."),
        ("educationOrganizationId=9223372036854775808", "EducationOrganizationId must be a number."),
        ("naturalKey=%00", "A value has a NUL in it."),
        ("limit=many", "Limit must be omitted or set to a numeric value between 0 and 500."),
        ("nonsense=1", "The query field 'nonsense' is not valid for this resource."),
    ],
)
def test_unusable_parameters_are_named(api, recorder, query, message):
    response = api.get(f"{REFUSALS}?{query}")

    assert (response.status_code, response.json()["errors"]) == (400, [message])


def test_pollers_read_on_from_the_last_sequence(api, recorder):
    api.post("/classPeriods", PERIOD)
    [first] = listed(api, recorder)
    api.post("/students", STUDENT | {"birthDate": "never"})
    api.post("/classPeriods", PERIOD)

    later = listed(api, recorder, f"?minSequence={first['sequence'] + 1}&totalCount=true")

    assert sorted((each["resource"], each["count"]) for each in later) == [
        ("/ed-fi/classPeriods", 2),
        ("/ed-fi/students", 1),
    ]
    assert later == sorted(later, key=lambda each: each["sequence"])


def test_another_client_sees_nothing(api, other_api, recorder):
    api.post("/classPeriods", PERIOD)
    [entry] = listed(api, recorder)
    path = f"{REFUSALS}/{entry['id']}"

    assert listed(other_api, recorder, "?state=all") == []
    assert other_api.get(path).status_code == 404
    assert other_api.delete(path).status_code == 404
    assert other_api.get("/submissions/v1/causes").json() == []
    assert other_api.get("/submissions/v1/summary").json() == []
    assert api.get(path).json() == entry
    assert http().get(path).status_code == 401


def test_an_entry_is_dismissed_and_appears_again(api, recorder):
    api.post("/classPeriods", PERIOD)
    [entry] = listed(api, recorder)
    path = f"{REFUSALS}/{entry['id']}"
    assert (api.delete(path).status_code, api.delete(path).status_code) == (204, 204)
    assert listed(api, recorder) == []
    assert api.get(path).json()["resolution"] == "dismissed"
    api.post("/classPeriods", PERIOD)

    [again] = listed(api, recorder)

    assert again["id"] != entry["id"]


@pytest.mark.parametrize("path", ["nonsense", "refusals/nonsense", "refusals/0193a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b"])
def test_unknown_paths_are_not_found(api, recorder, path):
    assert api.get(f"/submissions/v1/{path}").status_code == 404


def test_causes_group_entries_by_what_repairs_them(api, other_api, recorder):
    for name in ("First", "Second", "First"):
        api.post("/classPeriods", PERIOD | {"classPeriodName": name})
    api.post("/students", STUDENT | {"birthDate": "never"})
    recorder.flush()

    first, second = api.get("/submissions/v1/causes").json()
    store_school(other_api)
    recorder.flush()
    gone = api.get("/submissions/v1/causes?limit=1").json()

    assert (first["text"], first["target"]) == ("School NK#schoolId=7 is missing", "School")
    assert (first["entries"], first["occurrences"], first["causeGone"]) == (2, 3, False)
    assert first["resources"] == {"/ed-fi/classPeriods": 2}
    assert (second["text"], second["entries"]) == ("$.birthDate: birthDate should be of type date.", 1)
    assert [each["causeGone"] for each in gone] == [True]
    assert len(listed(api, recorder, f"?cause={first['id']}")) == 2


def test_causes_with_equally_many_entries_are_in_load_order_over_all_pages(api, recorder):
    api.post("/unknown", {})
    for resource in ("studentSchoolAssociations", "sections", "classPeriods", "courses", "staffs", "students"):
        api.post(f"/{resource}", "{")
    recorder.flush()
    Refusal.objects.update(cause=F("subject"))
    in_load_order = [each["resource"] for each in api.get("/submissions/v1/summary").json()]

    pages = [api.get(f"/submissions/v1/causes?limit=1&offset={number}").json() for number in range(8)]

    assert [[*each["resources"]] for page in pages for each in page] == [[path] for path in in_load_order]
    assert len(in_load_order) == 7


def test_csv_has_all_causes_unless_there_is_a_limit(api, recorder, settings):
    settings.EDFI_API = settings.EDFI_API | {"DEFAULT_PAGE_SIZE": 1}
    for school in (7, 8, 9):
        api.post("/classPeriods", PERIOD | {"schoolReference": {"schoolId": school}})
    recorder.flush()

    def texts(query=""):
        response = api.get(f"/submissions/v1/causes{query}", HTTP_ACCEPT="text/csv")
        header, *rows = csv.reader(io.StringIO(response.content.decode("utf-8-sig")))
        return [row[header.index("text")] for row in rows]

    assert sorted(texts()) == [f"School NK#schoolId={school} is missing" for school in (7, 8, 9)]
    assert len(texts("?limit=2")) == 2
    assert len(api.get("/submissions/v1/causes").json()) == 1


@pytest.mark.parametrize(
    ("path", "event"), [("refusals", "refusals exported"), ("causes", "causes of refusals exported")]
)
def test_exports_of_a_client_are_audited(api, recorder, caplog, path, event):
    api.get(f"/submissions/v1/{path}")
    assert "exported" not in caplog.text

    api.get(f"/submissions/v1/{path}", HTTP_ACCEPT="text/csv")

    assert f'event="{event}" client={ApiClient.objects.get(name="tests").client_id}' in caplog.text


def test_the_summary_counts_by_resource_in_load_order(api, recorder):
    api.post("/classPeriods", PERIOD)
    api.post("/students", STUDENT | {"birthDate": "never"})
    recorder.flush()
    api.post("/students", STUDENT)
    recorder.flush()

    students, periods = api.get("/submissions/v1/summary").json()

    assert (periods["resource"], periods["open"]) == ("/ed-fi/classPeriods", 1)
    assert periods["byProblem"] == {"data-conflict:unresolved-reference": 1}
    assert (students["resource"], students["open"], students["resolvedLast24Hours"]) == ("/ed-fi/students", 0, 1)
    assert (students["activity"]["acceptedLast24Hours"], students["activity"]["refusedLast7Days"]) == (1, 1)


def test_csv_is_safe_in_a_spreadsheet(api, recorder):
    api.post("/students", STUDENT | {"studentUniqueId": "=HYPERLINK(1)", "birthDate": "never", "lastSurname": ""})
    recorder.flush()
    Refusal.objects.update(natural_key='=1+1,"\n学')

    response = api.get(REFUSALS, HTTP_ACCEPT="text/csv")

    header, *rows = list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert header[:3] == ["id", "resource", "naturalKey"]
    assert [row[2] for row in rows] == ["'=1+1,\"\n学"] * 2
    assert {row[9] for row in rows} == {"$.birthDate", "$.lastSurname"}


def test_json_that_is_preferred_to_csv_is_answered(api, recorder):
    for path in (REFUSALS, "/submissions/v1/causes"):
        for accept in ("text/csv;q=0.1, application/json", "text/csv;q=0", "application/json, text/csv"):
            assert api.get(path, HTTP_ACCEPT=accept)["Content-Type"].startswith("application/json"), accept
        assert api.get(path, HTTP_ACCEPT="application/json;q=0.9, text/csv")["Content-Type"].startswith("text/csv")


def test_without_a_ledger_there_are_no_routes(api):
    assert api.get(REFUSALS).status_code == 404
    assert "submissions" not in http().get("/").json()["urls"]


def test_discovery_and_openapi_name_the_routes(recorder, surface):
    assert discovery_document(surface, "http://here")["urls"]["submissions"] == "http://here/submissions/v1"
    assert {
        "name": "Submissions",
        "endpointUri": "http://here/metadata/specifications/submissions-spec.json",
        "prefix": "Other",
    } in specifications(surface, "http://here")


def test_hashed_keys_are_absent_even_of_older_entries(api, recorder, settings):
    api.post("/classPeriods", PERIOD)
    recorder.flush()
    settings.EDFI_API = settings.EDFI_API | {"REFUSAL_KEYS": "hashed"}

    [entry] = listed(api, recorder)

    assert "naturalKey" not in entry
    assert "educationOrganizationId" not in entry


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 3),
        ("totalCount=true", 3),
        ("naturalKey=NK%23studentUniqueId=19999", 1),
        ("naturalKey=nobody&state=all", 0),
        ("cause=c-1679091c5a880faf6fb5e6087eb1b2dc&state=all", 10),
    ],
)
def test_a_list_of_a_client_with_many_entries_reads_few_of_them(api, recorder, query, found):
    insert_many_refusals(client_id())
    with CaptureQueriesContext(connection) as captured:
        assert len(api.get(f"/submissions/v1/refusals?{query}").json()) == found

    statements = [each["sql"] for each in captured if 'FROM "refusal"' in each["sql"]]
    assert sum(map(blocks_read, statements)) in range(1, 60)


def blocks_read(statement: str) -> int:
    """How many blocks of tables and indexes a statement reads."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}")
        [(explained,)] = cursor.fetchall()
    [plan] = json.loads(explained) if isinstance(explained, str) else explained
    return int(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"])
