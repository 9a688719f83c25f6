"""What is recorded of refused writes, and what resolves it."""

import json

import pytest
from django.core.management import call_command
from django.db import connection

from edfi_api.features.refusals.models import OpenRefusals, Refusal, SubmissionHour
from edfi_api.web.batch.record import RecordedOperations
from edfi_api.web.batch.sent_batch import LINES
from tests.conftest import http, item_path
from tests.features.refusals.conftest import client_id
from tests.support.class_periods import PERIOD, store_school
from tests.support.factories import STUDENT
from tests.web.batch.batch_client import BatchClient
from tests.web.batch.operations import DESCRIPTORS, school

MISSING_SCHOOL = "School NK#schoolId=7 is missing"


def test_a_missing_target_is_recorded_with_key_cause_and_answer(api, refused):
    answer = api.post("/classPeriods", PERIOD).json()

    [entry] = refused()

    assert (entry.client, entry.resource, entry.operation) == (client_id(), "/ed-fi/classPeriods", "upsert")
    assert entry.natural_key == "NK#classPeriodName=First#schoolReference.schoolId=7"
    assert entry.organization == 7
    assert (entry.status, entry.problem) == (409, "data-conflict:unresolved-reference")
    assert entry.title == "Unresolved Reference"
    assert entry.paths == {"$.schoolReference": ["The referenced School item does not exist."]}
    assert (entry.cause_text, entry.awaited_resource) == (MISSING_SCHOOL, "School")
    assert entry.correlation_id == answer["correlationId"]
    assert (entry.count, entry.state, entry.is_batch) == (1, "open", False)


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"schoolReference": {"schoolId": 7}}, "NK#classPeriodName=?#schoolReference.schoolId=7"),
        ({"classPeriodName": "First"}, "NK#classPeriodName=First#schoolReference.schoolId=?"),
        ({"classPeriodName": 5, "schoolReference": {"schoolId": []}}, None),
        ({"classPeriodName": "First", "schoolReference": [7]}, "NK#classPeriodName=First#schoolReference.schoolId=?"),
        (
            {"classPeriodName": "First", "schoolReference": {"schoolId": "7"}, "meetingTimes": 1},
            "NK#classPeriodName=First#schoolReference.schoolId=7",
        ),
    ],
)
def test_the_key_of_a_broken_body_has_what_can_be_read(api, refused, body, key):
    assert api.post("/classPeriods", body).status_code == 400

    [entry] = refused()

    assert entry.natural_key == key


def test_hints_are_kept_without_values_of_the_document(api, refused):
    code = "Excused from the first lesson of the morning"
    namespace = "uri://ed-fi.org/AttendanceEventCategoryDescriptor"
    stored = {"namespace": namespace, "codeValue": code, "shortDescription": "Any"}
    assert api.post("/attendanceEventCategoryDescriptors", stored).status_code == 201
    event = {
        "attendanceEventCategoryDescriptor": f"{namespace}#{code}s",
        "eventDate": "2026-01-05",
        "schoolReference": {"schoolId": 7},
        "sessionReference": {"schoolId": 7, "schoolYear": 2026, "sessionName": "Fall"},
        "studentReference": {"studentUniqueId": "Mae-604822"},
    }

    answer = api.post("/studentSchoolAttendanceEvents", event).json()
    api.post(
        "/studentEducationOrganizationAssociations",
        {
            "educationOrganizationReference": {"educationOrganizationId": 7},
            "studentReference": {"studentUniqueId": "Mae-604822"},
        },
    )
    of_descriptor, of_student = refused()

    suggested = f'Did you mean "{namespace}#{code}"?'
    assert suggested in answer["hints"][0]
    assert suggested in of_descriptor.hints[0]
    assert "Mae-604822" not in json.dumps([of_descriptor.hints, of_student.hints])
    assert any('there is no Student with studentUniqueId "…".' in hint for hint in of_student.hints)


