"""Giving a vendor access on one page, and the link that shows a secret one time."""

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from edfi_api.core.security.clients import disable_client
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, SecretLink, Vendor
from tests.support.admin_users import client_of
from tests.support.below_a_path import HEADERS, ROOT, serve_below_a_path
from tests.support.class_periods import store_school

PAGE = "/admin/security/vendor/onboarding/"


@pytest.fixture
def operator(db):
    user = User.objects.create(username="operator", is_staff=True)
    user.groups.add(Group.objects.get(name="operator"))
    return client_of(user)


def form(**values: object) -> dict[str, object]:
    claim_set = ClaimSet.objects.get(name="EdFiSandbox")
    new = {"vendor_name": "Lakeside SIS", "contact_name": "Ada Berg", "contact_email": "ada@lakeside.example"}
    return new | {"application": "Enrollment", "claim_set": claim_set.pk, "organizations": ""} | values


def shown(page: str, name: str) -> str:
    [text] = re.findall(rf'<code id="{name}">([^<]*)</code>', page)
    return text


def token_status(key: str, secret: str) -> int:
    form = urlencode({"grant_type": "client_credentials", "client_id": key, "client_secret": secret})
    return Client().post("/oauth/token", form, content_type="application/x-www-form-urlencoded").status_code


def test_one_page_makes_vendor_application_and_client(operator, api):
    store_school(api, 7)

    page = operator.post(
        PAGE, form(organizations="School 7\n8", namespace_prefixes="uri://lakeside.example")
    ).content.decode()

    application = Application.objects.get(name="Enrollment")
    assert (application.vendor.contact_email, application.vendor.namespace_prefixes) == (
        "ada@lakeside.example",
        ["uri://lakeside.example"],
    )
    assert application.education_organization_ids == [8, 7]
    assert token_status(shown(page, "key"), shown(page, "secret")) == 200
    assert shown(page, "secret") in shown(page, "curl").replace("&#x27;", "'")
    assert f'href="/admin/security/apiclient/add/?application={application.pk}"' in page


def test_an_existing_vendor_gets_another_application(operator):
    vendor = Vendor.objects.create(name="Lakeside SIS")

    operator.post(PAGE, form(vendor=vendor.pk, vendor_name=""))

    assert Application.objects.get(name="Enrollment").vendor == vendor


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"vendor_name": ""}, "Choose a vendor, or name a new one."),
        ({"organizations": "Nowhere High"}, "No education organization is called &quot;Nowhere High&quot;."),
        (
            {"organizations": "school"},
            "have &quot;school&quot; in their names: 7 School 7; 8",
        ),
        ({"organizations": "0"}, "greater than or equal to 1"),
        ({"contact_email": "nobody"}, "Enter a valid email address."),
        ({"claim_set": ""}, "This field is required."),
        ({"application": "x\0"}, "Null characters are not allowed."),
        ({"vendor_name": "Taken"}, "Taken"),
    ],
)
def test_what_cannot_be_made_is_said_and_nothing_is_stored(operator, api, values, problem):
    store_school(api, 7)
    store_school(api, 8)
    Vendor.objects.create(name="Taken")
    before = Vendor.objects.count()

    page = operator.post(PAGE, form(**values)).content.decode()

    assert problem in page
    assert (Vendor.objects.count(), Application.objects.filter(name="Enrollment").count()) == (before, 0)


def test_onboarding_needs_permissions(db):
    user = User.objects.create(username="steward", is_staff=True)
    user.groups.add(Group.objects.get(name="steward"))

    assert client_of(user).get(PAGE).status_code == 403
    assert PAGE not in client_of(user).get("/admin/").content.decode()


