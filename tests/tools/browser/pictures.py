"""`make pictures`: screenshots for the documentation, from a server with the demo district.

    python -m tests.tools.browser.pictures

Needs the programs chromium and chromedriver, like the tests of this package. The pictures replace those in
meadowlark/docs/start/pictures. The district is in the middle of a school year, as on each `make demo`, so days and
times in them are those of the day when they are taken.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from signal import SIGTERM
from tempfile import TemporaryDirectory

from selenium.webdriver.remote.webdriver import WebDriver

from tests.meadowlark.run.make_run import Run
from tests.tools.browser.windows import DESKTOP, chromium, click, log_in, shown

FOLDER = Path(__file__).parents[3] / "meadowlark/docs/start/pictures"
# Fixed, since the pages show it.
_PORT = 28_000
_STUDENT = "77400010"


def main() -> int:
    """Returns exit status 1 and prints the reason if there is no browser."""
    window = chromium(*DESKTOP)
    if window is None:
        sys.stderr.write("needs the programs chromium and chromedriver\n")
        return 1
    with TemporaryDirectory() as folder:
        run = Run(Path(folder) / "home", _PORT, "--demo")
        try:
            run.wait_until_served()
            FOLDER.mkdir(exist_ok=True)
            [password] = re.findall(r"^  password +(\S+)$", run.output, re.MULTILINE)
            log_in(window, run.address, "admin", password)
            for name, show in PICTURES.items():
                show(window, run)
                window.save_screenshot(FOLDER / f"{name}.png")
        finally:
            window.quit()
            run.stop(SIGTERM)
    return 0


def _home(window: WebDriver, run: Run) -> None:
    window.get(run.address)
    shown(window, "h1")


def _documentation(window: WebDriver, run: Run) -> None:
    """An expanded operation with its example."""
    window.get(f"{run.address}/docs#/students/postStudent")
    shown(window, "#operations-students-postStudent .opblock-body pre.example")
    operation = shown(window, "#operations-students-postStudent")
    window.execute_script("arguments[0].scrollIntoView()", operation)


def _admin(window: WebDriver, run: Run) -> None:
    window.get(f"{run.address}/admin/")
    shown(window, "table.heat")


def _document(window: WebDriver, run: Run) -> None:
    """A student, whom the search lists before what refers to the student."""
    window.get(f"{run.address}/admin/edfi_api/document/?q={_STUDENT}")
    click(window, "#result_list tbody .field-key a")
    shown(window, "#values")


def _refusals(window: WebDriver, run: Run) -> None:
    """The story of a student whose enrollment was refused at first."""
    window.get(f"{run.address}/admin/refusals/refusal/?q=91001")
    shown(window, ".stories")


def _client(window: WebDriver, run: Run) -> None:
    window.get(f"{run.address}/admin/security/apiclient/")
    click(window, "#result_list tbody a")
    shown(window, "#apiclient_form")


PICTURES: dict[str, Callable[[WebDriver, Run], None]] = {
    "home": _home,
    "documentation": _documentation,
    "admin": _admin,
    "document": _document,
    "refusals": _refusals,
    "client": _client,
}

if __name__ == "__main__":
    sys.exit(main())
