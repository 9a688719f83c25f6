"""The ledger in the admin: list, overview, activity, CSV."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from uuid_utils.compat import uuid7

from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient
from edfi_api.features.refusals.admin import summaries
from edfi_api.features.refusals.models import Refusal, SubmissionHour
from edfi_api.web.write_recorder import ACCEPTED_WITH_WARNINGS
from tests.conftest import ApiTestClient, new_token
from tests.core.queries.touched import touched
from tests.features.refusals.conftest import client_id
from tests.features.refusals.many_refusals import insert_many_refusals
from tests.support.admin_users import client_of
from tests.support.class_periods import PERIOD, store_school
from tests.support.factories import STUDENT

LIST = "/admin/refusals/refusal/"
KEY = "NK#classPeriodName=First#schoolReference.schoolId=7"
SHOWN_KEY = "classPeriodName=First, schoolId=7"
ENROLLMENT = {
    "studentReference": {"studentUniqueId": "604822"},
    "schoolReference": {"schoolId": 7},
    "entryDate": "2025-08-18",
    "entryGradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade",
}

ASSOCIATION = {
    "studentReference": {"studentUniqueId": "604822"},
    "educationOrganizationReference": {"educationOrganizationId": 7},
}
HOURS = """
INSERT INTO submission_hour
SELECT %s, 0, '/ed-fi/students', date_trunc('hour', now()) - n * interval '1 hour', 1, 0,
       date_trunc('hour', now()) - n * interval '1 hour', NULL
  FROM generate_series(200, 20200) n