INVALID, NOT_FOUND = "bad-request:data-validation-failed", "not-found"
STUDENTS = "/ed-fi/students"


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("post", "/students", "{'secret'", (400, INVALID, STUDENTS)),
        ("post", "/students", "", (400, "bad-request", STUDENTS)),
        ("put", "/students", "{}", (405, "method-not-allowed", STUDENTS)),
        ("delete", "/students/nonsense", None, (400, INVALID, STUDENTS)),
        ("delete", "/students/0193a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b", None, (404, NOT_FOUND, STUDENTS)),
        ("post", "/nonsense", "{}", (404, NOT_FOUND, "/ed-fi/nonsense")),
    ],
)
def test_every_kind_of_refusal_is_recorded(api, refused, method, path, body, expected):  # noqa: PLR0917
    assert api.request(method, path, body).status_code == expected[0]

    [entry] = refused()

    assert (entry.status, entry.problem, entry.resource) == expected


def test_another_media_type_is_recorded(api, refused):
    api.post("/students", "a", content_type="text/csv")

    assert [entry.status for entry in refused()] == [415]


def test_reads_and_requests_without_token_are_not_recorded(api, refused):
    api.get("/students/nonsense")
    api.get("/students?nonsense=1")
    api.post("/students", STUDENT, HTTP_AUTHORIZATION="Bearer wrong")

    assert refused() == []


def test_malformed_json_is_recorded_by_position_alone(api, refused):
    api.post("/students", '{"lastSurname": Featherstonehaugh}')

    [entry] = refused()

    assert "Featherstonehaugh" not in json.dumps([entry.paths, entry.errors, entry.cause_text])
    assert entry.paths == {"$.": ["The request body is not a valid JSON object: line 1 column 17"]}


def test_repetitions_are_counted_in_one_entry(api, refused):
    for _ in range(2):
        api.post("/classPeriods", PERIOD)
    [first] = refused()
    last = api.post("/classPeriods", PERIOD).json()

    [entry] = refused()

    assert (entry.id, entry.count, entry.correlation_id) == (first.id, 3, last["correlationId"])
    assert entry.sequence > first.sequence
    assert entry.first_at == first.first_at < entry.last_at


def test_a_later_success_resolves_and_another_refusal_begins_a_new_entry(api, refused):
    api.post("/classPeriods", PERIOD)
    store_school(api)
    assert [entry.state for entry in refused(problem="data-conflict:unresolved-reference")] == ["open"]
    assert api.post("/classPeriods", PERIOD).status_code == 201
    [entry] = refused()
    api.post("/classPeriods", PERIOD | {"meetingTimes": 1})

    again = refused()

    assert (entry.state, entry.resolution, entry.cause_gone) == ("resolved", "succeeded", True)
    assert [each.state for each in again] == ["resolved", "open"]


def test_refused_accepted_and_refused_within_a_second_are_two_entries(api, refused):
    store_school(api)
    api.post("/classPeriods", PERIOD | {"meetingTimes": 1})
    api.post("/classPeriods", PERIOD)
    api.post("/classPeriods", PERIOD | {"meetingTimes": 1})

    entries = refused()

    assert [(each.state, each.count) for each in entries] == [("resolved", 1), ("open", 1)]


def test_the_cause_is_gone_as_soon_as_any_client_writes_the_target(api, other_api, refused):
    api.post("/classPeriods", PERIOD)
    before = refused()[0]
    store_school(other_api)

    [entry] = refused()

    assert (before.cause_gone, entry.cause_gone, entry.state) == (False, True, "open")
    assert entry.sequence > before.sequence


def test_a_success_of_another_client_or_identity_resolves_nothing(api, other_api, refused):
    api.post("/students", STUDENT | {"birthDate": "never"})
    refused()
    other_api.post("/students", STUDENT)
    api.post("/students", STUDENT | {"studentUniqueId": "1"})

    assert [entry.state for entry in refused()] == ["open"]


def test_put_and_delete_resolve_by_id(api, refused):
    path = item_path(api.post("/students", STUDENT))
    document_id = path.rpartition("/")[2]
    api.put(path, {"id": document_id, "nonsense": 1})
    api.put(path, STUDENT | {"id": document_id, "birthDate": "never"})
    assert [entry.state for entry in refused()] == ["open", "open"]
    assert api.put(path, STUDENT | {"id": document_id}).status_code == 204
    assert {entry.resolution for entry in refused()} == {"succeeded"}
    api.put(path, STUDENT | {"id": document_id, "birthDate": "never"})
    refused()
    assert api.delete(path).status_code == 204

    assert [entry.resolution for entry in refused()] == ["succeeded", "succeeded", "deleted"]


