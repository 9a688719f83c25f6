"""The pages in front of the API in a browser: home, guides, refused writes."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.ui import WebDriverWait

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.web.viewsets import recorded_writes
from tests.conftest import ApiTestClient, http
from tests.support.factories import STUDENT
from tests.tools.browser.conftest import Browse, Findings
from tests.tools.browser.windows import DESKTOP, PHONE, click, complaints, overhang, shown

pytestmark = pytest.mark.browser

SIZES = (DESKTOP, PHONE)
ENROLMENT = {
    "studentReference": {"studentUniqueId": "604822"},
    "schoolReference": {"schoolId": 255901001},
    "entryDate": "2025-08-20",
    "entryGradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade",
}


def photograph(window: WebDriver, name: str) -> None:
    """A picture for whoever looks at the pages, in the folder that PICTURES names."""
    if folder := os.environ.get("PICTURES"):
        width = window.execute_script("return window.innerWidth")
        window.save_screenshot(str(Path(folder) / f"{name}-{width}.png"))


@pytest.fixture
def vendor(transactional_db: None, settings: Any) -> Iterator[Credentials]:
    """A client whose student was refused twice, and whose enrolment waits for a descriptor."""
    settings.EDFI_API = settings.EDFI_API | {"WRITE_RECORDER": "tests.features.refusals.recorder.RecorderInTest"}
    recorded_writes._recorder.cache_clear()
    recorder: Any = recorded_writes.recorder()
    recorder.flush()
    made = create_client("lakeside", claim_set_name="EdFiSandbox")
    form = {"grant_type": "client_credentials", "client_id": made.key, "client_secret": made.secret}
    token = http().post("/oauth/token", form, content_type="application/json").json()["access_token"]
    api = ApiTestClient(token)
    for _ in range(2):
        assert api.post("/students", STUDENT | {"birthDate": "soon"}).status_code == 400
    assert api.post("/studentSchoolAssociations", ENROLMENT).status_code == 400
    recorder.flush()
    yield made
    recorded_writes._recorder.cache_clear()


@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
def test_the_home_page_and_the_guides_fit_and_log_nothing(
    browser: Browse, live_server: Any, size: tuple[int, int]
) -> None:
    window = browser(*size)
    for path in ("", "guides", "guides/use/calling-the-api", "guides/start/tour", "guides/reference/settings"):
        window.get(f"{live_server.url}/{path}")
        photograph(window, path.replace("/", "-") or "home")
        assert (path, overhang(window), complaints(window)) == (path, 0, [])
    click(window, "aside a[href='/guides/use/queries']")
    assert shown(window, "h1").text == "Queries beyond equality"


@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
def test_a_vendor_sees_what_was_refused(
    browser: Browse, live_server: Any, vendor: Credentials, size: tuple[int, int]
) -> None:
    window = browser(*size)
    window.get(live_server.url)
    photograph(window, "home-of-all")
    click(window, "main a[href='/submissions']")
    sign_in(window, vendor.key, "mistyped")
    WebDriverWait(window, 20).until(lambda _: "The key or the secret is wrong" in shown(window, "#message").text)
    window.get_log("browser")  # A refused token is logged by the browser.
    window.refresh()

    sign_in(window, vendor.key, vendor.secret)

    assert len(rows(window, "causes")) == 2
    first = next(row for row in rows(window, "refusals") if "Student\n" in row)
    assert "birthDate should be of type date." in first
    assert "studentUniqueId 604822" in first
    assert "NK#" not in shown(window, "main").text
    photograph(window, "submissions")
    assert (overhang(window), _complaints(window)) == (0, [])
    kept = window.execute_script(
        "return JSON.stringify([sessionStorage, localStorage, document.cookie, location.href])"
    )
    assert vendor.secret not in kept + window.page_source
    assert vendor.key not in kept

    window.find_element(By.CSS_SELECTOR, "#refusals button").send_keys(Keys.ENTER)
    assert "Refused" in shown(window, "#story-text").text
    photograph(window, "submissions-story")
    assert (overhang(window), _complaints(window)) == (0, [])
    window.switch_to.active_element.send_keys(Keys.ESCAPE)
    Select(shown(window, "#filters select")).select_by_value("resolved")
    click(window, "#filters button.first")
    WebDriverWait(window, 20).until(lambda _: rows(window, "refusals")[0].startswith("Nothing"))


@pytest.mark.parametrize("size", [(1400, 900), (400, 844)])
def test_the_page_of_refused_writes_has_no_serious_finding(
    browser: Browse, live_server: Any, vendor: Credentials, findings: Findings, size: tuple[int, int]
) -> None:
    window = browser(*size)
    window.get(f"{live_server.url}/submissions")
    assert findings(window) == []
    sign_in(window, vendor.key, vendor.secret)
    rows(window, "refusals")
    assert findings(window) == []
    click(window, "#refusals button")
    assert shown(window, "#story-text").text
    assert findings(window) == []


def test_the_documentation_leads_to_it_where_a_token_is_obtained(
    browser: Browse, live_server: Any, vendor: Credentials
) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    click(window, ".auth-wrapper .authorize")
    shown(window, "#client_id_clientCredentials").send_keys(vendor.key)
    shown(window, "#client_secret_clientCredentials").send_keys(vendor.secret)
    click(window, ".modal-ux .auth-btn-wrapper .authorize")

    assert shown(window, ".modal-ux a[href='/submissions']").text == "Refused writes of this client"
    photograph(window, "docs-token")
    click(window, ".modal-ux a[href='/submissions']")
    assert shown(window, "#sign-in")


def test_an_entry_is_dismissed(browser: Browse, live_server: Any, vendor: Credentials) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/submissions")
    sign_in(window, vendor.key, vendor.secret)
    assert len(rows(window, "refusals")) == 2

    click(window, "#refusals button")
    click(window, "#dismiss")

    WebDriverWait(window, 20).until(lambda _: len(rows(window, "refusals")) == 1)


def test_what_is_shown_is_in_the_address(browser: Browse, live_server: Any, vendor: Credentials) -> None:
    """Back, forward and another load of the page lead to what was shown; a key that is pasted with blanks is read."""
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/submissions")
    sign_in(window, f" {vendor.key} ", f"{vendor.secret} ")
    assert len(rows(window, "refusals")) == 2
    Select(shown(window, "#filters select")).select_by_value("all")
    shown(window, "#filters input[name=status]").send_keys("404", Keys.ENTER)
    WebDriverWait(window, 20).until(lambda _: rows(window, "refusals")[0].startswith("Nothing"))

    window.back()
    WebDriverWait(window, 20).until(lambda _: len(rows(window, "refusals")) == 2)
    click(window, "#refusals button")
    told = shown(window, "#story-text").text
    window.refresh()

    assert shown(window, "#story-text").text == told
    assert "refusal=" in window.current_url and vendor.key not in window.current_url
    window.back()
    WebDriverWait(window, 20).until(lambda _: not window.find_element(By.ID, "story").is_displayed())
    assert _complaints(window) == []


def sign_in(window: WebDriver, key: str, secret: str) -> None:
    """Sign in by the keyboard alone."""
    shown(window, "input[name=key]").send_keys(key, Keys.TAB, secret, Keys.ENTER)


def rows(window: WebDriver, table: str) -> list[str]:
    """The texts of the rows, once there are any."""
    script = f"return [...document.querySelectorAll('#{table} tbody tr')].map(row => row.innerText)"
    found: list[str] = WebDriverWait(window, 20).until(lambda _: window.execute_script(script))
    return found


def _complaints(window: WebDriver) -> list[str]:
    """Those but one: the page asks for the sandbox of its client, and most clients have none."""
    return [each for each in complaints(window) if "/submissions/v1/sandbox" not in each]
