"""Every kind of page at the widths of a desk and of a phone: what axe-core finds, what hangs over, the keyboard alone.

Numbers stand at the right, below heads that do so too.

Left out are Select2 and the tooltips of Django's admin, and Swagger UI, which are not ours.

axe-core comes with a distribution of which nothing else is used; `make test-browser` installs it.
"""

from typing import Any

import pytest
from django.contrib.auth.models import User
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.tools.browser.conftest import Browse, Findings
from tests.tools.browser.crawling import crawl
from tests.tools.browser.windows import log_in, overhang, shown

pytestmark = pytest.mark.browser

_MOST_TABS = 80
# Columns of quantities, not of numbers that name something, which are at the left, or not where their head is.
_NUMBERS_AT_THE_LEFT = """
const names = /id|key|status|organization|year|version|store|port/i;
const side = (cell) => getComputedStyle(cell).textAlign.replace("end", "right");
return [...document.querySelectorAll("#content table")].flatMap((table) => {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => row.cells.length === heads.length);
  return heads.filter((head, place) => {
    const cells = rows.map((row) => row.cells[place]).filter((cell) => cell.innerText.trim());
    const isOfNumbers = cells.length && cells.every((cell) => /^[\\d,.]+%?$/.test(cell.innerText.trim()));
    const isAt = (each) => [head, ...cells].every((cell) => side(cell) === each);
    return isOfNumbers && !names.test(head.innerText) && !isAt("right") && !isAt("center");
  }).map((head) => `numbers at the left: ${head.innerText.trim()}`);
});
"""


@pytest.mark.parametrize("size", [(1400, 900), (400, 844)])
@pytest.mark.usefixtures("row_in_every_table")
def test_no_page_has_a_serious_finding_or_hangs_over(
    size: tuple[int, int], findings: Findings, browser: Browse, live_server: Any
) -> None:
    def look(window: WebDriver) -> list[str]:
        if window.execute_script("return document.contentType") != "text/html":
            return []
        too_wide = overhang(window)
        # In narrow windows rows are cards.
        left = window.execute_script(_NUMBERS_AT_THE_LEFT) if size[0] > 1000 else []
        return [*findings(window), *left, *([f"{too_wide} px too wide"] if too_wide > 0 else [])]

    User.objects.create_superuser("operator", password="correct horse battery")
    window = browser(*size)
    log_in(window, live_server.url, "operator", "correct horse battery")

    visited, wrong = crawl(window, live_server.url, look)

    assert not wrong, "\n".join(wrong)
    assert len(visited) > 50


def test_a_document_is_found_and_opened_by_the_keyboard_alone(
    browser: Browse, live_server: Any, row_in_every_table: None
) -> None:
    User.objects.create_superuser("operator", password="correct horse battery")
    window = browser(1400, 900)
    log_in(window, live_server.url, "operator", "correct horse battery")
    window.get(f"{live_server.url}/admin/edfi_api/document/")

    _tab_to(window, "#searchbar")
    _press(window, Keys.ENTER)
    # The search leads to another page, which has a list as this one.
    WebDriverWait(window, 60).until(lambda each: "q=" in each.current_url)
    shown(window, "#result_list")
    _tab_to(window, "#result_list .field-key a")
    _press(window, Keys.ENTER)

    assert shown(window, "#values")


def _tab_to(window: WebDriver, selector: str) -> None:
    for _ in range(_MOST_TABS):
        _press(window, Keys.TAB)
        if window.execute_script("return document.activeElement.matches(arguments[0])", selector):
            return
    raise AssertionError(f"{_MOST_TABS} tabs do not lead to {selector}")


def _press(window: WebDriver, key: str) -> None:
    ActionChains(window).send_keys(key).perform()
