"""Rules in Python on single requests: what they are given, what they find, and what becomes of it."""

import pytest

from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.models import Document
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.writes.rules.look_ups import LookedUpResources, LookUps
from edfi_api.core.writes.rules.ruled_write import BudgetExceeded
from tests.conftest import ApiTestClient, item_path, new_token
from tests.core.writes import district_rules
from tests.core.writes.conftest import NINTH, RULES, TENTH
from tests.support.databases import DOCUMENTS
from tests.support.factories import STUDENT
from tests.web.batch.batch_client import BatchClient
from tests.web.batch.operations import enrolment, student
from tests.whole.architecture.request_path import path_of

FAILED = "urn:ed-fi:api:bad-request:data-validation-failed"
ENROLLMENT, SECOND = enrolment(1)["document"], enrolment(1, 2)["document"]


def errors(response):
    assert response.status_code == 400, response.content
    problem = response.json()
    assert (problem["type"], problem["title"]) == (FAILED, "Data Validation Failed")
    return problem["validationErrors"]


def enrollments():
    return Document.objects.filter(resource_type__name="StudentSchoolAssociation")


def test_a_rule_refuses_what_the_standard_allows(api, district, rules):
    rules(RULES)

    response = api.post("/studentSchoolAssociations", ENROLLMENT | {"entryGradeLevelDescriptor": TENTH})

    assert errors(response) == {"$.entryGradeLevelDescriptor": ["School 1 lacks this grade level."]}
    assert not enrollments().exists()
    assert api.post("/studentSchoolAssociations", ENROLLMENT).status_code == 201


def test_a_rule_of_the_document_refuses_it_as_the_schema_does(api, rules):
    rules(RULES)

    assert errors(api.post("/students", STUDENT | {"firstName": "mae"})) == {
        "$.firstName": ["The first name has to begin with a capital letter."]
    }
    assert errors(api.post("/students", STUDENT | {"middleName": "No rule"})) == {
        "$": ["A document of ed-fi/students says so."]
    }
    assert api.post("/students", STUDENT | {"firstName": 1}).status_code == 400


def test_a_warning_is_a_header_and_refuses_nothing(api, rules):
    rules(RULES)
    assert "Rule-Warnings" not in api.post("/students", STUDENT)

    response = api.post("/students", STUDENT | {"birthDate": "2011-01-01"})

    assert response.status_code == 200
    text = 'text=%"The birth date has changed: %e2%80%9creally%e2%80%9d?"'
    assert response["Rule-Warnings"] == f'"$.birthDate";rule="birth-date";{text}'
    assert Document.objects.get(resource_type__name="Student").body["birthDate"] == "2011-01-01"


def test_a_rule_gets_what_is_stored_the_client_and_its_organizations(api, rules):
    rules(RULES)
    path = item_path(api.post("/students", STUDENT | {"middleName": None, "birthDate": "2/3/2010"}))
    first = district_rules.asked[-1]
    uuid = path.rpartition("/")[2]

    assert api.put(f"/students/{uuid}", STUDENT | {"id": uuid, "lastSurname": "Lund"}).status_code == 204
    second = district_rules.asked[-1]

    assert (first.resource, first.document, first.stored) == ("ed-fi/students", STUDENT, None)
    assert (second.document, second.stored) == (STUDENT | {"lastSurname": "Lund"}, STUDENT)
    assert second.client and second.organizations == ()


def test_rules_run_behind_the_authorization(api_without_check, district, rules, client_of_district):
    """A finding could say something about a document that the client may not read."""
    rules(RULES)
    body = SECOND | {"entryGradeLevelDescriptor": TENTH}

    assert errors(api_without_check.post("/studentSchoolAssociations", body))
    response = client_of_district.post("/studentSchoolAssociations", body)

    assert response.status_code == 403, response.content


