"""The form of batches: addresses, bodies, operations, results, and what is answered to malformed ones."""

from dataclasses import replace

import pytest

from edfi_api.core.models import Document
from edfi_api.web.batch import work
from edfi_api.web.batch.natural_keys import NaturalKeys
from edfi_api.web.batch.operations import OperationReader
from tests.conftest import http
from tests.web.batch.batch_client import parts
from tests.web.batch.operations import DESCRIPTORS, ED_FI, enrolment, period, school, student

BAD = "urn:ed-fi:api:bad-request:data-validation-failed"


@pytest.fixture
def schooled(batch):
    """Store a school, a student, and what they need."""
    batch.results([*DESCRIPTORS, school(1), student(1)])
    return batch


def paths(result):
    return result["problem"]["validationErrors"]


def count(resource):
    return Document.objects.filter(resource_type__name=resource).count()


@pytest.mark.parametrize("path", ["/batch", "/BATCH/", "/bulk", "/Bulk/"])
def test_addresses_match_in_any_case(batch, path):
    assert parts(batch.send([student(1)], path=path))[0]["status"] == 201


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_not_allowed(batch, method):
    response = http().generic(method, "/batch", headers={"Authorization": f"Bearer {batch.token}"})

    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert response.json()["errors"] == [f"The endpoint of the request does not support the '{method}' method."]


def test_a_batch_needs_a_token(batch):
    assert batch.send([], HTTP_AUTHORIZATION="").status_code == 401


def test_results_have_the_members_of_the_single_answers(schooled):
    created, repeated, changed, deleted = schooled.results(
        [
            student(2) | {"tag": "first"},
            student(2),
            {"op": "update", "naturalKey": {"studentUniqueId": "S2"}} | student(2, firstName="Ida"),
            {"op": "DELETE", "resource": "Student", "naturalKey": {"studentUniqueId": "S2"}},
        ]
    )

    id_, version = created["id"], created["changeVersion"]
    assert created == {
        "index": 0,
        "tag": "first",
        "op": "upsert",
        "resource": "/ed-fi/students",
        "status": 201,
        "id": id_,
        "location": f"http://testserver/data/ed-fi/students/{id_}",
        "etag": f'"{version}-l"',
        "changeVersion": version,
    }
    assert (repeated["status"], repeated["id"], repeated["changeVersion"]) == (200, id_, version)
    assert (changed["status"], changed["op"], changed["id"]) == (204, "update", id_)
    assert changed["changeVersion"] > version
    assert deleted == {"index": 3, "op": "delete", "resource": "/ed-fi/students", "status": 204, "id": id_}


def test_the_summary_counts(schooled):
    *_, last = parts(schooled.send([student(2), student(3), student(4, birthDate="x")], mode="independent"))

    assert last == {
        "summary": {
            "operations": 3,
            "succeeded": 2,
            "refused": 1,
            "notDone": 0,
            "byStatus": {"201": 2, "400": 1},
        }
    }


def test_only_refused_results_are_returned_on_request(schooled):
    response = schooled.send([student(2), student(3, birthDate="x")], mode="independent", return_="refused")

    assert [part.get("index") for part in parts(response)] == [1, None]


@pytest.mark.parametrize("operations", [[], b" [ ] "])
def test_an_empty_batch_has_no_results(batch, operations):
    assert batch.results(operations) == []


@pytest.mark.parametrize(
    "media_type", ["application/x-ndjson", "application/ndjson", "application/jsonl; charset=utf-8"]
)
def test_lines_are_answered_with_lines(batch, media_type):
    text = b'\xef\xbb\xbf{"resource": "Student", "document": {}}\r\n\n  \n{"resource": "Student"}'

    response = batch.send(text, content_type=media_type, mode="independent")

    assert response["Content-Type"] == "application/x-ndjson"
    first, second, summary = parts(response)
    assert (first["index"], first["status"], second["index"], second["status"]) == (0, 400, 1, 400)
    assert summary["summary"]["operations"] == 2


def test_accept_chooses_the_form_if_it_names_exactly_one(batch):
    assert batch.send([], HTTP_ACCEPT="application/x-ndjson")["Content-Type"] == "application/x-ndjson"
    assert batch.lines([], HTTP_ACCEPT="application/json")["Content-Type"].startswith("application/json")
    both = "application/json, application/x-ndjson"
    assert batch.lines([], HTTP_ACCEPT=both)["Content-Type"] == "application/x-ndjson"


