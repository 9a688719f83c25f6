"""The HTML pages in a browser with the window of a desktop and of a phone."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from edfi_api.core.models import Document
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient, Grant
from edfi_api.core.security.profiles.loading import read_definitions, store_profiles
from tests.core.security.profiles.definitions import profile_xml
from tests.tools.browser.conftest import Browse
from tests.tools.browser.windows import DESKTOP, PHONE, click, complaints, log_in, overhang, shown, type_over

pytestmark = pytest.mark.browser

SIZES = (DESKTOP, PHONE)


@pytest.fixture
def credentials(transactional_db: None) -> Credentials:
    return create_client("newcomer", claim_set_name="EdFiSandbox")


def sent(window: WebDriver, path: str, operation: str) -> WebElement:
    """The response to a request that is tried out with the values of the page."""
    tag = path.rpartition("/")[2]
    click(window, f"#operations-tag-{tag} button.expand-operation")
    click(window, f"#operations-{tag}-{operation} .opblock-summary-control")
    click(window, ".try-out__btn")
    click(window, "button.execute")
    return shown(window, ".live-responses-table tr.response")


@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
def test_links_lead_from_the_first_page_to_an_accepted_post(
    browser: Browse, live_server: Any, credentials: Credentials, size: tuple[int, int]
) -> None:
    window = browser(*size)
    window.get(live_server.url)
    assert overhang(window) <= 0
    click(window, "a[href='/docs']")

    click(window, ".auth-wrapper .authorize")
    shown(window, "#client_id_clientCredentials").send_keys(credentials.key)
    shown(window, "#client_secret_clientCredentials").send_keys("mistyped")
    assert complaints(window) == []
    click(window, ".modal-ux .auth-btn-wrapper .authorize")
    assert "The key or the secret is wrong" in shown(window, ".modal-ux .errors").text
    type_over(shown(window, "#client_secret_clientCredentials"), credentials.secret)
    click(window, ".modal-ux .auth-btn-wrapper .authorize")
    assert "authorized" in shown(window, ".modal-ux h6").text.lower()
    kept = window.execute_script("return JSON.stringify([sessionStorage, localStorage])")
    assert "access_token" in kept and credentials.secret not in kept

    window.refresh()
    shown(window, ".auth-wrapper .authorize.locked")
    response = sent(window, "/ed-fi/students", "postStudent")

    assert shown(window, ".live-responses-table tr.response .response-col_status").text.startswith("201")
    assert "/data/ed-fi/students/" in response.text
    assert overhang(window) <= 0
    assert [student.natural_key for student in Document.objects.filter(resource_type__name="Student")] == [
        "NK#studentUniqueId=604822"
    ]


def test_one_button_authorizes_the_client_of_a_demonstration(
    browser: Browse, live_server: Any, credentials: Credentials, settings: Any
) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "DOCS_CLIENT": f"{credentials.key}:{credentials.secret}"}
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")

    click(window, ".demo-client")

    shown(window, ".auth-wrapper .authorize.locked")
    assert window.find_elements(By.CSS_SELECTOR, ".demo-client") == []
    assert complaints(window) == []
    assert "201" in sent(window, "/ed-fi/students", "postStudent").text


def test_resources_are_grouped_by_the_domains_of_the_model(browser: Browse, live_server: Any) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    shown(window, "#operations-tag-students")

    domains = [each.text for each in window.find_elements(By.CSS_SELECTOR, "h2.domain")]
    tags = len(window.find_elements(By.CSS_SELECTOR, ".opblock-tag"))
    assert domains[:-1] == sorted(domains[:-1])
    assert domains[-1] == "Other"
    assert {"Bell Schedule", "Discipline"} <= set(domains)

    shown(window, ".operation-filter-input").send_keys("discipline")
    found = [each.get_attribute("data-tag") for each in window.find_elements(By.CSS_SELECTOR, ".opblock-tag")]
    assert 3 < len(found) < tags
    assert "disciplineIncidents" in found and "students" in found
    assert complaints(window) == []


def test_what_was_typed_goes_with_the_definition(browser: Browse, live_server: Any) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    shown(window, "#operations-tag-students")
    shown(window, ".operation-filter-input").send_keys("students")

    Select(shown(window, "#select")).select_by_visible_text("History")

    shown(window, "#operations-tag-history")
    assert shown(window, ".operation-filter-input").get_attribute("value") == ""


def test_requests_of_a_profile_are_tried_out_with_its_media_types(
    browser: Browse, live_server: Any, credentials: Credentials
) -> None:
    read = 'IncludeOnly:<Property name="lastSurname"/>'
    store_profiles(read_definitions(profile_xml("Student", read, "IncludeAll", name="Portal")), by="tests")
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    Select(shown(window, "#select")).select_by_visible_text("Profile Portal")
    shown(window, "#operations-tag-students")
    click(window, ".auth-wrapper .authorize")
    shown(window, "#client_id_clientCredentials").send_keys(credentials.key)
    shown(window, "#client_secret_clientCredentials").send_keys(credentials.secret)
    click(window, ".modal-ux .auth-btn-wrapper .authorize")
    click(window, ".modal-ux .btn-done")

    response = sent(window, "/ed-fi/students", "postStudent")

    assert response.find_element(By.CSS_SELECTOR, ".response-col_status").text.startswith("201")
    assert "application/vnd.ed-fi.student.portal.writable+json" in shown(window, ".curl-command").text
    assert Document.objects.filter(resource_type__name="Student").count() == 1


def test_every_specification_can_be_chosen(browser: Browse, live_server: Any) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")

    options = [each.text for each in shown(window, "#select").find_elements(By.TAG_NAME, "option")]

    assert options[:2] == ["Resources", "Descriptors"]
    assert "Management API" not in options


def test_the_management_api_is_among_them_where_it_is_on(browser: Browse, live_server: Any, settings: Any) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "MANAGEMENT_PATH": "config"}
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")

    options = {
        each.text: each.get_attribute("value") for each in shown(window, "#select").find_elements(By.TAG_NAME, "option")
    }

    assert options["Management API"] == f"{live_server.url}/config/metadata/specifications"


@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
def test_the_pages_of_the_admin_fit_and_log_nothing_to_the_console(
    browser: Browse,
    live_server: Any,
    row_in_every_table: None,
    size: tuple[int, int],
) -> None:
    """A login needs the Origin header of the form, which browsers send and the test client does not."""
    User.objects.create_superuser("staff", password="a long password")
    student = Document.objects.get(resource_type__name="Student")
    client = ApiClient.objects.get(name="tests")
    claim_set = Grant.objects.filter(claim_set__name="SISVendor").first()
    assert claim_set
    window = browser(*size)
    log_in(window, live_server.url, "staff", "a long password")
    assert shown(window, "#content-main")

    for page in (
        "",
        "edfi_api/document/",
        f"edfi_api/document/{student.pk}/change/",
        f"security/apiclient/{client.pk}/change/",
        "security/apiclient/add/",
        f"security/claimset/{claim_set.claim_set_id}/change/",
    ):
        window.get(f"{live_server.url}/admin/{page}")
        shown(window, "#user-button")
        assert (page, overhang(window), complaints(window)) == (page, 0, [])
