"""The page of a rule at an organization: what it says, its state, and who may see and set it."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from edfi_api.features.validation.models import RuleFollowUp, ValidationResult
from tests.features.validation.conftest import student
from tests.features.validation.rules import STUDENTS
from tests.support.admin_users import client_of

RESULTS = "/admin/validation/validationresult/"


@pytest.fixture
def admin_client(rules, committing_api) -> Client:
    """After a run that found two violations at one organization."""
    rules.write("s1.sql", STUDENTS)
    for number in ("1", "2"):
        student(committing_api, number)
    rules.run()
    return client_of(User.objects.create_superuser("administrator"))


def page_of_rule(client: Client) -> str:
    """The address to which the overview leads."""
    overview = client.get(f"{RESULTS}overview/").content.decode()
    [address] = re.findall(rf'href="({RESULTS}rule/[^"]*)"', overview)
    return address


def test_the_overview_leads_to_the_page_of_a_rule_at_an_organization(admin_client) -> None:
    page = admin_client.get(page_of_rule(admin_client)).content.decode()

    assert [f"studentUniqueId={number}" in page or f">{number}<" in page for number in (1, 2)] == [True, True]
    assert f"<title>{timezone.localdate()}: 2 new</title>" in page
    assert "<dt>Open</dt><dd>2</dd>" in page
    assert "It is <strong>open</strong>" in page


def test_a_state_is_that_of_all_results_and_says_what_appeared_since(admin_client, rules, committing_api) -> None:
    address = page_of_rule(admin_client)
    form = {"state": "waiting", "until": "", "note": "asked Ann", "number": "0"}

    page = admin_client.post(address, form, follow=True).content.decode()
    again = admin_client.post(address, form | {"state": "sent"}).content.decode()
    student(committing_api, "3")
    rules.run()
    later = admin_client.get(address).content.decode()
    overview = admin_client.get(f"{RESULTS}overview/").content.decode()

    assert "It is <strong>waiting</strong>, set by administrator" in page and "asked Ann" in page
    assert "Somebody else has just set the state" in again
    assert RuleFollowUp.objects.get().state == "waiting"
    assert '<strong class="since">1 since.</strong>' in later
    assert "<td>waiting, 1 since</td>" in overview


def test_results_that_are_dismissed_singly_are_no_examples(admin_client) -> None:
    address, row = page_of_rule(admin_client), ValidationResult.objects.order_by("id")[0].pk
    until = str(timezone.localdate() + timedelta(days=3))
    admin_client.post(f"{RESULTS}{row}/dismiss/", {"reason": "known", "until": until})

    page = admin_client.get(address).content.decode()

    assert "<dt>Open</dt><dd>1</dd>" in page
    assert f"{RESULTS}{row}/change/" not in page


def test_the_file_has_the_open_results(admin_client) -> None:
    response = admin_client.get(f"{page_of_rule(admin_client)}csv/")
    header, *rows = csv.reader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig")))

    assert header == ["rule", "severity", "organization", "natural_key", "message", "appeared_at"]
    assert [row[3:5] for row in rows] == [
        ["NK#studentUniqueId=1", "The student has no middle name"],
        ["NK#studentUniqueId=2", "The student has no middle name"],
    ]


def test_the_page_needs_permissions(admin_client) -> None:
    address = page_of_rule(admin_client)
    user = User.objects.create(username="reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_validationresult"))
    reader, nobody = client_of(user), client_of(User.objects.create(username="nobody", is_staff=True))

    assert 'name="state"' not in reader.get(address).content.decode()
    assert reader.post(address, {"state": "sent", "number": "0"}).status_code == 403
    assert [nobody.get(address + end).status_code for end in ("", "csv/")] == [403, 403]
    assert admin_client.get(f"{RESULTS}rule/0/at/0/").status_code == 404
    assert admin_client.get(re.sub(r"at/\d+", f"at/{10**30}", address)).status_code == 404