@pytest.mark.parametrize("media_type", ["", "text/json", "text/plain", "application/vnd.ed-fi.student.x.writable+json"])
def test_other_media_types_are_refused(batch, media_type):
    assert batch.send([student(1)], content_type=media_type).status_code == 415


def test_a_compressed_body_is_read(batch):
    assert [result["status"] for result in parts(batch.gzipped([student(1), student(2)]))[:-1]] == [201, 201]


@pytest.mark.parametrize(("coding", "status"), [("br", 415), ("gzip", 400)])
def test_other_codings_and_broken_ones_are_refused(batch, coding, status):
    assert batch.send([student(1)], HTTP_CONTENT_ENCODING=coding).status_code == status


@pytest.mark.parametrize("query", ["mode=some", "order=any", "return=none", "mode=some&order=any"])
def test_unusable_parameters_are_refused_together(batch, query):
    response = batch.send([], path=f"/batch?{query}")

    assert response.status_code == 400
    assert len(response.json()["errors"]) == query.count("=")


def test_an_unknown_parameter_is_refused(batch):
    assert batch.send([], path="/batch?modus=atomic").status_code == 400


@pytest.mark.parametrize("text", [b"", b"{}", b"[", b'["', b"[{}", b"[1,]", b"[1] 2", b"null", b'[{"a": 1, ]', b"\xff"])
def test_a_body_that_is_no_array_is_refused(batch, text):
    for mode in ("atomic", "independent"):
        response = batch.send(text, mode=mode)

        assert (response.status_code, response.json()["type"]) == (400, BAD)
        assert list(response.json()["validationErrors"]) == ["$."]


def test_elements_that_cannot_be_read_refuse_an_atomic_batch(batch):
    response = batch.send(b'[{"resource": "Student", "document": {"a": 1, "a": 2}}, 5, {"op": "upsert"}]')

    assert response.status_code == 400
    assert list(response.json()["validationErrors"]) == ["$[0].document.a", "$[1]"]


def test_lines_that_cannot_be_read_are_refused_by_themselves(batch):
    text = b'{"resource": "Student", "document": {"a": 1, "a": 2}}\n5\n{"op": \n{"tag": "a", "tag": "b"}\n\xff\n'

    *results, _ = parts(batch.send(text, content_type="application/x-ndjson", mode="independent"))

    assert [list(paths(result)) for result in results] == [["$.a"], ["$."], ["$."], ["$.tag"], ["$."]]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({}, ["$.resource", "$.document"]),
        ({"op": "patch", "resource": "Student", "document": {}}, ["$.op"]),
        ({"op": 5, "resource": [], "document": "x", "tag": True}, ["$.op", "$.resource", "$.tag", "$.document"]),
        ({"resource": "Student", "document": {}, "more": 1, "id": "x"}, ["$.more", "$.id"]),
        ({"resource": "Student", "document": {}, "payload": {}}, ["$.payload"]),
        ({"op": "update", "resource": "Student", "document": {}}, ["$.id"]),
        ({"op": "delete", "resource": "Student"}, ["$.id"]),
        ({"op": "delete", "resource": "Student", "id": "x", "naturalKey": {}}, ["$.naturalKey"]),
        ({"op": "delete", "resource": "Student", "id": "x", "document": {}}, ["$.document"]),
        ({"op": "delete", "resource": "Student", "documentId": "x"}, ["$.documentId", "$.id"]),
        ({"resource": "Student", "document": {}, "tag": "x" * 101}, ["$.tag"]),
        ({"op": "delete", "resource": "Student", "naturalKey": {}}, ["$.naturalKey.studentUniqueId"]),
        (
            {"op": "delete", "resource": "Student", "naturalKey": {"studentUniqueId": []}},
            ["$.naturalKey.studentUniqueId"],
        ),
        (
            {"op": "delete", "resource": "Student", "naturalKey": {"studentUniqueId": "S1", "firstName": "Mae"}},
            ["$.naturalKey.firstName"],
        ),
        (
            {"op": "delete", "resource": "ClassPeriod", "naturalKey": {"classPeriodName": "A"}},
            ["$.naturalKey.schoolReference"],
        ),
        ({"op": "delete", "resource": "SexDescriptor", "naturalKey": {"descriptor": "x"}}, ["$.naturalKey.descriptor"]),
        ({"resource": "Student", "document": {}}, ["$.studentUniqueId", "$.birthDate", "$.firstName", "$.lastSurname"]),
    ],
)
def test_everything_that_is_wrong_with_an_operation_is_named(batch, operation, expected):
    (result,) = batch.independent(operation)

    assert (result["status"], result["problem"]["type"]) == (400, BAD)
    assert sorted(paths(result)) == sorted(expected)


