"""Pages with long names in wide and narrow windows, and what else only a browser shows of the admin."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Vendor
from edfi_api.features.refusals.models import Refusal
from tests.tools.browser.conftest import Browse
from tests.tools.browser.windows import complaints, log_in, log_out, overhang, shown

pytestmark = pytest.mark.browser

LONG = "Wolfeschlegelsteinhausenbergerdorff" * 2
PASSWORD = "correct horse battery"
SIZES = [(1400, 900), (400, 844)]
# Tables that have to be scrolled, but for the grids of Today, which have a column for each day or measure.
_TOO_WIDE = """
return [...document.querySelectorAll("#content .wide:not(:has(.heat, .schools))")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1)
  .map((each) => `${each.getAttribute("aria-label")}: ${each.scrollWidth} px`)
"""


@pytest.fixture
def long_names(row_in_every_table: None) -> None:
    Vendor.objects.update(name=LONG)
    Application.objects.update(name=LONG)
    ApiClient.objects.update(name=LONG)
    body = {"studentUniqueId": "1", "lastSurname": LONG, "firstName": "Mae"}
    Document.objects.filter(resource_type__name="Student").update(body=body)


@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
def test_long_names_and_open_filters_fit(
    browser: Browse, live_server: Any, long_names: None, size: tuple[int, int]
) -> None:
    User.objects.create_superuser("operator", password=PASSWORD, first_name=LONG)
    student = Document.objects.get(resource_type__name="Student")
    client = ApiClient.objects.order_by("pk").first()
    assert client
    window = browser(*size)
    log_in(window, live_server.url, "operator", PASSWORD)
    wrong: list[Any] = []
    for page in (
        "",
        f"edfi_api/document/{student.pk}/change/",
        f"edfi_api/document/versions/{student.resource_type_id}/{student.document_uuid}/",
        "refusals/refusal/",
        "refusals/refusal/overview/",
        "security/apiclient/",
        f"security/apiclient/{client.pk}/permissions/",
        "validation/validationresult/overview/",
    ):
        window.get(f"{live_server.url}/admin/{page}")
        shown(window, "#user-button")
        wrong += [(page, overhang(window))] if overhang(window) > 0 else []
        wrong += [(page, each) for each in [*window.execute_script(_TOO_WIDE), *complaints(window)]]
        for filter_ in window.find_elements(By.CSS_SELECTOR, "#changelist-filter details"):
            window.execute_script("arguments[0].open = true", filter_)
            wrong += [(page, "an open filter", overhang(window))] if overhang(window) > 0 else []

    assert wrong == [], "\n".join(map(str, wrong))


def test_versions_are_beneath_the_headings(browser: Browse, live_server: Any, long_names: None) -> None:
    window = _logged_in(browser, live_server, SIZES[0])
    student = Document.objects.get(resource_type__name="Student")

    window.get(f"{live_server.url}/admin/edfi_api/document/{student.pk}/change/")

    heading, tools = (shown(window, each).rect for each in ("#content > h2", ".object-tools"))
    assert tools["y"] >= heading["y"] + heading["height"]


def test_a_list_begins_on_the_first_screen_of_a_phone_and_its_search_box_has_a_name(
    browser: Browse, live_server: Any, row_in_every_table: None
) -> None:
    window = _logged_in(browser, live_server, SIZES[1])

    window.get(f"{live_server.url}/admin/refusals/refusal/?state=all")

    assert shown(window, "#searchbar").get_attribute("aria-label") == "Search"
    assert window.find_element(By.ID, "changelist-form").rect["y"] < 800


def test_pages_outside_of_the_admin_have_the_search_for_who_had_it_in_the_admin(
    browser: Browse, live_server: Any, db: None
) -> None:
    window = browser(*SIZES[0])
    window.get(live_server.url)
    field = window.find_element(By.ID, "site-search")
    assert not field.is_displayed()
    User.objects.create_superuser("operator", password=PASSWORD)
    log_in(window, live_server.url, "operator", PASSWORD)

    window.get(live_server.url)
    assert shown(window, "#site-search")
    window.get(f"{live_server.url}/admin/")
    log_out(window)
    shown(window, ".theme-toggle")
    window.get(live_server.url)
    assert not window.find_element(By.ID, "site-search").is_displayed()


def test_grants_of_a_claim_set_are_cards_in_narrow_windows(browser: Browse, live_server: Any, db: None) -> None:
    window = _logged_in(browser, live_server, SIZES[1])
    claim_set = ClaimSet.objects.get(name="SISVendor")

    window.get(f"{live_server.url}/admin/security/claimset/{claim_set.pk}/change/")

    cells = window.find_elements(By.CSS_SELECTOR, ".tabular tr.has_original td.field-actions")
    assert len(cells) > 5
    assert min(cell.rect["width"] for cell in cells) > 200
    assert overhang(window) == 0


def test_the_chart_of_a_cause_follows_the_colors(browser: Browse, live_server: Any, row_in_every_table: None) -> None:
    window = _logged_in(browser, live_server, SIZES[0])
    entry = Refusal.objects.first()
    assert entry
    window.get(f"{live_server.url}/admin/refusals/refusal/cause/{entry.pk}/")
    fill = "return getComputedStyle(document.querySelector('.days rect')).fill"

    window.execute_script("document.documentElement.dataset.theme = 'light'")
    light = window.execute_script(fill)
    window.execute_script("document.documentElement.dataset.theme = 'dark'")

    assert window.execute_script(fill) != light


def _logged_in(browser: Browse, live_server: Any, size: tuple[int, int]) -> WebDriver:
    User.objects.create_superuser("operator", password=PASSWORD)
    window = browser(*size)
    log_in(window, live_server.url, "operator", PASSWORD)
    return window
