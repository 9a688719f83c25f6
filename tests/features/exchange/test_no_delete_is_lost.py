"""Whatever a source deletes or gives another key is deleted here, however windows end and whatever waits."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, connections

from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient
from edfi_api.features.exchange.models import Connection, ExchangePosition, WaitingDocument
from edfi_api.features.exchange.pull.outcomes import TooManyRefused
from edfi_api.features.exchange.pull.pulling import Pulled, Puller, PullOptions
from edfi_api.features.exchange.pull.reading import RemoteSource
from edfi_api.features.exchange.remote_api import RemoteApi, Trust
from edfi_api.features.loading.reports.report import refusal_limit
from edfi_api.model.surface.resource import Surface
from tests.features.exchange.district import District
from tests.features.exchange.reference_source import ReferenceSource
from tests.support.databases import DOCUMENTS

Connect = Callable[..., Connection]
Pull = Callable[..., Pulled]


@pytest.fixture
def school(district: District) -> None:
    district.descriptors()
    district.school()


def key(name: str) -> dict[str, Any]:
    return {"classPeriodName": name, "schoolId": 1}


def periods() -> list[str]:
    rows = Document.objects.using(DOCUMENTS).filter(resource_type__name="ClassPeriod").order_by("natural_key")
    return [row.body["classPeriodName"] for row in rows]


def let_all_be_due() -> None:
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("UPDATE exchange_waiting SET due_at = now()")


def give_to(client: ApiClient | None, *names: str) -> None:
    rows = Document.objects.using(DOCUMENTS).filter(body__classPeriodName__in=names)
    rows.update(created_by=client.pk if client else None)


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("is_renamed", [True, False])
def test_a_document_that_an_interrupted_first_window_has_brought(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, is_renamed: bool
) -> None:
    period = source.put("ed-fi/classPeriods", district.period("A"))
    district.enrollment(0)
    connection = connect()
    with pytest.raises(TooManyRefused):
        pull(connection, max_refused=refusal_limit("0"))
    assert periods() == ["A"]
    if is_renamed:
        source.rename(period, district.period("B"), key("A"), key("B"))
    else:
        source.remove(period, **key("A"))

    pull(connection)
    pull(connection)

    assert periods() == (["B"] if is_renamed else [])


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("is_changed", [True, False])
def test_a_key_of_a_deleted_document_whose_new_owner_has_a_referrer_that_comes_later(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, is_changed: bool
) -> None:
    """The deleted document gives way, and its new owner is renamed together with what refers to it here; the referrer
    changes there while the window is read, and comes in the next one."""
    first, second = (source.put("ed-fi/classPeriods", district.period(name)) for name in "AC")
    bells = source.put("ed-fi/bellSchedules", district.bells("Bells", "C"))
    connection = connect()
    pull(connection)
    source.remove(first, **key("A"))
    source.rename(second, district.period("A"), key("C"), key("A"))

    def change_bells(path: str, offset: int) -> None:
        if path == "ed-fi/bellSchedules":
            source.before_page = lambda path, offset: None
            source.put(bells.path, district.bells("Bells", "A"), bells.id)

    source.before_page = change_bells
    pull(connection)
    assert periods() == ["A"]

    if is_changed:
        source.put(second.path, district.period("A") | {"officialAttendancePeriod": True}, second.id)
    pull(connection)
    let_all_be_due()
    pull(connection)

    assert periods() == ["A"]
    assert not WaitingDocument.objects.using(DOCUMENTS).exists()


@pytest.mark.usefixtures("school")
def test_several_old_keys_of_one_document(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, client_here: ApiClient
) -> None:
    """Each could not be changed, nor deleted, when it was left."""
    period = source.put("ed-fi/classPeriods", district.period("A"))
    connection = connect()
    pull(connection)
    for old, new in ("AB", "BC"):
        give_to(None, old)
        source.rename(period, district.period(new), key(old), key(new))
        pull(connection)
    assert periods() == ["A", "B", "C"]

    give_to(client_here, "A", "B")
    let_all_be_due()
    pull(connection)

    assert periods() == ["C"]
    assert not WaitingDocument.objects.using(DOCUMENTS).exists()


@pytest.mark.usefixtures("school")
def test_an_old_key_of_a_document_that_is_refused_under_its_new_one(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, client_here: ApiClient
) -> None:
    period = source.put("ed-fi/classPeriods", district.period("A"))
    connection = connect()
    pull(connection)
    give_to(None, "A")
    wrong = district.period("B") | {"meetingTimes": "never"}
    source.rename(period, wrong, key("A"), key("B"))
    pull(connection)
    assert WaitingDocument.objects.using(DOCUMENTS).count() == 2
    source.put(period.path, district.period("B"), period.id)
    pull(connection)
    assert periods() == ["A", "B"]

    give_to(client_here, "A")
    let_all_be_due()
    pull(connection)

    assert periods() == ["B"]


@pytest.mark.usefixtures("school")
def test_a_restored_document_is_not_deleted_by_a_delete_that_waits(
    district: District, source: ReferenceSource, connect: Connect, pull: Pull, client_here: ApiClient
) -> None:
    period = source.put("ed-fi/classPeriods", district.period("A"))
    connection = connect()
    pull(connection)
    give_to(None, "A")
    source.remove(period, **key("A"))
    pull(connection)
    assert WaitingDocument.objects.using(DOCUMENTS).count() == 1
    give_to(client_here, "A")
    source.put(period.path, period.body, period.id)
    let_all_be_due()
    pull(connection)
    let_all_be_due()
    pull(connection)

    assert periods() == ["A"]
    assert not WaitingDocument.objects.using(DOCUMENTS).exists()


@pytest.mark.usefixtures("school")
def test_a_position_that_has_moved_unnoticed(
    district: District, source: ReferenceSource, connect: Connect, surface: Surface
) -> None:
    """As when the answer to a commit is lost with the connection."""
    period = source.put("ed-fi/classPeriods", district.period("A"))
    connection = connect()
    with RemoteSource(connection, RemoteApi(connection, Trust())) as opened:
        one, other = (Puller(connection, opened, surface, DOCUMENTS, PullOptions(processes=0)) for _ in range(2))
        one.pull()
        source.rename(period, district.period("B"), key("A"), key("B"))
        other.pull()
        source.rename(period, district.period("C"), key("B"), key("C"))

        one.pull()

    assert periods() == ["C"]


@pytest.mark.usefixtures("school", "transactional_db")
def test_what_a_crash_may_have_undone_is_done_again(
    district: District, source: ReferenceSource, connect: Connect, surface: Surface
) -> None:
    """Batches do not wait for the disk: the position does not move in a session that has begun behind them."""
    period = source.put("ed-fi/classPeriods", district.period("A"))
    connection = connect()

    def pull() -> None:
        with RemoteSource(connection, RemoteApi(connection, Trust())) as opened:
            Puller(connection, opened, surface, DOCUMENTS, PullOptions(processes=0)).pull()

    pull()
    position = ExchangePosition.objects.using(DOCUMENTS).get().version
    source.remove(period, **key("A"))
    source.put("ed-fi/classPeriods", district.period("B"))
    session = connections[DOCUMENTS].connection.info

    def end_session(number: int, path: str) -> None:
        if path.endswith("studentSchoolAssociations/deletes"):
            with psycopg.connect(session.dsn, autocommit=True) as administrator:
                administrator.execute("SELECT pg_terminate_backend(%s, 5000)", [session.backend_pid])

    source.fault = end_session
    with pytest.raises((DatabaseError, InterfaceError)):
        pull()
    connections.close_all()

    assert ExchangePosition.objects.using(DOCUMENTS).get().version == position
