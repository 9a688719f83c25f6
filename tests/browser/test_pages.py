"""The pages for people, as a browser shows them."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from edfi_api.security.clients import Credentials, create_client
from edfi_api.security.models import Grant
from tests.browser.conftest import Browse
from tests.conftest import ApiTestClient

DESKTOP, NARROW = (1280, 900), (500, 900)
SCHOOL_YEAR = {"schoolYear": 2026, "currentSchoolYear": True, "schoolYearDescription": "2025-2026"}


def shown(window: WebDriver, selector: str) -> WebElement:
    """The element, as soon as it can be seen."""

    def found(window: WebDriver) -> WebElement | None:
        return next((each for each in window.find_elements(By.CSS_SELECTOR, selector) if each.is_displayed()), None)

    return WebDriverWait(window, 60).until(found)


def click(window: WebDriver, selector: str) -> None:
    element = shown(window, selector)
    window.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", element)


@pytest.fixture
def credentials(committing_api: ApiTestClient) -> Credentials:
    assert committing_api.post("/schoolYearTypes", SCHOOL_YEAR).status_code == 201
    return create_client("reader", claim_set_name="EdFiSandbox")


def test_a_get_can_be_tried_out_with_key_and_secret(
    browser: Browse, live_server: Any, credentials: Credentials
) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    click(window, ".auth-wrapper .authorize")
    shown(window, "#client_id_clientCredentials").send_keys(credentials.key)
    shown(window, "#client_secret_clientCredentials").send_keys(credentials.secret)
    click(window, ".modal-ux .auth-btn-wrapper .authorize")
    assert "authorized" in shown(window, ".modal-ux h6").text.lower()
    click(window, ".modal-ux .btn-done")

    click(window, "#operations-tag-schoolYearTypes button.expand-operation")
    click(window, "#operations-schoolYearTypes-getSchoolYearTypes .opblock-summary-control")
    click(window, ".try-out__btn")
    click(window, "button.execute")

    assert shown(window, ".live-responses-table tr.response .response-col_status").text.startswith("200")
    assert (
        '"schoolYearDescription": "2025-2026"'
        in shown(window, ".live-responses-table tr.response .response-col_description").text
    )


def test_every_specification_can_be_chosen(browser: Browse, live_server: Any) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")

    options = [each.text for each in shown(window, "#select").find_elements(By.TAG_NAME, "option")]

    assert options[:2] == ["Resources", "Descriptors"]


@pytest.mark.parametrize(("path", "landmark"), [("/", "h1"), ("/docs", ".opblock-tag-section")])
def test_pages_fit_a_narrow_screen(browser: Browse, live_server: Any, path: str, landmark: str) -> None:
    window = browser(*NARROW)
    window.get(f"{live_server.url}{path}")
    shown(window, landmark)

    overhang = window.execute_script("return document.documentElement.scrollWidth - window.innerWidth")

    assert overhang <= 0


def test_the_admin_lets_staff_in_and_fits_a_narrow_screen(browser: Browse, live_server: Any, db: None) -> None:
    """A login takes what a browser sends and a test client does not: the origin of the form."""
    User.objects.create_superuser("staff", password="a long password")
    window = browser(*NARROW)
    window.get(f"{live_server.url}/admin/")
    shown(window, "[name=username]").send_keys("staff")
    shown(window, "[name=password]").send_keys("a long password")
    click(window, "[type=submit]")

    assert shown(window, "#counts caption").text.lower() == "documents by resource"
    assert window.execute_script("return document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_the_first_page_links_to_the_others(browser: Browse, live_server: Any) -> None:
    window = browser(*DESKTOP)
    window.get(live_server.url)

    click(window, "a[href='/docs']")

    assert shown(window, ".info .title").text.startswith("Ed-Fi API: resources")


def test_the_content_security_policy_forbids_nothing_that_pages_need(
    browser: Browse, live_server: Any, credentials: Credentials
) -> None:
    get_user_model().objects.create_superuser("operator", password="correct horse battery")
    grant = Grant.objects.filter(claim_set__name="SISVendor").first()
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    shown(window, ".opblock-tag-section")
    window.get(f"{live_server.url}/")
    window.get(f"{live_server.url}/admin/")
    shown(window, "#id_username").send_keys("operator")
    shown(window, "#id_password").send_keys("correct horse battery")
    click(window, "[type=submit]")
    shown(window, "#user-tools")
    for page in (
        "",
        "edfi_api/document/",
        f"security/claimset/{grant.claim_set_id}/change/",
        "security/apiclient/add/",
    ):
        window.get(f"{live_server.url}/admin/{page}")

    complaints = [entry["message"] for entry in window.get_log("browser")]
    # Swagger UI sets one style that it does as well without.
    ours = [text for text in complaints if "swagger-ui-bundle.js" not in text]
    assert [text for text in ours if "inline" in text or "Content Security Policy" in text] == []
