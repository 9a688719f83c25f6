"""Names of education organizations beside their ids, and what is checked when vendors and applications are saved."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient, Application, Vendor

pytestmark = pytest.mark.django_db
EMPTY_INLINE = {"api_clients-TOTAL_FORMS": 0, "api_clients-INITIAL_FORMS": 0}


@pytest.fixture
def schools(api_without_check, documents, resource_named) -> None:
    """255901 and 255902; no 255903."""
    school = resource_named("School")
    documents.store_targets(school, documents.minimal_body(school))
    for number, name in {255901: "Lark Meadow High", 255902: "Brook & Hill"}.items():
        body = documents.minimal_body(school, schoolId=number, nameOfInstitution=name)
        assert api_without_check.post("/schools", body).status_code == 201


@pytest.fixture
def pages() -> dict[str, str]:
    """Return the pages of a client and of its application, with three organizations."""
    create_client("Lakeside", "SISVendor", [255901, 255903, 255902])
    client = ApiClient.objects.get(name="Lakeside")
    return {
        "client": f"/admin/security/apiclient/{client.pk}/change/",
        "permissions": f"/admin/security/apiclient/{client.pk}/permissions/",
        "application": f"/admin/security/application/{client.application_id}/change/",
    }


def lines(client: Client, page: str) -> list[str]:
    """Return the lines that begin with the id of an organization."""
    found = re.findall(r"(?<=>)\d{6}: [^<]+(?=<br>)", client.get(page).content.decode())
    return [unescape(line) for line in found]


@pytest.mark.usefixtures("schools")
def test_organizations_are_shown_with_their_names(operator: Client, pages: dict[str, str]) -> None:
    expected = ["255901: Lark Meadow High", "255903: does not exist yet", "255902: Brook & Hill"]

    assert {name: lines(operator, page) for name, page in pages.items()} == dict.fromkeys(pages, expected)


@pytest.mark.usefixtures("schools")
def test_names_take_one_query_and_a_page_has_not_all_of_many(operator: Client, pages: dict[str, str]) -> None:
    def queries() -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            operator.get(pages["application"])
        return [query["sql"] for query in captured if "nameOfInstitution" in query["sql"]]

    assert len(queries()) == 1
    Application.objects.filter(name="Lakeside").update(education_organization_ids=[255901, *range(100_001, 100_200)])

    assert len(queries()) == 1
    page = operator.get(pages["application"]).content.decode()
    assert "255901: Lark Meadow High" in page
    assert ("100099: does not exist yet" in page, "100100: does not exist yet" in page) == (True, False)
    assert "and 100 more" in page


def test_an_application_without_organizations(operator: Client) -> None:
    create_client("Lakeside", "SISVendor")
    application = Application.objects.get(name="Lakeside").pk

    assert lines(operator, f"/admin/security/application/{application}/change/") == []
    assert operator.get("/admin/security/application/add/").status_code == 200


@pytest.mark.usefixtures("schools")
def test_saving_an_application_warns_of_what_does_not_exist(operator: Client, pages: dict[str, str]) -> None:
    application = Application.objects.get(name="Lakeside")
    form = {
        "vendor": application.vendor_id,
        "name": "Lakeside",
        "claim_set": application.claim_set_id,
        "education_organization_ids": "255905,255901,255904",
    }

    page = operator.post(pages["application"], form | EMPTY_INLINE, follow=True).content.decode()

    assert "There is no education organization 255904, 255905 yet." in page


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("0", "Ensure this value is greater than or equal to 1."),
        ("-255901", "Ensure this value is greater than or equal to 1."),
        ("x", "Enter a whole number."),
        ("9223372036854775808", "Ensure this value is less than or equal to 9223372036854775807."),
    ],
)
def test_ids_that_no_organization_can_have(operator: Client, pages: dict[str, str], given: str, text: str) -> None:
    application = Application.objects.get(name="Lakeside")
    form = {
        "vendor": application.vendor_id,
        "name": "Lakeside",
        "claim_set": application.claim_set_id,
        "education_organization_ids": f"255901,{given}",
    }

    page = operator.post(pages["application"], form | EMPTY_INLINE).content.decode()

    [errors] = re.findall(r'<ul class="errorlist" id="id_education[^>]*>(.*?)</ul>', page)
    assert unescape(errors) == f"<li>Item 2 in the array did not validate: {text}</li>"
    application.refresh_from_db()
    assert application.education_organization_ids == [255901, 255903, 255902]


def save_vendor(operator: Client, prefixes: str, vendor: Vendor | None = None) -> str:
    address = f"/admin/security/vendor/{vendor.pk}/change/" if vendor else "/admin/security/vendor/add/"
    form = {"name": "Lakeside", "namespace_prefixes": prefixes}
    inline = {"applications-TOTAL_FORMS": 0, "applications-INITIAL_FORMS": 0}
    return unescape(operator.post(address, form | inline).content.decode())


@pytest.mark.parametrize(
    "prefixes", ["uri://ed-fi.org", "uri://", "urn:lakeside:", "http://a.example/x,uri://b.example"]
)
def test_namespace_prefixes_are_beginnings_of_uris(operator: Client, prefixes: str) -> None:
    save_vendor(operator, prefixes)

    assert Vendor.objects.get(name="Lakeside").namespace_prefixes == prefixes.split(",")


@pytest.mark.parametrize("prefix", ["", "  ", "uri://a\x1fb"])
def test_namespace_prefixes_are_texts_on_one_line(operator: Client, prefix: str) -> None:
    page = save_vendor(operator, f"uri://ed-fi.org,{prefix}")

    assert re.search(r'id="id_namespace_prefixes_error"><li>Item 2 in the array did not validate: [A-Z][^<]+', page)
    assert not Vendor.objects.filter(name="Lakeside").exists()


@pytest.mark.parametrize("prefix", ["ed-fi.org", "//ed-fi.org", "1uri://x", "uri://a b", "://x"])
def test_other_namespace_prefixes_are_refused(operator: Client, prefix: str) -> None:
    page = save_vendor(operator, f"uri://ed-fi.org,{prefix}")

    assert f"Not the beginning of a URI, such as uri://ed-fi.org: {prefix}" in page
    assert not Vendor.objects.filter(name="Lakeside").exists()


def test_a_namespace_prefix_that_is_stored_stays(operator: Client) -> None:
    vendor = Vendor.objects.create(name="Lakeside", namespace_prefixes=["lakeside"])

    save_vendor(operator, "lakeside,uri://lakeside.example", vendor)

    vendor.refresh_from_db()
    assert vendor.namespace_prefixes == ["lakeside", "uri://lakeside.example"]