def test_a_key_change_resolves_the_old_identity(api, refused):
    store_school(api)
    path = item_path(api.post("/classPeriods", PERIOD))
    api.post("/classPeriods", PERIOD | {"meetingTimes": 1})
    refused()
    Refusal.objects.update(last_at="2020-01-01T00:00Z")  # The documents of a test are of its beginning.
    body = PERIOD | {"classPeriodName": "Second", "id": path.rpartition("/")[2]}
    assert api.put(path, body).status_code == 204

    [entry] = refused()

    assert entry.resolution == "succeeded"


def test_a_key_change_resolves_both_identities_however_changes_are_read(api, refused, settings, monkeypatch):
    """The change of a key and the document have one change version."""
    monkeypatch.setattr("edfi_api.features.refusals.later_writes._AT_ONCE", 1)
    store_school(api)
    path = item_path(api.post("/classPeriods", PERIOD))
    for name in ("First", "Second"):
        api.post("/classPeriods", PERIOD | {"classPeriodName": name, "meetingTimes": 1})
    refused()
    Refusal.objects.update(last_at="2020-01-01T00:00Z")  # The documents of a test are of its beginning.
    settings.EDFI_API = settings.EDFI_API | {"WRITE_RECORDER": ""}  # As if another process had it.
    body = PERIOD | {"classPeriodName": "Second", "id": path.rpartition("/")[2]}
    assert api.put(path, body).status_code == 204

    assert [each.resolution for each in refused()] == ["succeeded", "succeeded"]


def test_operations_of_batches_are_recorded_and_resolve(api, refused):
    batch = BatchClient(api.token)
    period = {"resource": "/ed-fi/classPeriods", "document": PERIOD}
    assert batch.statuses(period) == [409]
    [entry] = refused()
    assert (entry.is_batch, entry.cause_text) == (True, MISSING_SCHOOL)
    batch.independent(*DESCRIPTORS, school(7), period)

    [entry] = refused()

    assert (entry.count, entry.resolution) == (1, "succeeded")


def test_targets_that_are_missing_in_a_batch_are_causes_with_names_of_their_own(api, refused):
    periods = [
        {"resource": "/ed-fi/classPeriods", "document": PERIOD | {"schoolReference": {"schoolId": school_id}}}
        for school_id in (7, "8")
    ]
    assert BatchClient(api.token).statuses(*periods) == [409, 409]

    entries = refused()

    assert [each.cause_text for each in entries] == [MISSING_SCHOOL, "School NK#schoolId=8 is missing"]


@pytest.mark.parametrize("mode", ["atomic", "independent"])
def test_what_is_refused_while_a_batch_is_executed_is_not_resolved_by_it(api, refused, monkeypatch, mode):
    path = item_path(api.post("/students", STUDENT))
    write = {"resource": "/ed-fi/students", "document": STUDENT}
    other = {"resource": "/ed-fi/students", "document": STUDENT | {"studentUniqueId": "1"}}
    note = RecordedOperations.note

    def refused_before(*result):
        assert api.put(path, STUDENT | {"id": path.rpartition("/")[2], "birthDate": "never"}).status_code == 400
        note(*result)

    with monkeypatch.context() as patched:
        patched.setattr(RecordedOperations, "note", refused_before)
        BatchClient(api.token).results([write, other], mode=mode)
    assert [(each.state, each.count) for each in refused()] == [("open", 2)]
    BatchClient(api.token).results([write, other], mode=mode)

    assert [each.resolution for each in refused()] == ["succeeded"]


def test_operations_of_a_batch_resolve_those_before_them(api, refused):
    right = {"resource": "/ed-fi/students", "document": STUDENT}
    wrong = {"resource": "/ed-fi/students", "document": STUDENT | {"birthDate": "never"}}
    batch = BatchClient(api.token)
    assert batch.statuses(wrong, right) == [400, 201]
    assert [each.state for each in refused()] == ["resolved"]
    assert batch.statuses(right, wrong) == [200, 400]

    assert [each.state for each in refused()] == ["resolved", "open"]


