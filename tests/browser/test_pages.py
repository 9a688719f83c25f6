"""The pages for people, as a browser shows them."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from edfi_api.models import Document
from edfi_api.security.clients import Credentials, create_client
from edfi_api.security.models import Grant
from tests.browser.conftest import Browse

DESKTOP, NARROW = (1280, 900), (500, 900)


def shown(window: WebDriver, selector: str) -> WebElement:
    """The element, as soon as it can be seen."""

    def found(window: WebDriver) -> WebElement | None:
        return next((each for each in window.find_elements(By.CSS_SELECTOR, selector) if each.is_displayed()), None)

    return WebDriverWait(window, 60).until(found)


def overhang(window: WebDriver) -> int:
    """By how many pixels the page is wider than the window."""
    return int(window.execute_script("return document.documentElement.scrollWidth - window.innerWidth"))


def complaints(window: WebDriver) -> list[str]:
    """What the browser has written to its console since the last call."""
    return [entry["message"] for entry in window.get_log("browser")]


def click(window: WebDriver, selector: str) -> None:
    element = shown(window, selector)
    window.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", element)


@pytest.fixture
def credentials(transactional_db: None) -> Credentials:
    return create_client("newcomer", claim_set_name="EdFiSandbox")


def sent(window: WebDriver, path: str, operation: str) -> WebElement:
    """The response to a request that is tried out as the page has it."""
    tag = path.rpartition("/")[2]
    click(window, f"#operations-tag-{tag} button.expand-operation")
    click(window, f"#operations-{tag}-{operation} .opblock-summary-control")
    click(window, ".try-out__btn")
    click(window, "button.execute")
    return shown(window, ".live-responses-table tr.response")


def type_over(field: WebElement, text: str) -> None:
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys(text)


@pytest.mark.parametrize("size", [DESKTOP, NARROW], ids=["desktop", "phone"])
def test_a_newcomer_comes_from_the_first_page_to_an_accepted_post(
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


def test_every_specification_can_be_chosen(browser: Browse, live_server: Any) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")

    options = [each.text for each in shown(window, "#select").find_elements(By.TAG_NAME, "option")]

    assert options[:2] == ["Resources", "Descriptors"]


def test_the_admin_lets_staff_in_and_fits_a_narrow_screen(browser: Browse, live_server: Any, db: None) -> None:
    """A login takes what a browser sends and a test client does not: the origin of the form."""
    User.objects.create_superuser("staff", password="a long password")
    window = browser(*NARROW)
    window.get(f"{live_server.url}/admin/")
    shown(window, "[name=username]").send_keys("staff")
    shown(window, "[name=password]").send_keys("a long password")
    click(window, "[type=submit]")

    assert shown(window, "#counts caption").text.lower() == "documents by resource"
    assert overhang(window) <= 0


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

    assert complaints(window) == []