def test_an_update_is_checked_as_an_upsert_is(api, district, rules):
    rules(RULES)
    uuid = item_path(api.post("/studentSchoolAssociations", ENROLLMENT)).rpartition("/")[2]
    changed = ENROLLMENT | {"id": uuid, "entryGradeLevelDescriptor": TENTH}

    assert errors(api.put(f"/studentSchoolAssociations/{uuid}", changed))

    assert enrollments().get().body["entryGradeLevelDescriptor"] == NINTH
    assert api.delete(f"/studentSchoolAssociations/{uuid}").status_code == 204


def test_conditions_and_refusals_of_storage_are_as_without_rules(api, district, rules):
    rules(RULES)
    created = api.post("/studentSchoolAssociations", ENROLLMENT)
    uuid = item_path(created).rpartition("/")[2]
    changed = ENROLLMENT | {"id": uuid, "primarySchool": True}
    path = f"/studentSchoolAssociations/{uuid}"

    assert api.put(path, changed, HTTP_IF_MATCH='"1-l"').status_code == 412
    assert api.put(path, changed, HTTP_IF_MATCH=created["ETag"]).status_code == 204
    assert api.post("/studentSchoolAssociations", ENROLLMENT, HTTP_IF_NONE_MATCH="*").status_code == 412
    assert api.put(path[:-4] + "0000", changed | {"id": f"{uuid[:-4]}0000"}).status_code == 404
    unknown = enrolment(9)["document"]
    assert api.post("/studentSchoolAssociations", unknown).json()["type"].endswith("unresolved-reference")
    again = api.post("/studentSchoolAssociations", ENROLLMENT | {"primarySchool": True})
    assert again.status_code == 200 and again["ETag"] == api.get(path)["ETag"]


def test_what_a_key_change_leads_to_is_checked(api, district, rules):
    """The rule sees the document with its new key, and the stored one with the old."""
    rules(RULES)
    uuid = item_path(api.post("/studentSchoolAssociations", ENROLLMENT)).rpartition("/")[2]
    moved = SECOND | {"id": uuid, "entryGradeLevelDescriptor": TENTH}

    assert errors(api.put(f"/studentSchoolAssociations/{uuid}", moved)) == {
        "$.entryGradeLevelDescriptor": ["School 2 lacks this grade level."],
        "$.studentReference": ["The student is enrolled at another school."],
    }


def test_no_rule_runs_for_a_client_that_the_claim_set_refuses(api_without_check, rules):
    rules(RULES)
    token = new_token("reader", "EdFiAPIPublisherReader")
    reader = ApiTestClient(token)
    body = STUDENT | {"firstName": "mae"}
    uuid = item_path(api_without_check.post("/students", STUDENT)).rpartition("/")[2]

    assert reader.post("/students", body).status_code == 403
    assert reader.put(f"/students/{uuid}", body | {"id": uuid}).status_code == 403
    operations = [student(number, firstName="mae") for number in (1, 2, 3)]
    assert BatchClient(token).statuses(*operations) == [403, 403, 403]


@pytest.mark.parametrize(
    "name",
    ["Error", "Exit", "Nothing", "NoText", "NoSeverity", "LookUps", "Computing", "Waiting", "Filter"],
)
def test_a_rule_that_fails_or_exceeds_its_budget_refuses_the_write(api, rules, log, name):
    rules(RULES, WRITE_RULE_MILLISECONDS=50)

    response = api.post("/students", STUDENT | {"lastSurname": name})

    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["type"] == "urn:ed-fi:api:service-unavailable"
    assert not Document.objects.filter(resource_type__name="Student").exists()
    [line] = log.of("edfi_api.core.writes.rules.enforcing")
    assert str(line["message"]).startswith("the rule by-name ")
    assert log.requests[-1]["rule"] == "by-name"


@pytest.mark.parametrize("name", ["Error", "LookUps", "Computing"])
def test_with_open_the_write_is_accepted_with_a_warning(api, rules, name):
    rules(RULES, WRITE_RULE_FAILURE="open", WRITE_RULE_MILLISECONDS=50)

    response = api.post("/students", STUDENT | {"lastSurname": name})

    assert response.status_code == 201
    assert response["Rule-Warnings"] == '"$";rule="by-name";text="The rule by-name could not be checked."'


