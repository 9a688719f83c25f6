"""What operators see of batches: metrics, a line in the log, denials in the audit log; and the switch."""

import re

import pytest

from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.features.runs import counting
from edfi_api.web.batch import record, views
from edfi_api.web.batch.singles import Singles
from edfi_api.web.batch.views import batch_routes
from edfi_api.web.metadata.discovery import discovery_document, specifications
from edfi_api.web.viewsets.router import ServedSurface
from tests.conftest import http
from tests.core.security.strategies.scenario import Scenario
from tests.web.batch.batch_client import BatchClient
from tests.web.batch.generated import start
from tests.web.batch.operations import period, student


def metric(name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", http().get("/metrics").content.decode(), re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_operations_and_batches_are_counted(batch):
    written = 'meadowlark_batch_operations_total{op="upsert",route="/ed-fi/students",status="201"}'
    refused = 'meadowlark_batch_operations_total{op="create",route="/ed-fi/students",status="400"}'
    names = [written, refused, "meadowlark_batch_size_sum", "meadowlark_batch_alone_total"]
    names += ['meadowlark_batch_seconds_count{mode="independent"}']
    before = [metric(name) for name in names]

    batch.independent(student(1), student(2), {"op": "create"} | student(3, birthDate="x"), period("A"))

    assert [metric(name) - value for name, value in zip(names, before, strict=True)] == [2, 1, 4, 1, 1]
    assert 'route="batch"' in http().get("/metrics").content.decode()


def test_a_batch_is_one_line_in_the_log_without_keys(batch, log):
    batch.send([student(number) for number in range(10, 16)] + [student(99, birthDate="x")], mode="independent")

    (facts,) = [each for each in log.requests if each.get("event") == "batch"]
    expected = {"mode": "independent", "order": "given", "operations": 7, "sets": 1, "alone": 0, "refused": 1}
    assert facts.items() >= expected.items()
    assert facts["seconds"] > 0
    assert "S10" not in log.text
    assert "S99" not in log.text


def test_of_refusals_no_body_is_kept_and_of_invented_resources_no_more_than_are_counted(batch, monkeypatch):
    monkeypatch.setattr(record, "_MOST_CAUSES", 2)
    counted = []
    monkeypatch.setattr(counting.run_counter, "count_batch", counted.append)
    nowhere = {"classPeriodName": "A", "schoolReference": {"schoolId": 7}}
    operations = [{"resource": "ClassPeriod", "document": nowhere}]
    operations += [{"resource": f"Unknown{number}", "document": {}} for number in range(9)]

    assert batch.send(operations, mode="independent").status_code == 200

    [figures] = counted
    numbers = [number for number, _ in figures.refusals.values()]
    kept = [refused for _, refused in figures.refusals.values()]
    assert (sum(numbers), len(kept)) == (10, 5)
    assert [refused.resource for refused in kept][-1] == "unknown"
    assert {refused.sent for refused in kept} == {None}
    assert counting._refusal(kept[0]).cause == "School NK#schoolId=7 is missing"


def test_denials_are_audited_up_to_a_number(api, batch, documents, log):
    batch.results(start())
    vendor = BatchClient(Scenario(api, documents).client("SISVendor", 2).token)

    statuses = vendor.statuses(*(period(f"Lunch {number}", 1) for number in range(25)))

    assert statuses == [403] * 25
    denied = [each for each in log.audit if each["event"] == "denied"]
    assert [each.get("index") for each in denied] == [*range(20), None]
    assert {each["path"] for each in denied} == {"/batch"}
    assert len({each["batch"] for each in denied}) == 1
    assert denied[-1]["reason"] == "5 more operations of the batch"
    assert "Lunch" not in str(denied)


def test_denials_of_attempts_that_are_repeated_are_audited_once(api, batch, documents, log, monkeypatch):
    batch.results(start())
    vendor = BatchClient(Scenario(api, documents).client("SISVendor", 2).token)
    attempts = []

    def meets_others_twice(singles, operation, leniency):
        attempts.append(operation.position)
        if operation.position == 1 and len(attempts) < 5:
            raise TooMuchContention
        return Singles.write(singles, operation, leniency)

    monkeypatch.setattr(_Interrupted, "write", meets_others_twice)
    monkeypatch.setattr(views, "Singles", _Interrupted)

    response = vendor.send([period("P1", 1), student(1), period("P2", 1)])

    assert attempts == [0, 1, 0, 1, 0, 1, 2]
    assert [each["index"] for each in response.json()["failedOperations"]] == [0, 2]
    assert [each["index"] for each in log.audit if each["event"] == "denied"] == [0, 2]


class _Interrupted(Singles):
    """Others are in the way of it."""


@pytest.fixture
def switched_off(settings):
    settings.EDFI_API = settings.EDFI_API | {"BATCH": False}


@pytest.mark.usefixtures("switched_off")
def test_batches_that_are_switched_off_have_no_route_and_are_not_advertised(surface):
    assert batch_routes(ServedSurface(surface)) == []
    assert "batchApi" not in discovery_document(surface, "http://x")["urls"]
    assert "Batch" not in [each["name"] for each in specifications(surface, "http://x")]


def test_strict_handling_applies_to_operations(batch):
    operations = [student(number, colour="red") for number in range(5)]

    lenient = batch.independent(*operations)
    strict = batch.independent(*operations, HTTP_PREFER="handling=strict")

    assert [result["status"] for result in lenient] == [201] * 5
    assert [result["tolerated"] for result in lenient] == [[{"path": "$.colour", "reason": "unknown-member"}]] * 5
    assert [result["status"] for result in strict] == [400] * 5
    assert list(strict[0]["problem"]["validationErrors"]) == ["$.colour"]
    assert not any("tolerated" in result for result in strict)


def test_what_is_tolerated_is_in_results_of_single_and_refused_operations_too(batch):
    alone, refused, plain = batch.independent(student(1, colour="red"), period("A", colour="red"), student(2))

    assert (alone["status"], refused["status"], plain["status"]) == (201, 409, 201)
    assert alone["tolerated"] == refused["tolerated"] == [{"path": "$.colour", "reason": "unknown-member"}]
    assert "tolerated" not in plain