@pytest.mark.parametrize("resource", ["/ed-fi/nothing", "/students", "Nothing", "", "/", "/ed-fi/students/x"])
def test_an_unknown_resource_is_not_found(batch, resource):
    (result,) = batch.independent({"resource": resource, "document": {}})

    assert result["status"] == 404
    assert "resource" not in result


@pytest.mark.parametrize("resource", ["/ed-fi/students", "ed-fi/students", "/Ed-Fi/STUDENTS/", "Student", "student"])
def test_a_resource_is_named_by_path_or_name(batch, resource):
    (result,) = batch.independent(student(1) | {"resource": resource})

    assert (result["status"], result["resource"]) == (201, "/ed-fi/students")


def test_a_name_that_two_projects_have_is_ambiguous(surface):
    of_edfi = next(each for each in surface.resources if each.name.resource == "Student")
    of_another = replace(of_edfi, name=of_edfi.name._replace(project="Sample"), project_endpoint="sample")
    reader = OperationReader(replace(surface, resources=(of_edfi, of_another)), NaturalKeys())

    refusal = reader.read(0, b'{"resource": "student", "document": {}}').refusal

    (violation,) = refusal.violations
    assert violation.path == "$.resource"
    assert "/ed-fi/students, /sample/students" in violation.message


@pytest.mark.parametrize(
    "key",
    [
        {"classPeriodName": "A", "schoolId": 1},
        {"classPeriodName": "A", "schoolId": "1"},
        {"classPeriodName": "A", "schoolReference": {"schoolId": 1}},
    ],
)
def test_a_natural_key_is_flat_or_in_the_form_of_the_body(schooled, key):
    schooled.results([period("A")])

    assert schooled.statuses({"op": "delete", "resource": "ClassPeriod", "naturalKey": key}) == [204]
    assert count("ClassPeriod") == 0


def test_a_flat_member_of_two_references_is_ambiguous(batch):
    flat = {"beginDate": "2025-08-01", "schoolId": 1}
    nested = {"beginDate": "2025-08-01", "schoolReference": {"schoolId": 1}, "feederSchoolReference": {"schoolId": 2}}
    delete = {"op": "delete", "resource": "FeederSchoolAssociation"}

    refused, absent = batch.independent(delete | {"naturalKey": flat}, delete | {"naturalKey": nested})

    assert (refused["status"], absent["status"]) == (400, 404)
    assert list(paths(refused)) == ["$.naturalKey.schoolId"]
    (message,) = paths(refused)["$.naturalKey.schoolId"]
    assert "feederSchoolReference.schoolId, schoolReference.schoolId" in message


@pytest.mark.parametrize(
    "key",
    [
        {"namespace": f"{ED_FI}/GradeLevelDescriptor", "codeValue": "Ninth grade"},
        {"descriptor": f"{ED_FI}/GradeLevelDescriptor#NINTH GRADE"},
    ],
)
def test_a_descriptor_is_named_by_its_uri_or_the_parts_of_it(batch, key):
    batch.results(DESCRIPTORS)

    assert batch.statuses({"op": "delete", "resource": "GradeLevelDescriptor", "naturalKey": key}) == [204]


def test_an_id_has_hyphens_or_not(schooled):
    (found,) = schooled.results([student(1)])
    delete = {"op": "delete", "resource": "Student", "id": found["id"].replace("-", "").upper()}

    assert schooled.statuses(delete, delete, delete | {"id": "no id"}) == [204, 404, 400]


def test_a_create_finds_an_existing_document(schooled):
    assert schooled.statuses({"op": "create"} | student(1), {"op": "create"} | student(2)) == [412, 201]


def test_conditions_are_those_of_the_headers(schooled):
    (found,) = schooled.results([student(1)])
    update = {"op": "update", "id": found["id"]} | student(1, firstName="Ida")

    statuses = schooled.statuses(
        update | {"ifMatch": '"1-l"'},
        update | {"ifMatch": found["etag"]},
        update | {"ifMatch": found["etag"]},
        student(1) | {"ifNoneMatch": "*"},
        {"op": "delete", "resource": "Student", "id": found["id"], "ifMatch": found["etag"]},
        {"op": "delete", "resource": "Student", "id": found["id"], "ifMatch": "*"},
    )

    assert statuses == [412, 204, 412, 412, 412, 204]


