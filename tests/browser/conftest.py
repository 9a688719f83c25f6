"""A headless Chromium of the machine's own; without one the tests here are skipped."""

import shutil
from collections.abc import Callable, Iterator

import pytest
from selenium import webdriver

Browse = Callable[[int, int], webdriver.Chrome]


@pytest.fixture
def browser() -> Iterator[Browse]:
    """Opens windows of a width and height."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("needs the programs chromium and chromedriver")
    windows = []

    def opened(width: int, height: int) -> webdriver.Chrome:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            f"--window-size={width},{height}",
        ):
            options.add_argument(argument)
        windows.append(webdriver.Chrome(options, webdriver.ChromeService(driver)))
        return windows[-1]

    yield opened
    for window in windows:
        window.quit()
