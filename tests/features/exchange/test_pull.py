"""What has changed at another API is written here, once, whatever happens meanwhile."""

import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
from django.db import connections

from edfi_api.core.models import Document
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient, ClaimSet
from edfi_api.features.exchange.management.commands import pull_changes
from edfi_api.features.exchange.models import Connection, ExchangePosition, WaitingDocument
from edfi_api.features.exchange.pull.outcomes import TooManyRefused
from edfi_api.features.exchange.pull.pulling import ClientUnusable, Pulled, Puller, PullOptions, TooManyDeletes
from edfi_api.features.exchange.pull.reading import RemoteSource
from edfi_api.features.exchange.remote_api import RemoteApi, RemoteFailed, Trust
from edfi_api.features.loading.reports.report import refusal_limit
from edfi_api.features.refusals.models import Refusal
from edfi_api.model.surface.resource import Surface
from tests.core.writes import district_rules
from tests.features.exchange import corrections
from tests.features.exchange.district import GRADE, District
from tests.features.exchange.reference_source import KEY, SECRET, ReferenceSource
from tests.support.databases import DOCUMENTS

Connect = Callable[..., Connection]
Pull = Callable[..., Pulled]


def outcomes(pulled: Pulled) -> dict[str, int]:
    found: Counter[str] = Counter()
    for (_, outcome), count in (pulled.outcomes.counts if pulled.outcomes else {}).items():
        found[outcome] += count
    return dict(found)


def bodies(resource: str) -> list[dict]:
    rows = Document.objects.using(DOCUMENTS).filter(resource_type__name=resource)
    return [row.body for row in rows.order_by("natural_key")]


def test_everything_comes_in_the_order_of_references_without_ids_and_links(
    district: District, connect: Connect, pull: Pull, client_here: ApiClient
) -> None:
    district.everything()

    pulled = pull(connect())

    assert outcomes(pulled) == {"inserted": 9}
    [first, *_] = bodies("StudentSchoolAssociation")
    assert first == {
        "schoolReference": {"schoolId": 1},
        "studentReference": {"studentUniqueId": "S0"},
        "entryDate": "2025-08-20",
        "entryGradeLevelDescriptor": GRADE,
    }
    assert {row.created_by for row in Document.objects.using(DOCUMENTS).all()} == {client_here.pk}
    assert ExchangePosition.objects.using(DOCUMENTS).get().version == 9


