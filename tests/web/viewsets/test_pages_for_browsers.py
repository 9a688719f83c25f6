"""Errors as pages for browsers and as problem details for all others; the admin's navigation, and its times."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from edfi_api.common.settings_table import SETTINGS
from meadowlark.configuration.environment import read
from tests.support.admin_users import client_of
from tests.support.factories import STUDENT

_BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture
def nobody(db):
    return client_of(User.objects.create(username="nobody", is_staff=True))


def user_of(group: str):
    user = User.objects.create(username=group, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    return client_of(user)


@pytest.mark.parametrize("address", ["/nothing", "/admin/nothing"])
def test_a_browser_gets_a_page_and_a_program_problem_details(nobody, address):
    page = nobody.get(address, HTTP_ACCEPT=_BROWSER)
    problem = nobody.get(address, HTTP_ACCEPT="*/*")

    assert (page.status_code, problem.status_code) == (404, 404)
    assert page["Content-Type"].startswith("text/html")
    assert "<h1>Not Found</h1>" in page.content.decode()
    assert "default-src 'none'" in page["Content-Security-Policy"]
    assert problem["Content-Type"] == "application/problem+json"
    # A cache that has the one does not answer with it who asks for the other.
    assert all("Accept" in answer["Vary"].split(", ") for answer in (page, problem))


def test_a_page_that_a_user_may_not_see_says_so(nobody):
    page = nobody.get("/admin/edfi_api/document/", HTTP_ACCEPT=_BROWSER)

    assert page.status_code == 403
    assert "Your user may not see this page." in page.content.decode()


def test_a_text_of_the_request_is_escaped(nobody):
    page = nobody.get("/admin/?%00=<script>", HTTP_ACCEPT=_BROWSER)

    assert page.status_code == 400
    assert "<script>" not in page.content.decode()


@pytest.mark.parametrize(
    ("group", "areas"),
    [
        ("steward", ["Today", "Schools", "Refused", "Findings", "Documents", "Access", "Exchange"]),
        ("operator", ["Today", "Refused", "Findings", "Documents", "Access", "Exchange", "Server"]),
        ("auditor", ["Today", "Refused", "Findings", "Documents", "Access", "Exchange", "Server"]),
    ],
)
def test_the_header_leads_to_the_areas_that_the_user_may_see(db, group, areas):
    page = user_of(group).get("/admin/").content.decode()
    menu = re.search(r'aria-label="Main">(.*?)</nav>', page, re.DOTALL)

    assert menu
    assert re.findall(r">([^<]+)</a>", menu[1]) == areas


@pytest.mark.parametrize("address", ["/", "/docs", "/guides", "/nothing", "/admin/login/", "/admin/"])
def test_every_page_has_the_header_and_the_tokens(db, address):
    client = Client() if address == "/admin/login/" else user_of("steward")

    page = client.get(address, HTTP_ACCEPT=_BROWSER).content.decode()

    assert page.count('<header class="site-header"') == 1
    assert len(re.findall(r'href="/static/edfi_api/site(\.\w+)?\.css"', page)) == 1
    assert "nav-sidebar" not in page


def test_the_search_is_shown_to_those_who_may_search(db, nobody):
    def search(client: Client, address: str) -> list[str]:
        page = client.get(address, HTTP_ACCEPT=_BROWSER).content.decode()
        return re.findall(r'<form class="site-search"[^>]*action="/admin/search/"( hidden)?>', page)

    steward = user_of("steward")
    assert search(steward, "/admin/") == [""]
    assert search(nobody, "/admin/") == []
    assert search(Client(), "/admin/login/") == []
    # Pages outside of the admin do not know the user: a script shows it to those who have had it in the admin.
    assert search(Client(), "/") == search(Client(), "/docs") == search(steward, "/guides") == [" hidden"]


def test_without_the_record_of_refusals_its_page_says_that_there_is_none(settings):
    settings.EDFI_API = {**settings.EDFI_API, "WRITE_RECORDER": ""}

    browser = Client().get("/submissions", HTTP_ACCEPT=_BROWSER)
    program = Client().get("/submissions")

    assert (browser.status_code, browser["Content-Type"].partition(";")[0]) == (404, "text/html")
    assert 'Back to the <a href="/">start</a>' in browser.content.decode()
    assert (program.status_code, program["Content-Type"]) == (404, "application/problem+json")


def test_a_user_without_permissions_is_told_who_gives_them(nobody):
    assert "An administrator gives it groups." in nobody.get("/admin/").content.decode()


def test_colors_are_named_in_one_style_sheet():
    named = [
        str(file)
        for file in Path("edfi_api").rglob("*.css")
        if "uplot" not in str(file) and re.search(r"#[0-9a-f]{3,8}\b(?![^{]*\{)|\b(rgb|hsl)\(", file.read_text())
    ]

    assert named == ["edfi_api/web/static/edfi_api/site.css"]


def test_the_page_after_logout_leads_nowhere_and_thanks_nobody(db):
    page = user_of("steward").post("/admin/logout/").content.decode()

    assert "You are logged out." in page
    assert "quality time" not in page
    assert ">Findings</a>" not in page


def test_times_are_shown_in_the_time_zone_of_the_setting(api, db, settings):
    assert api.post("/students", STUDENT).status_code == 201
    settings.ADMIN_TIME_ZONE = read(SETTINGS["ADMIN_TIME_ZONE"])
    steward = user_of("steward")

    in_utc = steward.get("/admin/edfi_api/document/").content.decode()
    settings.ADMIN_TIME_ZONE = "Asia/Kolkata"
    in_india = steward.get("/admin/edfi_api/document/").content.decode()

    assert re.search(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC", in_utc)
    assert re.search(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} IST", in_india)


def test_a_time_zone_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv("MEADOWLARK_ADMIN_TIME_ZONE", "America/Nowhere")

    with pytest.raises(ImproperlyConfigured, match="is no time zone"):
        read(SETTINGS["ADMIN_TIME_ZONE"])


def test_an_empty_list_says_what_would_be_there(db):
    page = user_of("steward").get("/admin/refusals/refusal/").content.decode()

    filtered = user_of("auditor").get("/admin/refusals/refusal/?state=all").content.decode()

    assert "Nothing was refused." in page
    assert "Nothing matches the search and the filters." in filtered