def test_operations_that_name_no_resource_or_kind_are_recorded(api, refused):
    operations = [
        {"resource": "/ed-fi/nonsense", "document": {}},
        {"resource": "nonsense", "document": {}},
        {"resource": "/ed-fi/students", "op": "replace", "document": STUDENT},
        {"resource": 7, "document": {}},
    ]
    assert BatchClient(api.token).statuses(*operations) == [404, 404, 400, 400]

    entries = refused()

    assert [(each.resource, each.operation, each.status) for each in entries] == [
        ("/ed-fi/nonsense", "upsert", 404),
        ("/nonsense", "upsert", 404),
        ("/ed-fi/students", "unknown", 400),
        ("", "upsert", 400),
    ]
    assert [each.is_batch for each in entries] == [True] * 4
    hours = SubmissionHour.objects.order_by("resource").values_list("resource", "refused")
    assert list(hours) == [("", 3), ("/ed-fi/students", 1)]


def test_a_line_of_a_batch_that_is_not_json_is_recorded(api, refused):
    BatchClient(api.token).send(b'{"resource": Featherstonehaugh', mode="independent", content_type=LINES)

    [entry] = refused()

    assert (entry.resource, entry.status, entry.natural_key) == ("", 400, None)
    assert "Featherstonehaugh" not in json.dumps([entry.paths, entry.errors, entry.cause_text])


def test_an_atomic_batch_that_fails_resolves_nothing(api, refused):
    store_school(api)
    api.post("/classPeriods", PERIOD | {"meetingTimes": 1})
    refused()
    period = {"resource": "/ed-fi/classPeriods", "document": PERIOD}
    wrong = {"resource": "/ed-fi/students", "document": {"studentUniqueId": "9"}}
    assert BatchClient(api.token).send([period, wrong], mode="atomic").status_code == 400

    entries = refused()

    assert [(each.resource, each.state) for each in entries] == [
        ("/ed-fi/classPeriods", "open"),
        ("/ed-fi/students", "open"),
    ]


def test_no_value_of_a_body_is_kept_but_the_identity(api, refused, caplog):
    body = {
        "studentUniqueId": "604822",
        "firstName": "Zebedee",
        "lastSurname": "Quillfeather" * 20,
        "birthDate": "whenever",
        "birthCity": "Unquiet",
        "personReference": {"personId": "Pxyzzy", "sourceSystemDescriptor": 7},
        "Unexpected-member": "Plugh",
    }
    assert api.post("/students", body).status_code == 400

    refused()

    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(refusal::text, ' ') FROM refusal")
        [(text,)] = cursor.fetchall()
    assert "604822" in text
    text += api.get("/submissions/v1/refusals", HTTP_ACCEPT="text/csv").content.decode()
    text += http().get("/metrics").content.decode() + caplog.text
    assert "meadowlark_refusals_total" in text and "meadowlark.requests" in text
    for value in ("Zebedee", "Quillfeather", "whenever", "Unquiet", "Pxyzzy", "Plugh"):
        assert value not in text


def test_hashed_keys_name_nobody_and_still_resolve(api, refused, settings):
    settings.EDFI_API = settings.EDFI_API | {"REFUSAL_KEYS": "hashed"}
    api.post("/classPeriods", PERIOD)
    api.post("/students", STUDENT | {"birthDate": "never"})
    entries = refused()
    store_school(api)
    api.post("/classPeriods", PERIOD)
    api.post("/students", STUDENT)

    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(refusal::text, ' ') FROM refusal")
        [(text,)] = cursor.fetchall()
    assert [entry.natural_key for entry in entries] == [None, None]
    assert "604822" not in text and "First" not in text and "schoolId=7" not in text
    assert [entry.resolution for entry in refused()] == ["succeeded", "succeeded"]


def test_a_client_with_too_many_entries_gets_summaries(api, refused, settings):
    settings.EDFI_API = settings.EDFI_API | {"REFUSALS_PER_CLIENT": 2}
    for number in range(2):
        api.post("/classPeriods", PERIOD | {"classPeriodName": str(number)})
    refused()
    for number in range(5):
        api.post("/classPeriods", PERIOD | {"classPeriodName": str(number)})

    entries = refused()

    assert [(each.is_summary, each.natural_key is None, each.count) for each in entries] == [
        (False, False, 2),
        (False, False, 2),
        (True, True, 3),
    ]


