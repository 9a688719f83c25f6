"""The page of a cause: what it says, its state, and who may see and set it."""

import csv
import io
import re
from datetime import timedelta
from threading import Barrier, Thread

import orjson
import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection, transaction
from django.utils import timezone

from edfi_api.core.security.models import Vendor
from edfi_api.features.refusals.ledger import Ledger
from edfi_api.features.refusals.models import CauseFollowUp, Refusal
from edfi_api.web.admin_kit import follow_up
from tests.features.refusals.many_refusals import insert_many_refusals
from tests.support.admin_users import client_of
from tests.support.class_periods import PERIOD
from tests.support.factories import STUDENT
from tests.support.plans import most_rows, nodes
from tests.web.batch.batch_client import BatchClient

LIST = "/admin/refusals/refusal/"
OPEN = {"state": "open", "until": "", "note": "", "number": "0"}


@pytest.fixture
def two(api, refused):
    """Two class periods without their school: one cause."""
    for name in ("First", "Second"):
        api.post("/classPeriods", PERIOD | {"classPeriodName": name})
    return refused()


@pytest.fixture
def operator(db):
    """May see refusals and set states, but sees no keys."""
    user = User.objects.create(username="operator", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_refusal", "add_causefollowup"]))
    return client_of(user)


def page_of(entry: Refusal) -> str:
    return f"{LIST}cause/{entry.pk}/"


def shown(client, address) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def set_state(client, entry, number=0, **values) -> str:
    response = client.post(page_of(entry), OPEN | {"number": number} | values, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_the_overview_leads_to_the_page_of_a_cause(steward, two):
    [address] = re.findall(rf'href="({LIST}cause/[^"]*)"', shown(steward, f"{LIST}overview/"))

    page = shown(steward, address)

    assert "<h1>School schoolId=7 is missing</h1>" in page.replace("\n", "")
    assert "2 documents, refused twice" in page
    assert "Class period First" in page and "Class period Second" in page
    assert "The documents refer to an item (school) that is not here." in page
    assert f"<title>{timezone.localdate()}: 2 new</title>" in page
    assert "It is <strong>open</strong>" in page
    assert "NK#" not in page


def test_the_page_of_any_refusal_is_that_of_its_cause_for_one_client(steward, two, other_api, api, refused):
    other_api.post("/classPeriods", PERIOD | {"classPeriodName": "Third"})
    api.post("/students", STUDENT | {"birthDate": "never"})
    refused()

    pages = [shown(steward, page_of(each)) for each in two]

    assert all("Class period First" in page and "Class period Second" in page for page in pages)
    assert not any("Third" in page or "604822" in page for page in pages)


def test_a_state_is_that_of_all_refusals_of_the_cause_and_names_who_set_it(steward, two, caplog):
    set_state(steward, two[0], state="sent", note="mailed to <Ann>")

    page = shown(steward, page_of(two[1]))
    assert "It is <strong>sent to the vendor</strong>, set by steward" in page
    assert "mailed to &lt;Ann&gt;" in page
    assert "since.</strong>" not in page
    assert "<td>sent to the vendor</td>" in shown(steward, f"{LIST}overview/")
    assert 'event="state of a cause set" by=steward' in caplog.text


def test_a_cause_that_occurs_again_says_how_often_since(steward, two, api, refused):
    set_state(steward, two[0], state="waiting")
    for name in ("First", "Third"):
        api.post("/classPeriods", PERIOD | {"classPeriodName": name})
    refused()

    assert '<strong class="since">2 since.</strong>' in shown(steward, page_of(two[0]))
    assert "<td>waiting, 2 since</td>" in shown(steward, f"{LIST}overview/")


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (None, "Until which day?"),
        (-1, "The day must be between"),
        (367, "The day must be between"),
        (3, "It is <strong>dismissed until"),
    ],
)
def test_a_dismissal_ends(steward, two, days, said):
    until = "" if days is None else str(timezone.localdate() + timedelta(days=days))

    assert said in set_state(steward, two[0], state="dismissed", until=until)
    assert CauseFollowUp.objects.count() == (1 if days == 3 else 0)


