"""Pushing to an API that does not answer, or not as it should: nothing is lost, and nothing is repeated without end."""

import importlib
import json
import time

import pytest
from django.core.management import call_command

from edfi_api.core.models import Document
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.changes.change_stream.log import Consumer
from edfi_api.features.exchange import remote_api
from edfi_api.features.exchange.models import ConnectionState, Phase
from edfi_api.features.exchange.pull.pulling import exclusively
from edfi_api.features.exchange.push import fix_up_hooks, following
from edfi_api.features.exchange.push.fix_up_hooks import FirstDocument, RefusedDocument
from edfi_api.features.exchange.push.models import SentDocument
from edfi_api.features.exchange.remote_api import RemoteFailed
from edfi_api.features.exchange.stored_connections import report
from edfi_api.features.refusals.models import Refusal
from tests.features.exchange.random_changes import path_of, period, school
from tests.features.exchange.reference_target import DROP, WRONG_JSON, Answer
from tests.support.databases import DOCUMENTS
from tests.support.factories import STUDENT


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch):
    monkeypatch.setattr(remote_api, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(remote_api, "_LONGEST_PAUSE", 0.001)


def store_students(api, number: int, **changes) -> list[str]:
    answers = [api.post("/students", STUDENT | {"studentUniqueId": str(each)} | changes) for each in range(number)]
    assert all(each.status_code in (200, 201) for each in answers)
    return [each["Location"].partition("/ed-fi")[2] for each in answers]


@pytest.mark.parametrize("fault", [Answer(429), Answer(500), Answer(503), DROP], ids=str)
def test_what_fails_now_and_then_is_repeated(api, target, pushed, fault):
    store_students(api, 40)
    target.fault = lambda number, *_: fault if number % 10 == 0 else None

    figures = pushed()

    assert (figures.written, figures.refused) == (40, 0)
    assert len(target.bodies("/ed-fi/students")) == 40


def test_a_token_that_ends_early_is_replaced(api, target, pushed):
    store_students(api, 10)
    target.token_uses = 3

    assert pushed(connections=1).written == 10
    assert len(target.tokens) == 4


@pytest.mark.parametrize("fault", [Answer(500), Answer(401), Answer(302), DROP], ids=str)
def test_the_position_stays_while_the_other_side_does_not_answer(api, target, pushed, fault):
    store_students(api, 20)
    target.fault = lambda number, *_: fault if number > 7 else None

    with pytest.raises(RemoteFailed):
        pushed(connections=2)

    assert ChangeConsumer.objects.get().change_version < Document.objects.earliest("change_version").change_version
    assert ConnectionState.objects.get().phase == "failed"
    assert not Refusal.objects.exists()
    target.fault = lambda *_: None
    pushed()
    assert len(target.bodies("/ed-fi/students")) == 20
    assert SentDocument.objects.filter(remote_id=None).count() == 0


def test_an_answer_that_is_not_json_is_none(api, target, pushed):
    [path] = store_students(api, 1)
    pushed()
    SentDocument.objects.all().delete()
    assert api.delete(path).status_code == 204
    target.fault = lambda *_: WRONG_JSON

    with pytest.raises(RemoteFailed):
        pushed()


def test_as_many_requests_run_at_a_time_as_wanted(api, target, pushed):
    store_students(api, 24)
    target.fault = lambda *_: time.sleep(0.03)

    pushed(connections=6)

    assert target.most_at_once == 6


def test_a_side_that_refuses_everything_is_asked_once_for_each_document(api, target, pushed):
    store_students(api, 50)
    target.refuses = lambda *_: Answer(403, {"title": "Access Denied"})

    assert pushed().refused == 50
    assert pushed().refused == 0
    assert len(target.writes()) == 50
    assert Refusal.objects.filter(direction="sent", resolved_at=None).count() == 50
    assert pushed(retries=True, are_denials_warnings=True).denied == 50
    assert set(Refusal.objects.values_list("count", flat=True)) == {2}


def test_a_deleted_document_that_was_refused_is_forgotten(api, target, pushed):
    [path] = store_students(api, 1)
    target.refuses = lambda *_: Answer(400, {"title": "No"})
    pushed()
    assert api.delete(path).status_code == 204
    target.refuses = lambda *_: None

    pushed()

    assert Refusal.objects.get().resolution == "deleted"
    assert not SentDocument.objects.exists()


def test_fix_up_hooks_can_be_imported_by_their_names_of_version_1_0():
    old = importlib.import_module("edfi_api.exchange.push.remedies")

    assert old.remedy is fix_up_hooks.fix_up_hook
    assert old.FirstDocument is FirstDocument


def test_a_fix_up_hook_sends_first_what_is_missing(api, target, pushed, settings, monkeypatch):
    def refuse_first_name(state, method, endpoint, body):
        is_known = any(each.document.body.get("firstName") == "Known" for each in state.stored.values())
        return None if is_known or body["firstName"] == "Known" else Answer(400, {"title": "Unknown"})

    @fix_up_hooks.fix_up_hook("ed-fi/students")
    def help_students(refused: RefusedDocument) -> list[FirstDocument]:
        assert refused.problem["title"] == "Unknown"
        return [FirstDocument(refused.resource, STUDENT | {"studentUniqueId": "first", "firstName": "Known"})]

    help_students.__module__ = __name__
    monkeypatch.setitem(globals(), "help_students", help_students)
    settings.EDFI_API = settings.EDFI_API | {"CHANGE_HANDLERS": (__name__,)}
    store_students(api, 1)
    target.refuses = refuse_first_name

    figures = pushed()

    assert (figures.written, figures.refused) == (1, 0)
    assert [each["firstName"] for each in target.bodies("/ed-fi/students")] == ["Mae", "Known"]


def test_everything_is_sent_again_as_it_is_now(committing_api, target, pushed):
    paths = store_students(committing_api, 6)
    pushed()
    forgotten = next(key for key, each in target.stored.items() if each.document.body["studentUniqueId"] == "1")
    del target.stored[forgotten]
    ChangeConsumer.objects.all().delete()
    assert committing_api.delete(paths[2]).status_code == 204

    pushed(is_full=True)

    assert [each["studentUniqueId"] for each in target.bodies("/ed-fi/students")] == ["0", "1", "3", "4", "5"]
    assert set(SentDocument.objects.filter(remote_id__in=[each.id for each in target.stored.values()])) == set(
        SentDocument.objects.all()
    )
    assert pushed().written == 0


def test_what_is_denied_before_all_has_been_sent_is_sent_again(committing_api, target, pushed, monkeypatch):
    """As documents about a student are, before the enrollment, which comes in a later part."""
    monkeypatch.setattr(following, "_MOST_DOCUMENTS", 1)
    descriptor = {"namespace": "uri://ed-fi.org/GradeLevelDescriptor", "codeValue": "9", "shortDescription": "9"}
    path_of(committing_api.post("/gradeLevelDescriptors", descriptor))
    path_of(committing_api.post("/students", STUDENT))
    target.refuses = lambda state, method, endpoint, body: (
        Answer(403, {"title": "Denied"}) if endpoint == "gradeLevelDescriptors" and not state.stored else None
    )

    figures = pushed(is_full=True)

    assert (figures.written, figures.refused) == (2, 0)
    assert [endpoint for _, endpoint in target.writes()] == [
        "gradeLevelDescriptors",
        "students",
        "gradeLevelDescriptors",
    ]
    assert not Refusal.objects.exists()


def test_what_refers_to_a_document_that_was_denied_awaits_it(committing_api, target, pushed, monkeypatch):
    """The document that was denied, and is sent again behind all others, is not there yet."""
    monkeypatch.setattr(following, "_MOST_DOCUMENTS", 1)
    for name, code in (("educationOrganizationCategory", "School"), ("gradeLevel", "Ninth grade")):
        namespace = f"uri://ed-fi.org/{name[0].upper()}{name[1:]}Descriptor"
        descriptor = {"namespace": namespace, "codeValue": code, "shortDescription": code}
        path_of(committing_api.post(f"/{name}Descriptors", descriptor))
    for endpoint, body in (("schools", school(7)), ("classPeriods", period("A", 7)), ("bellSchedules", bells("A", 7))):
        path_of(committing_api.post(f"/{endpoint}", body))
    attempted: list[str] = []

    def refuses(state, method, endpoint, body) -> Answer | None:
        attempted.append(endpoint)
        is_denied = endpoint == "classPeriods" and "bellSchedules" not in attempted
        return Answer(403, {"title": "Denied"}) if is_denied else None

    target.refuses = refuses

    figures = pushed(is_full=True)

    assert attempted[-4:] == ["classPeriods", "bellSchedules", "classPeriods", "bellSchedules"]
    assert figures.refused == 0
    assert target.bodies("/ed-fi/bellSchedules") == [bells("A", 7)]
    state = ConnectionState.objects.get()
    assert (state.phase, state.accepted, state.refused) == ("idle", len(target.stored), 0)
    assert [each.resolution for each in Refusal.objects.all()] == ["succeeded"]


def bells(name: str, school_id: int) -> dict:
    reference = {"classPeriodReference": {"schoolId": school_id, "classPeriodName": name}}
    return {"bellScheduleName": name, "schoolReference": {"schoolId": school_id}, "classPeriods": [reference]}


def test_a_connection_is_running_only_while_a_process_works_for_it(connection, pushed, target, capsys):
    report(connection, Phase.RUNNING)

    assert states(capsys) == ["idle"]
    with Consumer(f"push {connection.pk}"):
        assert states(capsys) == ["running"]
    report(connection, Phase.WAITING)
    connection.direction = "pull"
    with exclusively(connection, DOCUMENTS):
        assert states(capsys) == ["waiting"]
    assert states(capsys) == ["idle"]


def states(capsys) -> list[str]:
    call_command("list_connections", "--format", "json")
    return [each["state"] for each in json.loads(capsys.readouterr().out)]