def test_the_log_has_no_values_of_a_document_that_a_rule_failed_with(api, rules, log):
    rules(RULES)

    assert api.post("/students", STUDENT | {"lastSurname": "Parsing"}).status_code == 503

    [line] = log.of("edfi_api.core.writes.rules.enforcing")
    assert "by-name failed: ValueError at " in str(line["message"])
    assert " in misbehaves" in str(line["message"])
    assert STUDENT["studentUniqueId"] not in log.text


def test_half_of_a_surrogate_pair_in_a_finding_is_replaced(api, rules):
    rules(RULES)

    warned = api.post("/students", STUDENT | {"lastSurname": "Surrogate"})
    refused = api.post("/students", STUDENT | {"lastSurname": "RefusedSurrogate"})

    assert (warned.status_code, warned["Rule-Warnings"]) == (
        201,
        '%"$.last%ef%bf%bd";rule="by-name";text=%"Half of %ef%bf%bd%ef%bf%bd."',
    )
    assert errors(refused) == {"$.last\ufffd": ["Half of \ufffd\ufffd."]}


def test_a_rule_that_takes_too_long_is_not_tried_again(api, rules):
    rules(RULES, WRITE_RULE_MILLISECONDS=50)

    assert api.post("/students", STUDENT | {"firstName": "Once", "lastSurname": "Computing"}).status_code == 503

    assert district_rules.computed.count("Once") == 1


def test_ten_look_ups_are_within_the_budget(api, rules):
    rules(RULES)

    assert api.post("/students", STUDENT | {"lastSurname": "TenLookUps"}).status_code == 201


def test_a_look_up_sees_what_the_same_client_has_written_before(api, district, rules):
    rules(RULES)
    assert api.post("/studentSchoolAssociations", ENROLLMENT).status_code == 201

    assert errors(api.post("/studentSchoolAssociations", SECOND)) == {
        "$.studentReference": ["The student is enrolled at another school."]
    }


def test_a_document_that_changes_while_rules_run_is_checked_again(committing_api, rules, meanwhile):
    """What a rule is given as stored is what the write replaces."""
    rules(RULES)
    path = item_path(committing_api.post("/students", STUDENT))
    changed = {"id": path.rpartition("/")[2], **STUDENT, "lastSurname": "Lund"}
    meanwhile(lambda: committing_api.put(path, changed))

    assert committing_api.post("/students", STUDENT | {"firstName": "Ida"}).status_code == 200

    names = [each.stored and each.stored["lastSurname"] for each in district_rules.asked]
    assert names == [None, "Ortiz", "Ortiz", "Lund"]
    assert committing_api.get(path).json()["firstName"] == "Ida"


def test_a_slow_look_up_is_ended_and_the_limit_is_that_of_look_ups_alone(api, rules, surface):
    rules(RULES, WRITE_RULE_MILLISECONDS=50)
    resource = surface.resource_at("ed-fi/students")
    incoming = DocumentValidator(resource).validate_new(dict(STUDENT), lambda _: {})
    look_ups = LookUps(LookedUpResources(surface), incoming, DOCUMENTS)
    limit = Sql("SELECT current_setting('statement_timeout')")
    before = execute(limit, DOCUMENTS)

    with pytest.raises(BudgetExceeded, match="time"), look_ups.looking_up():
        execute(Sql("SELECT pg_sleep(30)::text"), DOCUMENTS)
    look_ups.restore_timeout()

    assert execute(limit, DOCUMENTS) == before != [("50ms",)]


def test_a_write_without_rules_calls_nothing_for_them(api, rules):
    assert _calls_of_rules(lambda: api.post("/students", STUDENT)) == 0

    rules(RULES)

    assert _calls_of_rules(lambda: api.post("/students", STUDENT)) > 0


def _calls_of_rules(request) -> int:
    request()
    return sum("/edfi_api/core/writes/rules/" in code.co_filename for code in path_of(request).calls)


def test_deletes_have_no_rules(api, rules):
    path = item_path(api.post("/students", student(1)["document"] | {"middleName": "No rule"}))
    rules(RULES)

    assert api.delete(path).status_code == 204
