"""A headless Chromium of the machine; without one these tests are skipped."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.remote.webdriver import WebDriver

from tests.tools.browser.windows import chromium

Browse = Callable[[int, int], webdriver.Chrome]
# What axe-core finds on a page that is serious.
Findings = Callable[[WebDriver], list[str]]

_DISTRIBUTION = "axe_playwright_python"
_RUN = """
const done = arguments[arguments.length - 1];
const rules = {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]};
axe.run({exclude: [".select2", ".help-tooltip", ".swagger-ui"]}, rules).then(found => done(found.violations
  .filter(each => ["serious", "critical"].includes(each.impact))
  .map(each => `${each.id}: ${each.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" | ")}`)));
"""


@pytest.fixture
def browser() -> Iterator[Browse]:
    """Opens a window of this width and height."""
    windows = []

    def opened(width: int, height: int) -> webdriver.Chrome:
        window = chromium(width, height)
        if window is None:
            pytest.skip("needs the programs chromium and chromedriver")
        windows.append(window)
        return window

    yield opened
    for window in windows:
        window.quit()


@pytest.fixture(scope="session")
def findings() -> Findings:
    """By axe-core; tests of it are skipped without it."""
    found = find_spec(_DISTRIBUTION)
    if found is None or found.origin is None:
        pytest.skip(f"needs {_DISTRIBUTION}: make test-browser")
    axe = Path(found.origin).with_name("axe.min.js").read_text()

    def run(window: WebDriver) -> list[str]:
        window.set_script_timeout(120)
        window.execute_script(axe)
        reported: list[str] = window.execute_async_script(_RUN)
        return reported

    return run
