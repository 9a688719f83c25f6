"""A headless Chromium of the machine; without one these tests are skipped."""

from collections.abc import Callable, Iterator

import pytest
from selenium import webdriver

from tests.browser.windows import chromium

Browse = Callable[[int, int], webdriver.Chrome]


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