def test_a_client_with_ever_new_causes_gets_one_summary_for_each_problem(api, refused, settings):
    settings.EDFI_API = settings.EDFI_API | {"REFUSALS_PER_CLIENT": 2}
    for number in range(8):
        api.post(f"/unknown{number}", {})
        api.post("/classPeriods", PERIOD | {"schoolReference": {"schoolId": number}})
        refused()

    entries = refused()

    assert [(each.resource, each.problem, each.cause_text, each.count) for each in entries if not each.resource] == [
        ("", "not-found", "not-found", 6),
        ("", "data-conflict:unresolved-reference", "data-conflict:unresolved-reference", 6),
    ]
    assert len(entries) == 6


def test_of_many_different_requests_for_one_cause_only_the_first_are_recorded_singly(api, refused, settings):
    settings.EDFI_API = settings.EDFI_API | {"REFUSALS_PER_SECOND": 2}
    for name in ("First", "First", "Second", "Third", "Fourth"):
        api.post("/classPeriods", PERIOD | {"classPeriodName": name})
    api.post("/classPeriods", PERIOD | {"schoolReference": {"schoolId": 8}})

    entries = refused()

    assert [(each.natural_key, each.count, each.is_summary, each.cause_text) for each in entries] == [
        ("NK#classPeriodName=First#schoolReference.schoolId=7", 2, False, MISSING_SCHOOL),
        ("NK#classPeriodName=Second#schoolReference.schoolId=7", 1, False, MISSING_SCHOOL),
        (None, 2, True, MISSING_SCHOOL),
        ("NK#classPeriodName=First#schoolReference.schoolId=8", 1, False, "School NK#schoolId=8 is missing"),
    ]
    store_school(api)
    assert [each.cause_gone for each in refused()] == [True, True, True, False]
    assert list(SubmissionHour.objects.filter(refused__gt=0).values_list("refused", flat=True)) == [6]


def test_of_refusals_between_successes_only_the_first_are_recorded_singly(api, refused, settings):
    settings.EDFI_API = settings.EDFI_API | {"REFUSALS_PER_SECOND": 2}
    wrong = STUDENT | {"birthDate": "never"}
    api.post("/students", wrong | {"studentUniqueId": "0"})
    refused()
    for number in range(1, 5):
        assert api.post("/students", STUDENT | {"studentUniqueId": f"right {number}"}).status_code == 201
        assert api.post("/students", wrong | {"studentUniqueId": f"{number}"}).status_code == 400

    entries = refused()

    assert [(each.natural_key, each.count) for each in entries] == [
        ("NK#studentUniqueId=0", 1),
        ("NK#studentUniqueId=1", 1),
        ("NK#studentUniqueId=2", 1),
        (None, 2),
    ]


def test_open_entries_and_writes_by_hour_are_counted(api, refused):
    api.post("/classPeriods", PERIOD)
    api.post("/students", STUDENT)
    api.post("/students", STUDENT)
    refused()

    counted = OpenRefusals.objects.values_list("resource", "problem", "awaited_resource", "entries")
    hours = SubmissionHour.objects.order_by("resource").values_list("resource", "accepted", "refused")
    assert list(counted) == [("/ed-fi/classPeriods", "data-conflict:unresolved-reference", "School", 1)]
    assert list(hours) == [("/ed-fi/classPeriods", 0, 1), ("/ed-fi/students", 2, 0)]


def test_old_entries_are_purged_and_those_without_identity_age(api, refused):
    for body in (PERIOD, PERIOD | {"classPeriodName": "Second"}, "{"):
        api.post("/classPeriods", body)
    refused()
    Refusal.objects.filter(natural_key__contains="Second").update(last_at="2020-01-01T00:00Z")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE refusal SET last_at = last_at - interval '8 days' WHERE NOT has_identity")

    call_command("purge_refusals")

    assert [entry.resolution for entry in refused()] == [None, "aged"]
    assert sum(OpenRefusals.objects.values_list("entries", flat=True)) == 1


@pytest.mark.parametrize("days", ["-1", "many", "36501"])
def test_purge_refusals_refuses_wrong_days(days, db, capsys):
    with pytest.raises(Exception, match="--days"):
        call_command("purge_refusals", f"--days={days}")
