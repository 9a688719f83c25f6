"""A batch in given order has the answers, and leaves the tables, of single requests one after the other."""

from uuid import uuid4

import pytest
from django.conf import settings
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from edfi_api.core.models import Document
from edfi_api.web.batch import sets
from tests.core.security.strategies.scenario import Scenario
from tests.web.batch.batch_client import BatchClient, parts
from tests.web.batch.both_ways import both_ways
from tests.web.batch.generated import EXAMPLES, batches, start
from tests.web.batch.operations import ED_FI, enrolment, period, school, student

# To shrink a failing batch takes minutes.
_PHASES = (Phase.explicit, Phase.generate)
STRATEGIES = [
    ("NoFurtherAuthorizationRequired",),
    ("RelationshipsWithEdOrgsOnly",),
    ("RelationshipsWithEdOrgsAndPeople",),
    ("RelationshipsWithStudentsOnly",),
    ("RelationshipsWithEdOrgsOnlyInverted",),
    ("OwnershipBased",),
    ("NamespaceBased",),
]


@pytest.fixture
def small_sets(monkeypatch):
    """Sets are used for chunks of any length."""
    monkeypatch.setattr(sets, "_FEWEST", 1)


@pytest.fixture
def ids(batch):
    """Resource and id of the documents that are stored."""
    batch.results(start())
    documents = Document.objects.select_related("resource_type")
    return [(f"/ed-fi/{each.resource_type.endpoint}", str(each.document_uuid)) for each in documents]


@examples(max_examples=EXAMPLES, deadline=None, phases=_PHASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_batch_has_the_answers_and_leaves_the_tables_of_single_requests(data, batch, ids, small_sets, validators):
    sent = data.draw(batches(ids))

    alone, together = both_ways(batch, sent, validators)

    assert together == alone


@pytest.fixture
def clients(api, batch, ids, documents):
    """A client of each strategy, with the school 1 or the agency 9, and what the vendor of a SIS may do."""
    scenario = Scenario(api, documents)
    organizations = [(1,), (9,)]
    found = [scenario.client("SISVendor", *each, prefixes=("uri://ed-fi.org",)) for each in organizations]
    for strategies in STRATEGIES:
        found += [
            scenario.client_by(*strategies, organizations=each, prefixes=("uri://ed-fi.org",)) for each in organizations
        ]
    return [BatchClient(each.token) for each in found]


@pytest.mark.usefixtures("small_sets")
@examples(max_examples=EXAMPLES, deadline=None, phases=_PHASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_same_for_clients_that_may_not_do_everything(data, clients, ids, validators):
    client = data.draw(st.sampled_from(clients))
    sent = data.draw(batches(ids))

    # Not by the fixture of pytest-django, whose changes are only undone behind the last example.
    with override_settings(EDFI_API=settings.EDFI_API | {"UPSERT_ASKS_UPDATE": data.draw(st.booleans())}):
        alone, together = both_ways(client, sent, validators)

    assert together == alone


@examples(max_examples=EXAMPLES // 4, deadline=None, phases=_PHASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_an_atomic_batch_writes_what_single_requests_write_or_nothing(data, batch, ids, small_sets, validators):
    sent = data.draw(batches(ids))

    (answers, tables), (answer, left) = both_ways(batch, sent, validators, mode="atomic")

    if all(status < 300 for status, _ in answers):
        assert (answer, left) == (answers, tables)
    else:
        (_, before), _ = both_ways(batch, [], validators)
        assert left == before
        _, problem = answer
        refused = [position for position, (status, _) in enumerate(answers) if status >= 300]
        assert sorted(each["index"] for each in problem["failedOperations"]) == refused


@pytest.mark.long
def test_documents_of_every_resource(surface, documents, batch, small_sets, validators):
    resources = surface.resources
    bodies = [
        (each.url_path, body)
        for each in resources
        for body in (documents.minimal_body(each), documents.full_body(each))
    ]
    writes = [{"resource": path, "document": body} for path, body in bodies]
    creates = [{"op": "create", "resource": path, "document": body} for path, body in bodies]

    alone, together = both_ways(batch, [*writes, *creates], validators)

    assert together == alone
    assert len(together[1][0]) > len(resources) * 0.9


def test_chunks_are_carried_out_in_sets(batch, log):
    batch.results(start())
    key = [{"studentUniqueId": f"S{number}"} for number in range(10, 20)]
    writes = [student(number) for number in range(10, 20)]
    enrolments = [enrolment(number) for number in range(10, 20)]
    updates = [{"op": "update", "naturalKey": each} | write for each, write in zip(key, writes, strict=True)]
    deletes = [{"op": "delete", "resource": "Student", "naturalKey": each} for each in key]

    results = batch.results([*writes, *updates, *deletes, *writes, *enrolments, school(1)])

    assert [result["status"] for result in results] == [201] * 10 + [204] * 20 + [201] * 20 + [200]
    facts = [each for each in log.requests if each.get("event") == "batch"][-1]
    assert (facts["operations"], facts["sets"], facts["alone"], facts["refused"]) == (51, 5, 1, 0)


@pytest.mark.parametrize("mode", ["independent", "atomic"])
def test_refusals_are_found_for_a_whole_set(batch, log, mode):
    batch.results(start())
    missing = [enrolment(number) for number in range(50, 55)]
    unknown = [{"entryGradeLevelDescriptor": f"{ED_FI}/GradeLevelDescriptor#{number}"} for number in range(5)]
    of_unknown_grades = [enrolment(1, 2, **each, entryDate=f"2025-08-0{n}") for n, each in enumerate(unknown, 1)]
    invalid = [student(number, birthDate="x") for number in range(60, 65)]
    existing = [{"op": "create"} | student(number) for number in (1, 1, 2, 2, 1)]
    absent = [{"op": "update", "naturalKey": {"studentUniqueId": f"S{n}"}} | student(n) for n in range(70, 75)]
    gone = [{"op": "delete", "resource": "Student", "naturalKey": {"studentUniqueId": f"S{n}"}} for n in range(70, 75)]
    of_no_document = [{"op": "delete", "resource": "Student", "id": str(uuid4())} for _ in range(5)]
    sent = [*missing, *of_unknown_grades, *invalid, *existing, *absent, *gone, *of_no_document]

    response = batch.send(sent, mode=mode)

    failed = parts(response)[:-1] if mode == "independent" else response.json()["failedOperations"]
    statuses = [409] * 5 + [400] * 10 + [412] * 5 + [404] * 15
    assert [each["status"] for each in sorted(failed, key=lambda each: each["index"])] == statuses
    facts = [each for each in log.requests if each.get("event") == "batch"][-1]
    assert (facts["operations"], facts["alone"], facts["refused"]) == (35, 0, 35)


def test_what_depends_on_an_earlier_operation_is_not_in_its_set(batch, log):
    batch.results(start())

    results = batch.results([period(name) for name in "ABCDEFAABCDEF"])

    assert [result["status"] for result in results] == [200, 200, 201, 201, 201, 201] + [200] * 7
    facts = [each for each in log.requests if each.get("event") == "batch"][-1]
    assert (facts["sets"], facts["alone"]) == (2, 1)