def test_a_link_shows_the_secret_one_time(operator, log):
    page = operator.post(PAGE, form()).content.decode()
    address, _, token = shown(page, "link").partition("#")
    vendor = Client()

    looked_at = vendor.get(address)
    first = vendor.post(address, {"token": token})
    second = vendor.post(address, {"token": token})

    assert (looked_at.status_code, first.status_code, second.status_code) == (200, 200, 404)
    sentence = "the Ed-Fi API of <strong>testserver</strong>, at <code>http://testserver</code>"
    assert sentence in looked_at.content.decode()
    assert first.json() == {
        "vendor": "Lakeside SIS",
        "application": "Enrollment",
        "key": shown(page, "key"),
        "secret": shown(page, "secret"),
    }
    assert "no-store" in first["Cache-Control"]
    assert "secret shown by its link" in [line["event"] for line in log.of("meadowlark.audit")]


@pytest.mark.parametrize("before", ["", "/edfi"], ids=["removed", "handed over"])
def test_below_a_path_the_link_and_what_it_shows_have_the_path(operator, settings, before):
    serve_below_a_path(settings)
    # The browser's cookies are those of HTTPS alone.
    page = operator.post(before + PAGE, form(), headers=HEADERS, secure=True).content.decode()
    address, _, token = shown(page, "link").partition("#")
    vendor, path = Client(headers=HEADERS), before + address.removeprefix(ROOT)

    looked_at = vendor.get(path).content.decode()
    answer = vendor.post(path, {"token": token})

    assert address == f"{ROOT}/secret"
    assert shown(page, "curl").endswith(f" {ROOT}/oauth/token")
    assert f", at <code>{ROOT}</code>" in looked_at
    assert set(re.findall(r'(?:href|src)="(?!#)(/[^/"]*/)', page + looked_at)) == {"/edfi/"}
    assert (answer.status_code, answer.json()["secret"]) == (200, shown(page, "secret"))
    assert vendor.post(path, {"token": token}).status_code == 404


def test_the_link_of_a_disabled_client_shows_nothing_until_it_is_enabled(operator):
    page = operator.post(PAGE, form()).content.decode()
    address, _, token = shown(page, "link").partition("#")
    client = ApiClient.objects.get(client_id=shown(page, "key"))

    disable_client(client, by="tests")
    disabled = Client().post(address, {"token": token})
    ApiClient.objects.update(is_active=True, expires_at=timezone.now())
    expired = Client().post(address, {"token": token})
    ApiClient.objects.update(expires_at=None)

    assert (disabled.status_code, expired.status_code) == (404, 404)
    assert Client().post(address, {"token": token}).json()["secret"] == shown(page, "secret")


def test_a_link_shows_the_secret_of_a_client_that_is_deleted_meanwhile(operator, monkeypatch):
    page = operator.post(PAGE, form()).content.decode()
    address, _, token = shown(page, "link").partition("#")

    def deletes_the_client(*_: object, client: str, by: str) -> None:
        ApiClient.objects.filter(client_id=client).delete()

    monkeypatch.setattr("edfi_api.common.logs.audit.log_change", deletes_the_client)
    answer = Client().post(address, {"token": token})

    assert not ApiClient.objects.filter(client_id=shown(page, "key")).exists()
    assert (answer.status_code, answer.json()["vendor"]) == (200, "Lakeside SIS")


def test_the_database_does_not_have_what_the_link_shows(operator):
    page = operator.post(PAGE, form()).content.decode()
    token = shown(page, "link").partition("#")[2]

    [row] = SecretLink.objects.values_list("digest", "ciphertext")

    assert not any(text in value for value in row for text in (token, shown(page, "secret")))


@pytest.mark.parametrize("token", ["", "x", "\0", "\ud7ff", "x" * 100_000])
def test_other_tokens_show_nothing(db, token):
    assert Client().post("/secret", {"token": token}).status_code == 404


def test_a_link_ends_after_a_day_and_with_the_secret(operator):
    page = operator.post(PAGE, form()).content.decode()
    client = ApiClient.objects.get(client_id=shown(page, "key"))
    rotated = operator.post(f"/admin/security/apiclient/{client.pk}/rotate-secret/").content.decode()

    assert Client().post("/secret", {"token": shown(page, "link").partition("#")[2]}).status_code == 404

    SecretLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().post("/secret", {"token": shown(rotated, "link").partition("#")[2]}).status_code == 404
    call_command("housekeeping")
    assert SecretLink.objects.count() == 0
