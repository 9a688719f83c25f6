"""A class list as a secretary keeps it becomes documents, by somebody who has never done it, in a browser."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from openpyxl import Workbook
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.ui import WebDriverWait

from edfi_api.core.models import Document
from edfi_api.core.security.clients import create_client
from edfi_api.features.tables import jobs
from edfi_api.features.tables.jobs import worker
from tests.tools.browser.conftest import Browse
from tests.tools.browser.windows import DESKTOP, PHONE, click, complaints, log_in, overhang, shown

pytestmark = pytest.mark.browser

PASSWORD = "a long password"
NAMES = ("Ortiz, Mae", "Müller, Jürgen", "Greene, Ada", "O'Neill, Shay", "García, José")


@pytest.fixture
def class_list(tmp_path: Path) -> str:
    """30 rows below a merged title, with blank lines, equal headers, leading zeros, days before months, and a total."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Class list 7A/7B, Creekside"])
    sheet.merge_cells("A1:F1")
    sheet.append([])
    sheet.append(["Student ID", "Name", "Date of birth", "Homeroom", "Phone", "Phone"])
    for number in range(30):
        if number == 15:
            sheet.append([])
        born = f"{number % 28 + 1:02}.{number % 12 + 1:02}.2012"
        sheet.append([4200 + number, NAMES[number % len(NAMES)], born, "7A", f"555-01{number:02}", None])
        sheet.cell(sheet.max_row, 1).number_format = "000000"
    sheet.append(["Total", 30])
    path = tmp_path / "class.xlsx"
    book.save(path)
    return str(path)


@pytest.fixture
def offices_client(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user, and the only API client; the test does the work of the server's thread."""
    monkeypatch.setattr(worker, "wake", lambda: None)
    User.objects.create_superuser("staff", password=PASSWORD)
    create_client("office", claim_set_name="EdFiSandbox")


def step(window: WebDriver) -> str:
    return shown(window, ".steps [aria-current]").text


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_class_list_is_uploaded_mapped_looked_at_tried_loaded_and_reported(
    browser: Browse,
    live_server: Any,
    class_list: str,
    offices_client: None,
    size: tuple[int, int],
) -> None:
    window = browser(*size)
    log_in(window, live_server.url, "staff", PASSWORD)

    def looked_at(expected: str) -> str:
        WebDriverWait(window, 60).until(lambda _: step(window) == expected)
        assert (overhang(window), complaints(window)) == (0, [])
        return shown(window, "#content-main").text

    if size == PHONE:
        click(window, ".opens-site-menu")
    click(window, "a[href$='/tables/tableload/']")
    looked_at("Upload")
    window.find_element(By.ID, "id_file").send_keys(class_list)
    Select(shown(window, "#id_resource")).select_by_visible_text("Student")
    # The only client is chosen already.
    click(window, ".submit-row [type=submit]")

    text = looked_at("Columns")
    assert "Headers are in row 3." in text
    assert "Every document needs these" not in text
    fields = window.find_elements(By.CSS_SELECTOR, ".columns input[name^=member-], .columns select")
    chosen = {each.get_attribute("name"): each.get_attribute("value") for each in fields if each.get_attribute("value")}
    assert chosen == {
        "member-0": "studentUniqueId",
        "member-1": "lastSurname",
        "part-1": "before-comma",
        "member-1-1": "firstName",
        "part-1-1": "after-comma",
        "member-2": "birthDate",
        "dates-2": "day-first",
    }
    click(window, ".show-documents")

    text = looked_at("Documents")
    assert "All would be accepted." in text
    assert len(window.find_elements(By.CSS_SELECTOR, "tbody tr")) == 10
    assert not Document.objects.filter(resource_type__name="Student").exists()
    click(window, "button[value=try]")
    WebDriverWait(window, 60).until(lambda _: step(window) == "Report")
    assert jobs.run_next()

    def report() -> str:
        window.refresh()
        return looked_at("Report")

    assert "dry run done, as the client office. 30 of 30 rows." in report()
    assert not Document.objects.filter(resource_type__name="Student").exists()
    click(window, "button[value=load]")
    WebDriverWait(window, 60).until(lambda _: "waiting" in shown(window, "[role=status]").text)
    assert jobs.run_next()

    text = report()
    assert "loaded, as the client office. 30 of 30 rows." in text
    assert "Row 35: It looks like a total below the list, and is left out." in text
    bodies = Document.objects.filter(resource_type__name="Student").order_by("id").values_list("body", flat=True)
    assert len(bodies) == 30
    assert bodies[1] == {
        "studentUniqueId": "004201",
        "firstName": "Jürgen",
        "lastSurname": "Müller",
        "birthDate": "2012-02-02",
    }
