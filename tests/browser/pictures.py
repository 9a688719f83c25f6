"""`make pictures`: the pictures of the documentation, taken from a server with the demo district.

    python -m tests.browser.pictures

Needs the programs chromium and chromedriver, as the tests beside it. The pictures replace those in
meadowlark/docs/pictures; the district is the same each time, so they differ only where the pages do.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from signal import SIGTERM
from tempfile import TemporaryDirectory

from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from tests.browser.conftest import chromium
from tests.browser.windows import DESKTOP, click, shown
from tests.lifecycle.make_run import Run
from tests.ports import free_port

FOLDER = Path(__file__).parents[2] / "meadowlark/docs/pictures"


def main() -> int:
    """Exit status 1, with the reason, where there is no browser."""
    window = chromium(*DESKTOP)
    if window is None:
        sys.stderr.write("needs the programs chromium and chromedriver\n")
        return 1
    with TemporaryDirectory() as folder:
        run = Run(Path(folder) / "home", free_port(), "--demo")
        try:
            run.wait_until_served()
            FOLDER.mkdir(exist_ok=True)
            _log_in(window, run)
            for name, show in PICTURES.items():
                show(window, run)
                window.save_screenshot(FOLDER / f"{name}.png")
        finally:
            window.quit()
            run.stop(SIGTERM)
    return 0


def _log_in(window: WebDriver, run: Run) -> None:
    [password] = re.findall(r"^  password +(\S+)$", run.told, re.MULTILINE)
    window.get(f"{run.address}/admin/")
    shown(window, "#id_username").send_keys("admin")
    shown(window, "#id_password").send_keys(password)
    click(window, "[type=submit]")
    shown(window, "#user-tools")


def _home(window: WebDriver, run: Run) -> None:
    window.get(run.address)
    shown(window, "h1")


def _documentation(window: WebDriver, run: Run) -> None:
    """An operation, opened, with its example."""
    window.get(f"{run.address}/docs#/students/postStudent")
    shown(window, "#operations-students-postStudent .opblock-body pre.example")
    operation = shown(window, "#operations-students-postStudent")
    window.execute_script("arguments[0].scrollIntoView()", operation)


def _admin(window: WebDriver, run: Run) -> None:
    window.get(f"{run.address}/admin/")
    shown(window, "#counts")


def _document(window: WebDriver, run: Run) -> None:
    """A student, whom many documents refer to."""
    window.get(f"{run.address}/admin/edfi_api/document/?q=77400010")
    click(window, "#result_list th a")
    shown(window, ".readonly")


def _client(window: WebDriver, run: Run) -> None:
    window.get(f"{run.address}/admin/security/apiclient/")
    window.get(window.find_element(By.CSS_SELECTOR, "#result_list th a").get_attribute("href") or "")
    shown(window, ".readonly")


PICTURES: dict[str, Callable[[WebDriver, Run], None]] = {
    "home": _home,
    "documentation": _documentation,
    "admin": _admin,
    "document": _document,
    "client": _client,
}

if __name__ == "__main__":
    sys.exit(main())
