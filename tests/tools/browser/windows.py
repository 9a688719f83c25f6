"""Windows of a headless Chromium, and user actions in them."""

import shutil

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

DESKTOP, PHONE = (1280, 900), (390, 844)


def chromium(width: int, height: int) -> webdriver.Chrome | None:
    """A window of the machine's Chromium; None if it or its driver is missing."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver:
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    window = webdriver.Chrome(options, webdriver.ChromeService(driver))
    # The minimum width of windows is larger than that of a phone.
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return window


def shown(window: WebDriver, selector: str) -> WebElement:
    """Waits until the element is displayed."""

    def found(window: WebDriver) -> WebElement | None:
        return next((each for each in window.find_elements(By.CSS_SELECTOR, selector) if each.is_displayed()), None)

    return WebDriverWait(window, 60).until(found)


def click(window: WebDriver, selector: str) -> None:
    element = shown(window, selector)
    window.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", element)


def type_over(field: WebElement, text: str) -> None:
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys(text)


def log_in(window: WebDriver, server: str, user: str, password: str) -> None:
    """Logs in to the admin."""
    window.get(f"{server}/admin/")
    shown(window, "#id_username").send_keys(user)
    shown(window, "#id_password").send_keys(password)
    click(window, "[type=submit]")
    shown(window, "#user-button")


def log_out(window: WebDriver) -> None:
    """Logs out by the menu of the user."""
    click(window, "#user-button")
    click(window, "#logout-form button")


def overhang(window: WebDriver) -> int:
    """The number of pixels by which the page is wider than the window."""
    return int(window.execute_script("return document.documentElement.scrollWidth - window.innerWidth"))


def complaints(window: WebDriver) -> list[str]:
    """The messages in the browser's console since the last call."""
    return [entry["message"] for entry in window.get_log("browser")]
