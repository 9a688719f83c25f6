"""What rules find stands in the ledger of refusals, and in the admin."""

import pytest
from django.contrib.auth.models import User

from edfi_api.features.refusals.models import SubmissionHour
from tests.core.writes.conftest import RULES, TENTH
from tests.support.admin_users import client_of
from tests.support.factories import STUDENT
from tests.web.batch.operations import enrolment, student

LATER = STUDENT | {"birthDate": "2011-01-01"}


@pytest.fixture
def ledger(refused, rules, settings):
    """The ledger of a server with rules."""
    rules(RULES)
    return refused


def test_a_refusal_names_its_rules(ledger, api, district):
    api.post("/studentSchoolAssociations", enrolment(1)["document"])
    api.post("/studentSchoolAssociations", enrolment(1, 2, entryGradeLevelDescriptor=TENTH)["document"])

    [entry] = ledger()

    assert (entry.status, entry.problem) == (400, "bad-request:data-validation-failed")
    assert entry.rules == ["grade-level", "one-enrollment"]
    assert set(entry.paths) == {"$.entryGradeLevelDescriptor", "$.studentReference"}


def test_a_warning_is_an_entry_until_the_document_is_written_without_one(ledger, api):
    api.post("/students", STUDENT)
    assert ledger() == []

    api.post("/students", LATER)
    [entry] = ledger()
    assert (entry.status, entry.problem, entry.rules) == (200, "accepted-with-warnings", ["birth-date"])
    assert (entry.state, entry.natural_key) == ("open", "NK#studentUniqueId=604822")
    assert entry.paths == {"$.birthDate": ["The birth date has changed: “really”?"]}

    api.post("/students", STUDENT)
    [entry] = ledger()
    assert (entry.state, entry.count) == ("open", 2)

    api.post("/students", STUDENT | {"lastSurname": "Lund"})
    [entry] = ledger()
    assert (entry.state, entry.resolution) == ("resolved", "succeeded")
    hour = SubmissionHour.objects.get()
    assert (hour.accepted, hour.refused) == (4, 0)


def test_an_accepted_write_with_warnings_resolves_refusals(ledger, api):
    api.post("/students", STUDENT)
    api.post("/students", STUDENT | {"firstName": "mae"})
    api.post("/students", LATER)

    assert [(entry.problem, entry.state) for entry in ledger()] == [
        ("bad-request:data-validation-failed", "resolved"),
        ("accepted-with-warnings", "open"),
    ]


@pytest.mark.parametrize("mode", ["independent", "atomic"])
def test_findings_in_a_batch_are_recorded(ledger, batch, mode):
    batch.send([student(1)])

    batch.send([student(1, birthDate="2011-01-01"), student(2)], mode=mode)

    [entry] = ledger()
    assert (entry.status, entry.rules, entry.is_batch) == (200, ["birth-date"], True)


def test_an_atomic_batch_that_fails_has_no_warnings(ledger, batch):
    batch.send([student(1)])

    batch.send([student(1, birthDate="2011-01-01"), student(2, firstName="mae")], mode="atomic")

    [entry] = ledger()
    assert (entry.status, entry.rules) == (400, ["first-name"])


def test_a_rule_that_could_not_check_is_recorded_if_the_write_is_accepted(refused, api, rules):
    rules(RULES, WRITE_RULE_FAILURE="open")

    api.post("/students", STUDENT | {"lastSurname": "Error"})

    [entry] = refused()
    assert (entry.problem, entry.rules) == ("accepted-with-warnings", ["by-name"])


def test_clients_see_warnings_and_rules_among_their_submissions(ledger, api):
    api.post("/students", STUDENT)
    api.post("/students", LATER)
    ledger()

    [entry] = api.get("/submissions/v1/refusals").json()

    assert (entry["status"], entry["type"], entry["rules"]) == (
        200,
        "urn:ed-fi:api:accepted-with-warnings",
        ["birth-date"],
    )


def test_the_admin_lists_rules_with_what_they_have_found(ledger, api, rules):
    api.post("/students", STUDENT)
    api.post("/students", LATER)
    api.post("/students", STUDENT | {"firstName": "mae"})
    ledger()
    admin = client_of(User.objects.create_superuser("root"))

    page = admin.get("/admin/refusals/refusal/rules/").content.decode()

    rows = [row.split("<td") for row in page.split("<tr>")]
    found = {row[1].partition(">")[2].partition("<")[0]: row[4:7] for row in rows if len(row) > 5}
    assert "?rule=first-name&amp;status__gte=400" in found["first-name"][0] and ">1</a>" in found["first-name"][0]
    assert "?rule=birth-date&amp;status__lt=400" in found["birth-date"][1] and ">1</a>" in found["birth-date"][1]
    assert ">0<" in found["grade-level"][0]
    for address, text in (
        ("?rule=first-name&status__gte=400", "1 refusal"),
        ("?rule=birth-date&status__lt=400", "accepted, with a warning"),
        ("?rule=all", "0 refusals"),
    ):
        assert text in admin.get(f"/admin/refusals/refusal/{address}").content.decode()
