"""Free order: what can be written in some order is written, whatever the order in which it was sent."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from edfi_api.core.models import Document
from edfi_api.web.batch import free_order
from tests.core.security.strategies.scenario import EOP, Scenario
from tests.web.batch.batch_client import BatchClient, parts
from tests.web.batch.both_ways import together
from tests.web.batch.generated import agency, batches, start
from tests.web.batch.operations import descriptor, enrolment, period, school, student


def free(batch, *operations, **how):
    return batch.results(list(operations), order="free", **how)


def statuses(results):
    assert [result["index"] for result in results] == list(range(len(results)))
    return [result["status"] for result in results]


def keys(resource):
    return set(Document.objects.filter(resource_type__name=resource).values_list("natural_key", flat=True))


def loadable():
    """A set in which agencies refer to each other, two of them in a circle."""
    chain = [agency(31), *(agency(number, number - 1) for number in range(32, 38))]
    agencies = [*chain, agency(21, 22), agency(22, 21)]
    below = {"localEducationAgencyReference": {"localEducationAgencyId": 37}}
    return [*start(), *agencies, school(3, **below), student(3), enrolment(3, 3), period("C", 3)]


@settings(max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_permutation_of_a_loadable_set_ends_with_the_same_documents(data, batch, validators):
    operations = loadable()

    found = [
        together(batch, order, validators, order="free", mode=mode)
        for mode in ("atomic", "independent")
        for order in (operations, data.draw(st.permutations(operations)), operations[::-1])
    ]

    assert all(status == 201 for answers, _ in found for status, _ in answers)
    assert all(tables == found[0][1] for _, tables in found)
    assert len(found[0][1][0]) == len(operations)


def test_a_reversed_chain_is_written_in_two_rounds(batch, log):
    batch.results(start())

    results = free(batch, *(agency(number, number - 1) for number in range(60, 10, -1)), agency(10))

    assert statuses(results) == [201] * 51
    facts = [each for each in log.requests if each.get("event") == "batch"][-1]
    assert facts["alone"] <= 2 * 51


def test_a_circle_is_written_however_many_others_wait(batch, monkeypatch):
    monkeypatch.setattr(free_order, "_ENOUGH_CIRCLES", 2)
    monkeypatch.setattr(free_order, "_LARGEST_CIRCLE", 3)
    batch.results(start())
    without_students = [enrolment(number) for number in range(50, 56)]
    too_large = [agency(number, 41 + (number - 40) % 4) for number in range(41, 45)]
    in_circles = [agency(21, 22), agency(22, 21), agency(23, 21), agency(31, 31), agency(32, 33), agency(33, 32)]

    results = free(batch, *without_students, *too_large, *in_circles, mode="independent")

    assert statuses(results) == [409] * 10 + [201] * 6


def test_what_cannot_be_written_is_refused_with_its_cause(batch):
    batch.results(start())

    *results, summary = parts(
        batch.send(
            [enrolment(5), student(5, birthDate="x"), enrolment(6), student(6)], mode="independent", order="free"
        )
    )

    assert statuses(results) == [409, 400, 201, 201]
    assert results[0]["causedBy"] == 1
    assert summary["summary"]["byStatus"] == {"201": 2, "400": 1, "409": 1}


def test_an_atomic_batch_is_written_as_a_whole_or_not_at_all(batch):
    batch.results(start())

    response = batch.send([enrolment(5), student(5), enrolment(6)], order="free")

    assert response.status_code == 400
    assert [each["index"] for each in response.json()["failedOperations"]] == [2]
    assert "NK#studentUniqueId=S5" not in keys("Student")


def test_deletes_come_behind_what_is_written_and_referrers_go_first(batch):
    batch.results(start())

    results = free(
        batch,
        {"op": "delete", "resource": "/ed-fi/schools", "naturalKey": {"schoolId": 2}},
        period("X", 2),
        {"op": "delete", "resource": "/ed-fi/classPeriods", "naturalKey": {"classPeriodName": "X", "schoolId": 2}},
    )

    assert statuses(results) == [204, 201, 204]


def test_operations_on_one_document_keep_their_order(batch):
    batch.results(start())
    delete = {"op": "delete", "resource": "Student", "naturalKey": {"studentUniqueId": "S7"}}

    results = free(batch, student(7), delete, student(7, firstName="Ida"), delete, student(7, firstName="Eva"))

    assert statuses(results) == [201, 204, 201, 204, 201]
    assert Document.objects.get(natural_key="NK#studentUniqueId=S7").body["firstName"] == "Eva"


def test_a_later_version_of_what_has_to_wait_counts(batch):
    batch.results(start())

    results = free(batch, agency(31, 32), agency(31, None, webSite="https://a.example"), agency(33, 31), agency(32))

    assert {result["status"] for result in results} <= {200, 201}
    body = Document.objects.get(natural_key="NK#localEducationAgencyId=31").body
    assert body["webSite"] == "https://a.example"
    assert "parentLocalEducationAgencyReference" not in body


@pytest.fixture
def restricted(api, batch, documents):
    """A client of the school 2 under relationships with organizations and people."""
    batch.results(start())
    client = Scenario(api, documents).client_by(EOP, organizations=(2,))
    return BatchClient(client.token)


def test_what_nothing_opens_is_refused(restricted):
    results = free(restricted, student(2, firstName="Ida"), enrolment(2, 2), mode="independent")

    # The association itself is about a student whom nothing opens yet.
    assert statuses(results) == [403, 403]


def test_an_association_that_is_judged_by_its_organization_opens_its_student(api, batch, documents):
    batch.results(start())
    vendor = BatchClient(Scenario(api, documents).client("SISVendor", 2, prefixes=("uri://ed-fi.org",)).token)
    change = {"op": "update", "naturalKey": {"studentUniqueId": "S2"}} | student(2, firstName="Ida")

    results = free(vendor, change, enrolment(2, 2), mode="independent")

    assert statuses(results) == [204, 201]


def test_the_cause_of_a_denial_is_the_association_that_would_have_opened_the_path(api, batch, documents):
    batch.results(start())
    vendor = BatchClient(Scenario(api, documents).client("SISVendor", 2, prefixes=("uri://ed-fi.org",)).token)
    change = {"op": "update", "naturalKey": {"studentUniqueId": "S2"}} | student(2, firstName="Ida")

    opened, denied = vendor.independent(enrolment(2, 2, exitWithdrawDate="x"), change)

    assert (opened["status"], denied["status"], denied["causedBy"]) == (400, 404, 0)


@settings(max_examples=8, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_batch_is_answered(data, batch, validators):
    batch.results(start())
    operations = data.draw(batches([]))

    answers, _ = together(batch, operations, validators, order="free")

    assert len(answers) == len(operations)
    assert {status for status, _ in answers} <= {200, 201, 204, 400, 404, 409, 412}


def test_descriptors_come_first(batch):
    operations = [school(1), descriptor("GradeLevelDescriptor", "Ninth grade")]
    operations.append(descriptor("EducationOrganizationCategoryDescriptor", "School"))

    assert statuses(free(batch, *operations)) == [201, 201, 201]