def test_only_what_has_changed_comes_the_next_time(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.everything()
    connection = connect()
    pull(connection)
    enrollment = next(each for each in source.documents.values() if "studentReference" in each.body)
    source.remove(enrollment, studentUniqueId="S0", schoolId=1, entryDate="2025-08-20")
    district.student(7)

    pulled = pull(connection)

    assert outcomes(pulled) == {"inserted": 1, "deleted": 1}
    assert outcomes(pull(connection)) == {}
    assert len(bodies("StudentSchoolAssociation")) == 2


def test_a_descriptor_that_comes_in_another_case_keeps_its_spelling(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.everything()
    connection = connect()
    pull(connection)
    [grade] = bodies("GradeLevelDescriptor")
    loud = {"namespace": grade["namespace"].upper(), "codeValue": "NINTH GRADE", "shortDescription": "9"}
    source.put("ed-fi/gradeLevelDescriptors", loud)
    other = {"namespace": grade["namespace"], "codeValue": "Tenth grade", "shortDescription": "10"}
    source.put("ed-fi/gradeLevelDescriptors", other)

    pulled = pull(connection)

    assert outcomes(pulled) == {"inserted": 1, "updated": 1}
    assert bodies("GradeLevelDescriptor") == [grade | {"shortDescription": "9"}, other]


def test_a_key_change_keeps_the_document_and_a_delete_comes_behind_its_referrers(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.descriptors()
    school = district.school()
    period = source.put("ed-fi/classPeriods", district.period("Second"))
    other = source.put("ed-fi/classPeriods", district.period("Third"))
    connection = connect()
    pull(connection)
    id_ = Document.objects.using(DOCUMENTS).get(body__classPeriodName="Second").document_uuid
    old, new = ({"classPeriodName": name, "schoolId": 1} for name in ("Second", "2nd"))
    source.rename(period, district.period("2nd"), old, new)

    pulled = pull(connection)

    assert outcomes(pulled) == {"key changed": 1, "unchanged": 1}
    assert Document.objects.using(DOCUMENTS).get(body__classPeriodName="2nd").document_uuid == id_
    source.remove(school, schoolId=1)
    source.remove(other, classPeriodName="Third", schoolId=1)
    source.remove(source.documents[period.id], classPeriodName="2nd", schoolId=1)
    assert outcomes(pull(connection)) == {"deleted": 3}
    assert bodies("School") == bodies("ClassPeriod") == []


def test_keys_that_documents_exchange_are_exchanged(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.descriptors()
    district.school()
    one, two = (
        source.put("ed-fi/classPeriods", district.period(name) | {"officialAttendancePeriod": name == "A"})
        for name in ("A", "B")
    )
    connection = connect()
    pull(connection)
    a, b = {"classPeriodName": "A", "schoolId": 1}, {"classPeriodName": "B", "schoolId": 1}
    source.rename(one, district.period("B") | {"officialAttendancePeriod": True}, a, b)
    source.rename(two, district.period("A") | {"officialAttendancePeriod": False}, b, a)

    pull(connection)

    found = {each["classPeriodName"]: each["officialAttendancePeriod"] for each in bodies("ClassPeriod")}
    assert found == {"A": False, "B": True}


@pytest.mark.parametrize("has_tokens", [True, False])
def test_pages_that_shift_lose_nothing(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, has_tokens: bool
) -> None:
    source.has_tokens = has_tokens
    stored = [district.student(number) for number in range(20)]

    def leave_the_window(path: str, offset: int) -> None:
        if path == "ed-fi/students" and stored and len(source.requests) % 2:
            left = stored.pop(0)
            source.put(left.path, left.body | {"firstName": "Changed"}, left.id)

    source.before_page = leave_the_window
    connection = connect()
    pull(connection, page_size=3)
    source.before_page = lambda path, offset: None
    pull(connection, page_size=3)

    assert {each["studentUniqueId"] for each in bodies("Student")} == {f"S{number}" for number in range(20)}


def test_faults_of_the_source_are_survived(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    faults = {3: 500, 5: (429, {"detail": "slowly"}, {"Retry-After": "0"}), 7: "garbage", 9: "drop", 0: "slow"}
    source.fault = lambda number, path: faults.get(number % 10) if path.startswith("/data/") else None
    source.token_seconds = 0.5
    district.everything(12)

    pulled = pull(connect(), page_size=4)

    assert outcomes(pulled)["inserted"] == 27
    assert sum(each.startswith("POST") for each in source.requests) > 1


def test_an_interrupted_window_is_repeated_and_changes_nothing_of_what_it_has_done(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.everything()
    connection = connect()
    source.fault = lambda number, path: 400 if path.endswith("studentSchoolAssociations") else None
    with pytest.raises(RemoteFailed, match="a fault"):
        pull(connection)
    assert ExchangePosition.objects.using(DOCUMENTS).get().version is None
    source.fault = lambda number, path: None

    pulled = pull(connection)

    assert outcomes(pulled)["inserted"] + outcomes(pulled).get("unchanged", 0) == 9
    assert len(bodies("StudentSchoolAssociation")) == 3


def test_a_refused_document_is_read_again_until_it_is_accepted(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.descriptors()
    district.school()
    district.enrollment(0)
    connection = connect()

    assert outcomes(pull(connection)) == {"inserted": 3, "refused": 1}
    [waiting] = WaitingDocument.objects.using(DOCUMENTS).all()
    assert (waiting.resource, waiting.attempts) == ("ed-fi/studentSchoolAssociations", 1)
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("UPDATE exchange_waiting SET due_at = now()")
    assert outcomes(pull(connection)) == {"refused": 1}
    assert WaitingDocument.objects.using(DOCUMENTS).get().attempts == 2
    district.student(0)
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("UPDATE exchange_waiting SET due_at = now()")
    assert outcomes(pull(connection)) == {"inserted": 2}
    assert not WaitingDocument.objects.using(DOCUMENTS).exists()


def test_rules_of_writes_are_those_of_the_door(
    district: District, connect: Connect, pull: Pull, client_here: ApiClient, settings
) -> None:
    settings.EDFI_API = settings.EDFI_API | {"WRITE_RULES": ("tests.core.writes.district_rules",)}
    district_rules.asked.clear()
    district.everything()
    district.student(3, firstName="mae")
    district.school(2)
    district.enrollment(0, school=2)

    pulled = pull(connect())

    assert outcomes(pulled) == {"inserted": 10, "refused": 2}
    assert len(bodies("Student")) == len(bodies("StudentSchoolAssociation")) == 3
    assert {write.client for write in district_rules.asked} == {client_here.client_id}


def test_everything_refused_ends_and_moves_the_position(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    for number in range(30):
        district.enrollment(number)
    connection = connect()

    assert outcomes(pull(connection)) == {"refused": 30}
    assert ExchangePosition.objects.using(DOCUMENTS).get().version == 30
    assert WaitingDocument.objects.using(DOCUMENTS).count() == 30
    assert outcomes(pull(connection)) == {}


def test_max_refused_stops_and_leaves_the_position(district: District, connect: Connect, pull: Pull) -> None:

    for number in range(3):
        district.enrollment(number)

    with pytest.raises(TooManyRefused):
        pull(connect(), max_refused=refusal_limit("2"))

    assert ExchangePosition.objects.using(DOCUMENTS).get().version is None


def test_documents_of_others_are_neither_changed_nor_deleted_unless_they_are_adopted(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, client_here: ApiClient
) -> None:
    student = district.student(0)
    connection = connect()
    pull(connection)
    Document.objects.using(DOCUMENTS).update(created_by=None)
    source.put(student.path, student.body | {"firstName": "Max"}, student.id)

    assert outcomes(pull(connection)) == {"refused": 1}
    assert bodies("Student")[0]["firstName"] == "Mae"
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("UPDATE exchange_waiting SET due_at = now()")
    assert outcomes(pull(connection, adopts=True)) == {"updated": 1}
    assert Document.objects.using(DOCUMENTS).get().created_by == client_here.pk
    source.remove(source.documents[student.id], studentUniqueId="S0")
    assert outcomes(pull(connection)) == {"deleted": 1}


def test_without_change_queries_what_is_absent_is_deleted_up_to_a_limit(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    source.has_windows = source.has_tokens = False
    students = [district.student(number) for number in range(10)]
    connection = connect()
    assert outcomes(pull(connection, page_size=4)) == {"inserted": 10}
    for student in students[:3]:
        source.remove(student)

    with pytest.raises(TooManyDeletes, match="3 of 10"):
        pull(connection, page_size=4)
    assert len(bodies("Student")) == 10
    assert outcomes(pull(connection, deletes_allowed=30.0)) == {"unchanged": 7, "deleted": 3}


def test_a_dry_run_writes_nothing(district: District, connect: Connect, pull: Pull) -> None:
    district.everything()

    pulled = pull(connect(), is_dry_run=True)

    assert outcomes(pulled) == {"inserted": 9}
    assert not Document.objects.using(DOCUMENTS).exists()
    assert not ExchangePosition.objects.using(DOCUMENTS).exists()


def test_a_selection_and_a_mapping_decide_what_comes(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.descriptors()
    district.student(0)
    theirs = {"namespace": "uri://state.org/GradeLevelDescriptor", "codeValue": "9", "shortDescription": "9"}
    source.put("ed-fi/gradeLevelDescriptors", theirs)
    district.school(gradeLevels=[{"gradeLevelDescriptor": "uri://state.org/GradeLevelDescriptor#9"}])
    mapping = f"uri://state.org/GradeLevelDescriptor#9,{GRADE}"

    pulled = pull(connect(selection="exclude", resources=["ed-fi/students"], descriptor_mapping=mapping))

    assert outcomes(pulled) == {"inserted": 3}
    assert bodies("School")[0]["gradeLevels"] == [{"gradeLevelDescriptor": GRADE}]
    assert bodies("Student") == []


def test_the_client_may_write_only_what_its_claim_set_allows(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, client_here: ApiClient
) -> None:
    client_here.application.claim_set = ClaimSet.objects.get(name="AssessmentVendor")
    client_here.application.save()
    district.descriptors()
    district.student(0)

    connection = connect()

    assert outcomes(pull(connection, is_dry_run=True)) == outcomes(pull(connection)) == {"refused": 3}
    assert not Document.objects.using(DOCUMENTS).exists()


def test_a_client_that_cannot_be_used_stops_everything(
    district: District, connect: Connect, pull: Pull, client_here: ApiClient
) -> None:
    client_here.is_active = False
    client_here.save()

    with pytest.raises(ClientUnusable, match="inactive"):
        pull(connect())


def test_a_source_that_was_restored_is_noticed(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.student(0)
    connection = connect()
    pull(connection)
    source.version = 0

    with pytest.raises(RemoteFailed, match="is behind"):
        pull(connection)


def test_a_profile_hides_members_and_a_snapshot_is_requested(
    district: District, source: ReferenceSource, connect: Connect, surface: Surface
) -> None:
    source.hidden_by_profile = "middleName"
    district.student(0, middleName="Ann")
    connection = connect(read_profile="Short")

    api = RemoteApi(connection, Trust())
    with RemoteSource(connection, api, uses_snapshot=True) as opened:
        Puller(connection, opened, surface, DOCUMENTS, PullOptions(processes=0)).pull()

    assert "middleName" not in bodies("Student")[0]
    snapshots = [
        headers.get("Use-Snapshot")
        for path, headers in zip(source.requests, source.headers, strict=False)
        if path.startswith(("/data/", "/changes/"))
    ]
    assert set(snapshots) == {"true"}


@pytest.mark.usefixtures("transactional_db")
def test_what_is_refused_is_in_the_ledger_of_the_client_until_it_is_accepted(
    source: ReferenceSource, surface: Surface, settings
) -> None:
    recorder = "edfi_api.features.refusals.recorder.Recorder"
    settings.EDFI_API = settings.EDFI_API | {"STORE_KEYS": ("key of tests",), "WRITE_RECORDER": recorder}
    client = ApiClient.objects.get(client_id=create_client("connection", "EdFiSandbox").key)
    connection = Connection(name="d", direction="pull", address=source.address, key=KEY, api_client=client)
    connection.set_secret(SECRET)
    connection.save()
    district = District(source)
    district.descriptors()
    district.school()
    district.enrollment(0)

    def pull_now() -> None:
        with connections[DOCUMENTS].cursor() as cursor:
            cursor.execute("UPDATE exchange_waiting SET due_at = now()")
        with RemoteSource(connection, RemoteApi(connection, Trust())) as opened:
            Puller(connection, opened, surface, DOCUMENTS, PullOptions(processes=0)).pull()

    pull_now()
    [entry] = Refusal.objects.all()
    assert (entry.client, entry.resource, entry.status) == (client.pk, "/ed-fi/studentSchoolAssociations", 409)
    assert (entry.direction, entry.state, entry.count) == ("received", "open", 1)
    pull_now()
    assert Refusal.objects.get().count == 2
    district.student(0)
    pull_now()
    assert Refusal.objects.get().state == "resolved"


def test_following_waits_for_the_source_and_goes_on(
    district: District, source: ReferenceSource, connect: Connect, surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull_changes, "_FIRST_PAUSE", 0.05)
    district.everything()
    connection, stop, states = connect(), threading.Event(), []
    source.fault = lambda number, path: 400 if number < 20 and path.startswith("/data/") else None

    def note(pulled: Pulled) -> None:
        states.append(outcomes(pulled))
        if len(states) == 2:
            stop.set()
        district.student(7)

    with RemoteSource(connection, RemoteApi(connection, Trust(), stop=stop)) as opened:
        puller = Puller(connection, opened, surface, DOCUMENTS, PullOptions(processes=0))
        pull_changes.follow(connection, puller, stop, 0.01, note)

    assert states == [{"inserted": 9}, {"inserted": 1}]
    assert (connection.state.phase, connection.state.accepted) == ("idle", 10)


def test_a_delete_that_waits_ends_when_the_document_comes_again(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, client_here: ApiClient
) -> None:
    student = district.student(0)
    district.descriptors()
    district.school()
    enrollment = district.enrollment(0)
    connection = connect()
    pull(connection)
    Document.objects.using(DOCUMENTS).filter(resource_type__name="StudentSchoolAssociation").update(created_by=None)
    source.remove(enrollment, studentUniqueId="S0", schoolId=1, entryDate="2025-08-20")
    source.remove(student, studentUniqueId="S0")

    assert outcomes(pull(connection)) == {"deleted": 0, "refused": 2}
    district.student(0)
    assert outcomes(pull(connection)) == {"unchanged": 1}
    waiting = WaitingDocument.objects.using(DOCUMENTS)
    assert [each.resource for each in waiting.all()] == ["ed-fi/studentSchoolAssociations"]
    Document.objects.using(DOCUMENTS).update(created_by=client_here.pk)
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("UPDATE exchange_waiting SET due_at = now()")
    assert outcomes(pull(connection))["deleted"] == 1
    assert len(bodies("Student")) == 1
    assert bodies("StudentSchoolAssociation") == [] and not waiting.exists()


def test_a_window_that_was_interrupted_ends_where_it_would_have_ended(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    """Two key changes of one document are listed as one in a longer window, whose first part is done."""
    district.descriptors()
    district.school()
    period = source.put("ed-fi/classPeriods", district.period("A"))
    connection = connect()
    pull(connection)
    a, b, c = ({"classPeriodName": name, "schoolId": 1} for name in "ABC")
    source.rename(period, district.period("B"), a, b)
    source.fault = lambda number, path: 400 if path.endswith("/studentSchoolAssociations") else None
    with pytest.raises(RemoteFailed):
        pull(connection)
    assert [each["classPeriodName"] for each in bodies("ClassPeriod")] == ["B"]
    source.rename(period, district.period("C"), b, c)
    source.fault = lambda number, path: None

    pull(connection)
    pull(connection)

    assert [each["classPeriodName"] for each in bodies("ClassPeriod")] == ["C"]


def test_an_overlap_repeats_nothing_that_was_renamed_since(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    district.descriptors()
    district.school()
    period = source.put("ed-fi/classPeriods", district.period("A"))
    connection = connect()
    pull(connection)
    a, b, c = ({"classPeriodName": name, "schoolId": 1} for name in "ABC")
    source.rename(period, district.period("B"), a, b)
    pull(connection)
    source.rename(period, district.period("C"), b, c)

    pull(connection, overlap=100)

    assert [each["classPeriodName"] for each in bodies("ClassPeriod")] == ["C"]


def test_functions_of_the_host_mend_what_is_refused(district: District, connect: Connect, pull: Pull, settings) -> None:
    settings.EDFI_API = settings.EDFI_API | {"CHANGE_HANDLERS": ("tests.features.exchange.corrections",)}
    corrections.asked.clear()
    district.descriptors()
    district.school()
    district.student(1, birthDate="never")
    district.enrollment(0)

    pulled = pull(connect())

    assert outcomes(pulled) == {"inserted": 5, "refused": 1}
    assert [each["firstName"] for each in bodies("Student")] == ["Unknown"]
    assert bodies("StudentSchoolAssociation")[0]["studentReference"] == {"studentUniqueId": "S0"}
    [asked] = corrections.asked
    assert (asked.resource, asked.problem["status"]) == ("ed-fi/studentSchoolAssociations", 409)
    waiting = WaitingDocument.objects.using(DOCUMENTS)
    assert [each.resource for each in waiting.all()] == ["ed-fi/students"]


def test_a_position_that_is_set_is_gone_on_from(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull
) -> None:
    for number in range(4):
        district.student(number)
    connection = connect()

    pull(connection, position=2)

    assert [each["studentUniqueId"] for each in bodies("Student")] == ["S2", "S3"]
    assert outcomes(pull(connection)) == {}
    assert outcomes(pull(connection, position=0)) == {"inserted": 2, "unchanged": 2}
    assert ExchangePosition.objects.using(DOCUMENTS).get().version == 4


def test_requests_are_made_at_the_pace_of_the_connection(
    district: District, source: ReferenceSource, connect: Connect
) -> None:
    api = RemoteApi(connect(requests_per_second=20), Trust())
    api.discovery  # noqa: B018  Before the time is taken.
    began = time.monotonic()

    for _ in range(6):
        api.get(api.data_address("ed-fi/students"))

    assert time.monotonic() - began > 5 * 0.05