def test_what_was_dismissed_is_open_again_after_the_day(steward, two):
    set_state(steward, two[0], state="dismissed", until=str(timezone.localdate()))
    CauseFollowUp.objects.update(until=timezone.localdate() - timedelta(days=1))

    assert "It is <strong>open again</strong>" in shown(steward, page_of(two[0]))


def test_of_two_who_set_a_state_the_second_is_told(steward, operator, two):
    set_state(steward, two[0], state="sent", note="mailed")

    page = set_state(operator, two[1], state="waiting")
    again = set_state(operator, two[1], number=1, state="waiting")

    assert "Somebody else has just set the state" in page
    assert "It is <strong>sent to the vendor</strong>, set by steward" in page
    assert '<input type="hidden" name="number" value="1" id="id_number">' in page
    assert "It is <strong>waiting</strong>, set by operator" in again
    assert list(CauseFollowUp.objects.order_by("number").values_list("state", "username", "note")) == [
        ("sent", "steward", "mailed"),
        ("waiting", "operator", ""),
    ]


@pytest.mark.django_db(transaction=True)
def test_of_two_who_set_a_state_at_the_same_moment_one_is_told(monkeypatch):
    key = {"client": 1, "data_store": 0, "direction": "received", "cause": "0" * 32}
    both_have_read, outcomes = Barrier(2), []
    read = follow_up.follow_ups

    def wait(*args):
        found = read(*args)
        both_have_read.wait(10)
        return found

    monkeypatch.setattr(follow_up, "follow_ups", wait)

    def change(username):
        values = {"number": 0, "state": "sent", "until": None, "note": ""}
        try:
            follow_up.set_state(CauseFollowUp, key, values, username, DEFAULT_DB_ALIAS)
            outcomes.append("stored")
        except follow_up.AlreadyChanged:
            outcomes.append("told")
        finally:
            connection.close()

    threads = [Thread(target=change, args=[name]) for name in ("anna", "ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["stored", "told"]
    assert CauseFollowUp.objects.count() == 1


@pytest.mark.parametrize("wrong", [{"state": "gone"}, {"state": "dismissed"}, {"state": "sent", "until": "2026-12-24"}])
def test_the_database_refuses_states_that_there_are_not(two, wrong):
    key = {name: getattr(two[0], name) for name in ("client", "data_store", "direction", "cause")}

    with pytest.raises(IntegrityError), transaction.atomic():
        CauseFollowUp.objects.create(**key, number=1, note="", username="", **wrong)


def test_the_page_of_a_cause_has_the_hints_of_the_answers(steward, operator, api, refused):
    sent = {"resource": "/ed-fi/classPeriods"}
    periods = [sent | {"document": PERIOD | {"classPeriodName": f"Period {number}"}} for number in range(22)]
    BatchClient(api.token).independent(*periods)
    [first, *_, last] = refused()
    instead = "Correct the key, or send the item first by POST to /ed-fi/schools."
    hint = f"Hint: $.schoolReference: there is no School with schoolId 7. {instead}"

    # A batch hints at its first operations only.
    assert (bool(first.hints), last.hints) == (True, [])
    assert f"<p>{hint}</p>" in shown(steward, page_of(last))
    assert "Hint" not in shown(operator, page_of(last))
    assert f"<div> {hint}</div>" in shown(steward, f"{LIST}{first.pk}/change/")


def test_of_a_value_the_page_says_what_the_member_takes(steward, api, refused):
    api.post("/students", STUDENT | {"birthDate": "yesterday"})
    [entry] = refused()

    page = shown(steward, page_of(entry))

    assert "<p>Hint: $.birthDate: expected is a date like 2026-01-05.</p>" in page
    assert (entry.hints, "yesterday" in page) == ([], False)


def test_days_count_documents_and_say_so(steward, two, api, refused):
    api.post("/classPeriods", PERIOD)
    refused()

    page = shown(steward, page_of(two[0]))

    assert "2 documents, refused 3 times" in page
    assert "Each document counts once: on the day of its first refusal" in page
    assert f"<title>{timezone.localdate()}: 2 new</title>" in page


def test_the_page_of_a_cause_reads_the_refusals_of_this_cause_alone(steward, two):
    insert_many_refusals(two[0].client)
    entry = Refusal.objects.filter(cause_text="cause").first()
    plans = []

    def explained(execute, sql, parameters, many, context):
        if sql.startswith("SELECT") and "refusal" in sql:
            execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", parameters, many, context)
            [(found,)] = context["cursor"].fetchall()
            plans.append((orjson.loads(found) if isinstance(found, str) else found)[0]["Plan"])
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(explained):
        shown(steward, page_of(entry))

    assert len(plans) > 5
    # Of 20,000; the cause has ten.
    assert max(most_rows(plan) for plan in plans) <= 200
    assert max(node.get("Rows Removed by Filter", 0) for plan in plans for node in nodes(plan)) <= 200


def test_without_the_permission_for_keys_the_page_has_the_kind_of_the_problem(steward, operator, two):
    set_state(steward, two[0], state="sent", note="Mae's school")

    page = shown(operator, page_of(two[0]))
    overview = shown(operator, f"{LIST}overview/")

    assert "<h1>Unresolved reference: School</h1>" in page.replace("\n", "")
    assert "It is <strong>sent to the vendor</strong>" in page
    assert not any(text in page for text in ("schoolId=7", "First", "Mae", "cause="))
    assert ">Unresolved reference: School</a>" in overview and "schoolId=7" not in overview
    assert operator.get(f"{page_of(two[0])}csv/").status_code == 403


def test_states_are_set_with_a_permission(two):
    user = User.objects.create(username="reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_refusal"))
    reader, nobody = client_of(user), client_of(User.objects.create(username="nobody", is_staff=True))

    assert 'name="state"' not in shown(reader, page_of(two[0]))
    assert reader.post(page_of(two[0]), OPEN).status_code == 403
    assert [nobody.get(page_of(two[0]) + end).status_code for end in ("", "csv/")] == [403, 403]


def test_the_vendor_gets_a_page_and_a_file(steward, two):
    Vendor.objects.update(contact_email="ann@vendor.example", contact_name="Ann")
    cause = two[0].cause.hex

    page = shown(steward, page_of(two[0]))
    response = steward.get(f"{page_of(two[0])}csv/")
    header, *rows = csv.reader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig")))

    assert f'href="http://testserver/submissions?cause=c-{cause}"' in page
    assert 'href="mailto:ann@vendor.example?subject=Refused%20documents%20of%20tests&amp;body=' in page
    assert [row[header.index("natural_key")] for row in rows] == [
        "NK#classPeriodName=First#schoolReference.schoolId=7",
        "NK#classPeriodName=Second#schoolReference.schoolId=7",
    ]


def test_a_cause_that_is_mended_keeps_its_page(steward, two):
    Refusal.objects.update(resolved_at=timezone.now(), resolution="succeeded")

    page = shown(steward, page_of(two[0]))

    assert "nothing any more" in page
    assert f"<title>{timezone.localdate()}: 2 resolved</title>" in page
    assert steward.get(f"{LIST}cause/00000000-0000-4000-8000-000000000000/").status_code == 404


def test_the_purge_keeps_states_as_long_as_refusals(steward, two, capsys):
    set_state(steward, two[0], state="sent")
    CauseFollowUp.objects.update(set_at=timezone.now() - timedelta(days=500))
    call_command("purge_refusals")
    assert CauseFollowUp.objects.count() == 1

    with Ledger(connection).changes():
        Refusal.objects.all().delete()
    call_command("purge_refusals")

    assert CauseFollowUp.objects.count() == 0