def test_a_document_may_have_the_id_of_its_update(schooled):
    (found,) = schooled.results([student(1)])
    update = {"op": "update", "id": found["id"]}
    by_key = {"op": "update", "naturalKey": {"studentUniqueId": "S1"}}

    assert schooled.statuses(update | student(1, id=found["id"]), update | student(1, id="other")) == [204, 400]
    assert schooled.statuses(by_key | student(1, id=found["id"]), by_key | student(1, id="other")) == [204, 400]


def test_updates_and_deletes_of_what_does_not_exist_are_not_found(schooled):
    key = {"naturalKey": {"studentUniqueId": "S9"}}

    update, delete = schooled.independent(
        {"op": "update"} | key | student(9), {"op": "delete", "resource": "Student"} | key
    )

    assert (update["status"], update["problem"]["detail"]) == (404, "Resource to update was not found")
    assert (delete["status"], delete["problem"]["detail"]) == (404, "The specified data could not be found.")


def test_an_update_by_natural_key_may_change_the_key(schooled):
    schooled.results([period("A")])
    change = {"op": "update", "naturalKey": {"classPeriodName": "A", "schoolId": 1}} | period("B")

    assert schooled.statuses(change) == [204]
    assert Document.objects.get(resource_type__name="ClassPeriod").body["classPeriodName"] == "B"


def test_an_atomic_batch_with_a_failure_writes_nothing_and_names_all_failures(schooled):
    before = Document.objects.count()

    response = schooled.send([student(2), student(3, birthDate="x"), enrolment(3), student(4), enrolment(4)])

    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:bad-request:batch-failed"
    assert problem["title"] == "Batch Failed"
    assert problem["detail"] == "The batch was not written. See 'failedOperations' for details."
    assert problem["validationErrors"] == {}
    assert problem["failedCount"] == 2
    assert [(each["index"], each["status"], each.get("causedBy")) for each in problem["failedOperations"]] == [
        (1, 400, None),
        (2, 409, 1),
    ]
    assert len(problem["errors"]) == 2
    assert Document.objects.count() == before


def test_a_hundred_failures_are_named_causes_first(schooled):
    causes = [student(number, birthDate="x") for number in range(100, 160)]
    consequences = [enrolment(number) for number in range(100, 160)]

    problem = schooled.send([*consequences[:1], *causes, *consequences]).json()

    assert problem["failedCount"] == 121
    indexes = [each["index"] for each in problem["failedOperations"]]
    assert indexes == [*range(61), *range(61, 100)]
    assert [each.get("causedBy") for each in problem["failedOperations"][61:]] == [*range(1, 40)]
    assert len(problem["errors"]) == 100
    assert {each["problem"]["correlationId"] for each in problem["failedOperations"]} == {problem["correlationId"]}


def test_a_consequence_names_its_cause(schooled):
    key = {"naturalKey": {"studentUniqueId": "S5"}}

    results = schooled.independent(
        student(5, firstName=5 * "x" * 100), {"op": "update"} | key | student(5), enrolment(5), enrolment(6)
    )

    assert [(result["status"], result.get("causedBy")) for result in results] == [
        (400, None),
        (404, 0),
        (409, 0),
        (409, None),
    ]


def test_of_many_failures_the_first_ones_are_named_as_causes(schooled, monkeypatch):
    """The memory of a long batch does not grow with what fails."""
    monkeypatch.setattr(work, "MOST_CAUSES", 2)

    results = schooled.independent(
        *(student(number, firstName=5 * "x" * 100) for number in (5, 6, 7)), *map(enrolment, (5, 6, 7))
    )

    assert [result.get("causedBy") for result in results] == [None, None, None, 0, 1, None]


def test_a_profile_that_does_not_exist_is_refused_as_in_a_single_request(batch):
    media_type = "application/vnd.ed-fi.student.no-such.writable+json"

    results = batch.independent(student(1) | {"profile": media_type}, student(1) | {"profile": "text/plain"})

    assert [result["status"] for result in results] == [415, 415]
    assert results[0]["problem"]["type"] == "urn:ed-fi:api:profile:invalid-profile-usage"


def test_discovery_and_specifications_name_the_batch(db, client):
    assert client.get("/").json()["urls"]["batchApi"] == "http://testserver/batch"
    listed = client.get("/metadata/specifications").json()
    assert {
        "name": "Batch",
        "endpointUri": "http://testserver/metadata/specifications/batch-spec.json",
        "prefix": "Other",
    } in listed
    paths = client.get("/metadata/specifications/batch-spec.json").json()["paths"]
    assert list(paths) == ["/batch"]
    assert sorted(paths["/batch"]["post"]["responses"]) == [
        "200",
        "400",
        "401",
        "403",
        "404",
        "413",
        "415",
        "429",
        "500",
        "503",
    ]
