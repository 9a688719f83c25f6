"""Today: the front page of the admin, and the lists of what its figures count."""

import re
from contextlib import nullcontext
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.utils import timezone

from edfi_api.features.refusals.models import SubmissionHour
from edfi_api.features.today import figure_cache
from edfi_api.features.today.counting import Counting
from edfi_api.features.validation.models import ValidationDismissal, ValidationRule
from tests.features.today.conftest import this_monday
from tests.support.admin_users import client_of, member
from tests.support.class_periods import PERIOD

_FOUND = """
INSERT INTO validation_result (
    result_uuid, result_key, episode, rule_id, digest, organization, message, first_run, appeared_at
)
SELECT gen_random_uuid(), gen_random_uuid(), 1, id, sha256(gen_random_uuid()::text::bytea), %s, 'message', 1, %s
  FROM validation_rule
RETURNING result_key
"""


def found(organization: int, at: datetime) -> UUID:
    """The key of an open result about the organization."""
    ValidationRule.objects.get_or_create(
        source="tests", identifier="E-1", defaults={"rule_uuid": uuid4(), "is_active": True, "modified_at": at}
    )
    with connection.cursor() as cursor:
        [(key,)] = cursor.execute(_FOUND, [organization, at])
    return key


def text_of(client: Client, address: str = "/admin/") -> str:
    """What the page says, without its tags."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.content
    content = answer.content.decode().partition("<main")[2].partition("</main>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", content).split())


def addresses(client: Client, text: str, address: str = "/admin/") -> list[str]:
    """The addresses of links with this text."""
    page = client.get(address).content.decode()
    found = re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', page, re.DOTALL)
    return [
        where.replace("&amp;", "&")
        for where, inner in found
        if " ".join(re.sub(r"<[^>]+>", " ", inner).split()) == text
    ]


def test_each_share_leads_to_the_students_who_lack_it(steward, school):
    school.like("StudentContactAssociation", "/studentContactAssociations")
    school.enrol()

    page = text_of(steward)
    [address] = addresses(steward, "50.0% 1 without")
    lacking = text_of(steward, address)

    assert "Value 2 enrolled none 2 without 50.0% 1 without none 2 without none 2 without none 2 without" in page
    assert address == f"/admin/schools/{school.id}/students/?without=contacts"
    assert "1 student at Value" in lacking
    assert "Mae Ortiz · 604822" in lacking
    assert "2 students at Value" in text_of(steward, f"/admin/schools/{school.id}/students/")


def test_students_who_have_left_are_not_enrolled(steward, school):
    yesterday = timezone.localdate() - timedelta(days=1)
    school.enrol(exitWithdrawDate=yesterday.isoformat())

    assert "Value 1 enrolled" in text_of(steward)


def test_absences_by_week_lead_to_those_of_the_week(steward, school):
    week = this_monday() - timedelta(days=7)
    school.absent(week)
    school.absent(week + timedelta(days=1))
    school.absent(week + timedelta(days=2), "Tardy")

    [address] = addresses(steward, "2")
    assert address == f"/admin/schools/{school.id}/absences/?week={week}"
    assert f"2 absences in the week of {week}" in text_of(steward, address)


def test_a_school_without_attendance_this_week_is_named(steward, school):
    silent = text_of(steward)
    listed = text_of(steward, "/admin/schools/?attendance=none")
    school.absent(this_monday(), "In Attendance")
    figure_cache.cache.clear()

    assert "1 of 1 school sent no attendance this week · Value" in silent
    assert "Schools without attendance this week" in listed
    assert "Value 1 enrolled" in listed
    assert "1 school has sent attendance this week" in text_of(steward)


def test_no_attendance_is_expected_in_a_week_of_holidays(steward, school):
    school.calendar(this_monday(), "Holiday")
    in_holidays = text_of(steward)
    school.calendar(this_monday(), "Instructional day")
    figure_cache.cache.clear()

    assert "sent no attendance" not in in_holidays
    assert "1 of 1 school sent no attendance this week" in text_of(steward)


def test_refused_writes_lead_to_lists_of_as_many(steward, api, refused):
    api.post("/classPeriods", PERIOD)
    refused()

    page = text_of(steward)
    addresses_of_one = addresses(steward, "1")

    assert "1 write is refused and open" in page
    assert len(addresses_of_one) == 3
    for address in addresses_of_one:
        assert "1 refusal " in text_of(steward, address), address


def test_findings_are_counted_as_the_list_counts_them(steward, school):
    found(school.id, timezone.now())
    found(school.id, timezone.now() - timedelta(days=30))
    dismissed = found(school.id, timezone.now())
    ValidationDismissal.objects.create(result_key=dismissed, reason="x", until=timezone.localdate(), username="s")

    assert "2 findings are open · 1 new this week" in text_of(steward)
    [new], [of_school, of_all] = addresses(steward, "1 new this week"), addresses(steward, "2")
    assert "1 validation result " in text_of(steward, new)
    assert of_school.endswith(f"?organization={school.id}") or of_all.endswith(f"?organization={school.id}")
    assert "2 validation results " in text_of(steward, of_school)
    assert "2 validation results " in text_of(steward, of_all)


def test_a_feed_of_which_nothing_is_accepted_for_a_week_is_silent(steward, api, refused):
    api.post("/classPeriods", PERIOD)
    refused()
    SubmissionHour.objects.update(accepted=4, last_accepted_at=timezone.now() - timedelta(days=9))

    page = text_of(steward)

    assert "tests nothing accepted for 9 days" in page
    assert (
        addresses(steward, "tests")
        == [f"/admin/refusals/refusal/activity/?client={SubmissionHour.objects.get().client}"] * 2
    )


def test_each_role_sees_its_own(school, api, refused):
    api.post("/classPeriods", PERIOD)
    refused()
    reader = User.objects.create(username="reader", is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename="view_document"))

    operator, data = text_of(member("operator")), text_of(client_of(reader))

    assert "1 write is refused and open" in operator
    assert "Size of the database" in operator
    assert "Value" not in operator
    assert "Value 1 enrolled" in data
    assert "refused" not in data.lower()
    assert "Size of the database" not in data
    assert member("auditor").get("/admin/schools/").status_code == 403


@pytest.fixture
def in_the_background(monkeypatch) -> list:
    """What is counted in the background, but in the transaction of the page; called by the test."""
    waiting: list = []
    monkeypatch.setattr(figure_cache.cache, "start", waiting.append)
    monkeypatch.setattr(figure_cache, "open_own_connections", lambda aliases: nullcontext())
    return waiting


def test_what_takes_long_is_counted_in_the_background(steward, school, monkeypatch, in_the_background):
    counted = Counting.completeness

    def completeness(self, cursor, *arguments):
        # Longer than half of the time of a page, which is the most that a figure may take.
        cursor.execute("SELECT pg_sleep(1.2)")
        return counted(self, cursor, *arguments)

    monkeypatch.setattr(Counting, "completeness", completeness)

    pages = [text_of(steward)]
    for run in in_the_background:
        run()
    pages.append(text_of(steward))
    figure_cache.cache.clear()
    pages.append(text_of(steward))

    assert "How complete schools are: still being counted. Load the page again in some seconds." in pages[0]
    assert "1 enrolled" not in pages[0]
    assert "1 enrolled" in pages[1]
    # What a process does not know is read from the admin database, where another one has written it.
    assert "1 enrolled" in pages[2]
    assert "still being counted" not in pages[1] + pages[2]
    assert len(in_the_background) == 1


def test_what_takes_too_long_is_left_out(steward, school, monkeypatch, in_the_background):
    def completeness(self, cursor, *arguments):
        cursor.execute("SELECT pg_sleep(1.2)")

    monkeypatch.setattr(figure_cache, "BACKGROUND_SECONDS", 0.2)
    monkeypatch.setattr(Counting, "completeness", completeness)

    text_of(steward)
    for run in in_the_background:
        run()
    page = text_of(steward)

    assert "How complete schools are: counting took more than 0.2 seconds, so the page does without." in page
    assert "How complete is each school?" in page


def test_the_page_of_a_school_has_its_row_and_what_happened_this_week(steward, school, api, refused):
    school.enrol()
    found(school.id, timezone.now())
    api.post("/classPeriods", {"classPeriodName": "First", "schoolReference": {"schoolId": school.id}, "x": 1})
    api.post("/classPeriods", {"schoolReference": {"schoolId": school.id}})
    refused()

    page = text_of(steward, f"/admin/edfi_api/document/{school.row}/change/")

    assert "Value 2 enrolled none 2 without" in page
    week = page.partition("Refused and found this week")[2].partition("What is written, and when last")[0]
    assert "tests/E-1" in week
    assert "refused once to tests" in week
    assert "Enrolments 2" in page.partition("What is written, and when last")[2]


def test_other_documents_have_nothing_of_it(steward, school):
    page = text_of(steward, f"/admin/edfi_api/document/{school.stored('Student').pk}/change/")

    assert "What is written, and when last" not in page


@pytest.mark.parametrize(
    "query", ["p=0", "p=-1", "p=x", f"p={'9' * 5_000}", f"p={10**6}", "week=9999-12-31", "week=0001-01-01", "week=x"]
)
@pytest.mark.parametrize("page", ["students", "absences"])
def test_a_page_or_a_week_that_does_not_exist_is_no_error(steward, school, page, query):
    answer = steward.get(f"/admin/schools/{school.id}/{page}/?{query}")

    assert answer.status_code == 200