"""


@pytest.fixture
def helper(db):
    """May see refusals, but no keys."""
    user = User.objects.create(username="helper", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_refusal"))
    return client_of(user)


@pytest.fixture
def two(api, refused):
    api.post("/classPeriods", PERIOD)
    api.post("/students", STUDENT | {"birthDate": "never"})
    return refused()


def shown(client, query=""):
    response = client.get(LIST + query)
    assert response.status_code == 200
    return response.content.decode()


def test_refusals_are_listed_with_client_key_and_cause(steward, two):
    page = shown(steward)

    assert SHOWN_KEY in page
    assert "School 7 does not exist." in page
    assert "NK#" not in page
    assert ">tests<" in page
    assert f'href="{LIST}overview/"' in page


@pytest.mark.parametrize(
    ("query", "has_period", "has_student"),
    [
        ("?state=resolved", False, False),
        ("?state=all", True, True),
        ("?resource=/ed-fi/classPeriods", True, False),
        ("?problem=bad-request:data-validation-failed", False, True),
        ("?status=409", True, False),
        ("?client=9999", False, False),
        ("?vendor=nonsense", False, False),
        ("?application=nonsense", False, False),
        ("?q=organization=7", True, False),
        (f"?q=organization={'7' * 5_000}", False, False),
        ("?q=604822", False, True),
        ("?q=%25", False, False),
    ],
)
def test_filters_and_search(steward, two, query, has_period, has_student):
    page = shown(steward, query)

    assert (SHOWN_KEY in page, "studentUniqueId=604822" in page) == (has_period, has_student)


def test_applications_can_be_chosen(steward, two):
    application = ApiClient.objects.get(pk=client_id()).application_id

    assert f"?application={application}" in steward.get(LIST).content.decode()
    assert SHOWN_KEY in shown(steward, f"?application={application}")


def test_a_refusal_is_found_by_its_correlation_id(steward, two):
    page = shown(steward, f"?q={two[0].correlation_id}")

    assert SHOWN_KEY in page
    assert "604822" not in page


@pytest.mark.parametrize(("searched", "is_found"), [(1, False), (2, True), (3, True)])
def test_the_latest_refusals_are_searched(steward, two, monkeypatch, searched, is_found):
    monkeypatch.setattr(summaries, "ROWS_COUNTED", searched)
    first, last = two

    assert (first.correlation_id in _found(steward, first)) == is_found
    assert last.correlation_id in _found(steward, last)


def _found(steward, entry) -> str:
    """The correlation ids of the entries that a search for one finds."""
    page = shown(steward, f"?q={entry.correlation_id}&state=all")
    return " ".join(each.correlation_id for each in Refusal.objects.all() if str(each.pk) in page)


def test_keys_and_messages_need_a_permission(helper, steward, two, log):
    pages = [
        shown(helper),
        shown(helper, "?q=604822"),
        helper.get(f"{LIST}{two[0].pk}/change/").content.decode(),
        helper.get(f"{LIST}overview/").content.decode(),
    ]
    full = steward.get(f"{LIST}{two[0].pk}/change/").content.decode()

    assert not any("schoolId=7" in page or "The referenced School" in page for page in pages)
    assert SHOWN_KEY in full
    assert "The referenced School item does not exist." in full
    assert "Unresolved Reference" in pages[0] and ">hidden<" not in pages[0]
    assert pages[0].count("are shown to users with the permission") == 1
    assert "are shown to users with the permission" not in shown(steward)


def test_a_look_at_keys_is_audited(helper, steward, two, caplog):
    shown(helper)
    assert "refusals listed" not in caplog.text

    shown(steward)

    assert 'event="refusals listed" by=steward' in caplog.text


def test_the_overview_links_numbers_to_lists(steward, two):
    page = steward.get(f"{LIST}overview/").content.decode()

    assert "resource=/ed-fi/classPeriods" in page
    assert "problem=data-conflict%3Aunresolved-reference" in page
    assert "School schoolId=7 is missing" in page
    assert "NK#" not in page


def test_the_activity_of_clients_is_shown(steward, api, two, refused):
    api.post("/students", STUDENT)
    refused()

    page = steward.get(f"{LIST}activity/").content.decode()
    of_client = steward.get(f"{LIST}activity/?client={client_id()}").content.decode()

    assert f"/activity/?client={client_id()}" in page
    assert f"?state=all&amp;client={client_id()}" in page
    assert re.findall(r"(?:Class periods|Students|Unknown resources)(?=<)", of_client) == ["Class periods", "Students"]
    assert f"?state=all&amp;client={client_id()}&amp;resource=/ed-fi/students" in of_client
    assert [steward.get(f"{LIST}activity/?client={row}").status_code for row in ("0", "x", "9" * 30)] == [404] * 3


def test_clients_that_are_silent_are_shown_with_their_last_success_and_refusal(steward, two):
    SubmissionHour.objects.all().delete()
    for month, accepted, refused in ((1, 1, 0), (2, 1, 2), (3, 5, 0)):
        at = datetime(2026, month, 7, 8, 30, tzinfo=UTC)
        times = {"last_accepted_at": at, "last_refused_at": at + timedelta(minutes=1) if refused else None}
        for resource in ("/ed-fi/students", "/ed-fi/staffs"):
            SubmissionHour.objects.create(
                client=client_id(), data_store=0, resource=resource, hour=at.replace(minute=0), accepted=accepted,
                refused=refused, **times,
            )  # fmt: skip

    for address in ("activity/", f"activity/?client={client_id()}"):
        page = steward.get(LIST + address).content.decode()
        row = page.partition('id="content-main"')[2].partition("<td>")[2].partition("</tr>")[0]
        assert ("2026-03-07 08:30 UTC" in row, "2026-02-07 08:31 UTC" in row) == (True, True), row
        assert re.findall(r">(\d+)<", row) == ["0", "0", "0", "0"]


def test_the_activity_of_clients_reads_few_of_the_hours_that_are_kept(steward, two):
    """20,000 hours with a success each, and none with a refusal."""
    with connection.cursor() as cursor:
        cursor.execute(HOURS, [client_id()])
        cursor.execute("ANALYZE submission_hour")
    steward.get(f"{LIST}activity/")

    assert touched(lambda: steward.get(f"{LIST}activity/")).rows < 1_000


def test_a_refusal_links_to_its_client(steward, two):
    link = f'<a href="/admin/security/apiclient/{client_id()}/change/">tests</a>'

    assert link in steward.get(f"{LIST}{two[0].pk}/change/").content.decode()
    assert link in shown(steward)
    Refusal.objects.update(client=0)
    assert "client 0" in shown(steward)


def test_causes_of_the_overview_link_to_their_open_refusals(steward, two, api, refused):
    for name in ("Second", "Third"):
        api.post("/classPeriods", PERIOD | {"classPeriodName": name})
    third = refused()[-1]
    Refusal.objects.filter(pk=third.pk).update(resolved_at=third.last_at, resolution="dismissed")
    [link] = re.findall(r'<a href="([^"]*cause=[^"]*)">2</a>', steward.get(f"{LIST}overview/").content.decode())

    page = steward.get(unescape(link)).content.decode()

    assert [name in page for name in ("First,", "Second,", "Third,", "604822")] == [True, True, False, False]
    assert "2 refusals" in page


def test_a_cause_is_sought_among_the_open_refusals_that_the_overview_looks_at(steward, two, monkeypatch):
    monkeypatch.setattr("edfi_api.features.refusals.admin.filters.LOOKED_AT", 1)
    found = [shown(steward, f"?cause={each.cause}") for each in two]

    assert [each.correlation_id in page or str(each.pk) in page for each, page in zip(two, found, strict=True)] == [
        False,
        True,
    ]


def test_filters_by_cause_need_a_permission_and_an_id(helper, steward, two):
    assert str(two[0].pk) in shown(steward, f"?cause={two[0].cause}")
    assert helper.get(f"{LIST}?cause={two[0].cause}").status_code == 400
    assert str(two[0].pk) not in shown(steward, "?cause=nonsense")


@pytest.mark.parametrize("path", ["", "overview/", "activity/"])
def test_pages_need_a_permission(path, db):
    client = client_of(User.objects.create(username="nobody", is_staff=True))

    assert client.get(LIST + path).status_code == 403


def test_the_list_does_not_read_all_entries(steward, two):
    """20,000 entries, nearly all of which are resolved."""
    insert_many_refusals(client_id())

    shown(steward)

    assert touched(lambda: shown(steward)).rows < 10_000


def test_a_filter_offers_the_statuses_of_the_latest_refusals(steward, two):
    page = shown(steward)

    assert [f"?status={status}" in page for status in (400, 404, 409)] == [True, False, True]


@pytest.mark.parametrize(("path", "most"), [("", 14), ("overview/", 6), ("activity/", 4)])
def test_pages_take_a_bounded_number_of_queries(steward, two, path, most):
    steward.get(LIST + path)

    with CaptureQueriesContext(
        connection,
    ) as queries:
        steward.get(LIST + path)

    assert len(queries) <= most, [query["sql"] for query in queries]


def test_csv_has_what_was_selected(steward, two, caplog):
    form = {"action": "export_csv", "_selected_action": [str(two[0].pk)]}

    response = steward.post(LIST, form)

    header, row = csv.reader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig")))
    assert (row[header.index("client")], row[header.index("natural_key")]) == ("tests", KEY)
    assert 'event="refusals exported" by=steward' in caplog.text


def test_csv_that_is_being_sent_uses_no_database(steward, two, monkeypatch):
    """Its connection belongs to other requests by then."""
    monkeypatch.setattr("edfi_api.core.queries.csv_text._BLOCK", 1)
    monkeypatch.setattr("edfi_api.features.refusals.export._AT_ONCE", 1)

    response = steward.post(LIST, {"action": "export_csv", "_selected_action": [str(each.pk) for each in two]})

    blocks = iter(response.streaming_content)
    text = next(blocks)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_cursors")
        assert cursor.fetchone() == (0,)
    assert len(list(csv.reader(io.StringIO((text + b"".join(blocks)).decode("utf-8-sig"))))) == 1 + len(two)


def test_csv_needs_the_permission_for_keys(helper, two):
    form = {"action": "export_csv", "_selected_action": [str(two[0].pk)]}

    assert helper.post(LIST, form)["Content-Type"] == "text/html; charset=utf-8"
    assert "export_csv" not in shown(helper)


def test_entries_cannot_be_changed(steward, two):
    assert steward.post(f"{LIST}{two[0].pk}/change/", {}).status_code == 403
    assert steward.post(f"{LIST}{two[0].pk}/delete/", {"post": "yes"}).status_code == 403
    assert Refusal.objects.count() == 2


def test_a_command_exports_the_ledger(two, capsys):
    call_command("export_refusals", format="jsonl", client="tests", since="2020-01-01")

    assert [line.count(KEY) for line in capsys.readouterr().out.splitlines()] == [1, 0]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"client": "unknown"}, 'There is no client "unknown".'),
        ({"since": "yesterday"}, "--since: 'yesterday' is not a day such as 2026-11-22."),
        ({"since": "2026-13-01"}, "--since: '2026-13-01' is not a day such as 2026-11-22."),
    ],
)
def test_the_export_names_what_it_cannot_use(options, reason, db):
    with pytest.raises(CommandError, match="^" + reason.replace(".", r"\.")):
        call_command("export_refusals", **options)


def test_a_search_covers_all_states_and_tells_the_story(steward, api, refused):
    api.post("/classPeriods", PERIOD)
    refused()
    store_school(api)
    api.post("/classPeriods", PERIOD)
    refused()

    page = shown(steward, "?q=First")
    story = re.sub(r"<[^>]+>|\s+", " ", page.partition('class="stories"')[2].partition("</ul>")[0])

    assert "refused once to tests, at" in story
    assert "School 7 does not exist. Accepted at" in " ".join(story.split())
    row = Document.objects.get(resource_type__name="ClassPeriod").pk
    assert f'<a href="/admin/edfi_api/document/{row}/change/">Accepted</a>' in page
    assert "First" not in shown(steward).partition('id="result_list"')[2]


def test_refusals_are_found_by_the_name_of_a_person(steward, api, refused):
    assert api.post("/students", STUDENT).status_code == 201
    api.post("/studentSchoolAssociations", ENROLLMENT)
    refused()

    page = shown(steward, "?q=Mae+Ortiz")

    assert "Mae Ortiz · 7 · 2025-08-18" in page
    assert "604822" not in shown(steward, "?q=Mae+Nobody").partition('id="changelist-form"')[2]


def test_what_was_searched_for_open_refusals_is_said(steward, api, refused, monkeypatch, settings):
    assert api.post("/students", STUDENT).status_code == 201
    address = f"/admin/edfi_api/document/{Document.objects.get(resource_type__name='Student').pk}/change/"
    for number in range(3):
        api.post("/studentSchoolAssociations", {**ENROLLMENT, "studentReference": {"studentUniqueId": str(number)}})
    refused()

    monkeypatch.setattr(summaries, "ROWS_COUNTED", 2)
    of_many = steward.get(address).content.decode()
    settings.EDFI_API = {**settings.EDFI_API, "REFUSAL_KEYS": "hashed"}
    hashed = steward.get(address).content.decode()
    settings.EDFI_API = {**settings.EDFI_API, "WRITE_RECORDER": ""}
    without = steward.get(address).content.decode()

    assert "No open refusal among the latest 2 names it." in of_many
    assert (
        "The ledger has no keys of documents: no open refusal is one of a write to the address of this one." in hashed
    )
    assert "Refused writes are not recorded." in without


def test_warnings_do_not_hide_what_is_open(steward, api, refused):
    assert api.post("/students", STUDENT).status_code == 201
    api.post("/studentSchoolAssociations", ENROLLMENT)
    refused()
    [warning] = Refusal.objects.all()
    for _ in range(11):
        warning.pk, warning.subject, warning.problem = uuid7(), uuid7(), ACCEPTED_WITH_WARNINGS
        warning.save(force_insert=True)

    page = steward.get(f"/admin/edfi_api/document/{Document.objects.get(resource_type__name='Student').pk}/change/")

    assert "Open problems" in page.content.decode()


def test_the_page_of_a_student_begins_with_refused_writes_about_it(steward, api, refused):
    assert api.post("/students", STUDENT).status_code == 201
    grade = {"namespace": "uri://ed-fi.org/GradeLevelDescriptor", "codeValue": "Ninth grade", "shortDescription": "9"}
    assert api.post("/gradeLevelDescriptors", grade).status_code == 201
    row = Document.objects.get(resource_type__name="Student").pk
    address = f"/admin/edfi_api/document/{row}/change/"
    assert "No open refusal names it. Validation has not run." in steward.get(address).content.decode()

    api.post("/studentSchoolAssociations", ENROLLMENT)
    refused()
    problems = steward.get(address).content.decode().partition('id="problems"')[2].partition("</section>")[0]
    sentence = " ".join(re.sub(r"<[^>]+>|\s+", " ", problems).split())
    store_school(api)
    assert api.post("/studentSchoolAssociations", ENROLLMENT).status_code == 201
    refused()
    later = steward.get(address).content.decode()

    assert sentence.startswith("> Open problems Enrolment Mae Ortiz · 7 · 2025-08-18 : refused once to tests")
    assert "School 7 does not exist. It is open." in sentence
    assert "No open refusal names it." in later
    assert "Accepted</a> at" in later.partition('<details class="module" id="refusals">')[2].partition("</details>")[0]


def test_refusals_whose_cause_is_gone_can_be_chosen(steward, two):
    Refusal.objects.filter(resource="/ed-fi/classPeriods").update(cause_gone=True)

    assert "open, cause gone" in shown(steward, "?gone=yes")
    assert SHOWN_KEY in shown(steward, "?gone=yes")
    assert SHOWN_KEY not in shown(steward, "?gone=no")


def test_causes_are_sentences(steward, api, refused):
    api.post("/classPeriods", PERIOD)
    api.post("/students", STUDENT | {"birthDate": "never"})
    api.post("/students", STUDENT | {"birthSexDescriptor": "uri://ed-fi.org/SexDescriptor#None"})
    refused()

    reasons = re.findall(r'<td class="field-why">(.*?)</td>', shown(steward))

    assert len(reasons) >= 2
    assert all(reason.endswith(".") and "urn:" not in reason and "NK#" not in reason for reason in reasons), reasons


def test_what_is_missing_is_a_link_to_its_search(steward, two):
    page = steward.get(f"{LIST}{two[0].pk}/change/").content.decode()

    assert 'href="/admin/search/?q=7"' in page


def test_pages_show_neither_natural_keys_nor_types_of_problems(steward, helper, two, api, refused):
    vendor = ApiTestClient(new_token("school", "SISVendor", education_organization_ids=[7]))
    store_school(api, 7)
    assert api.post("/students", STUDENT).status_code == 201
    assert vendor.post("/studentEducationOrganizationAssociations", ASSOCIATION).status_code == 403
    denied = refused()[-1]

    pages = [steward.get(f"{LIST}{entry.pk}/change/").content.decode() for entry in (*two, denied)]
    pages += [helper.get(f"{LIST}{two[0].pk}/change/").content.decode(), shown(steward)]
    texts = [re.sub(r"<[^>]+>", " ", page) for page in pages]
    overview = re.sub(r"<[^>]+>", " ", steward.get(f"{LIST}overview/").content.decode())

    headings = [re.findall(r"<h2>(.*?)</h2>", page)[0] for page in pages[:4]]
    assert headings == [
        "Class period First · School 7: Unresolved reference",
        "Student Mae Ortiz · 604822: Data validation failed",
        "Details of a student Mae Ortiz · School 7: Not authorized",
        "Class period: Unresolved reference",
    ]
    assert not [text for text in [*texts, overview] if "NK#" in text]
    assert "Not authorized" in overview and "data-conflict:" not in overview and "security:" not in overview
    assert "You may need to create a corresponding &#x27;StudentSchoolAssociation&#x27; item." in pages[4]
