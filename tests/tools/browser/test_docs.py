"""`/docs` at the first click: requests are sent as the page offers them, and answered."""

from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.ui import WebDriverWait

from edfi_api.core.models import Document
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.profiles.loading import read_definitions, store_profiles
from edfi_api.features.management_api.clients import create
from edfi_api.features.management_api.scopes import Scope
from tests.core.profiles.definitions import profile_xml
from tests.tools.browser.conftest import Browse
from tests.tools.browser.windows import DESKTOP, click, complaints, shown

pytestmark = pytest.mark.browser

_MANAGEMENT = "Management API"
# Opens a tag, presses *Execute* on its first GET, and tells the status and the address; null for a tag without one.
_EXECUTE_FIRST_GET = """
const [tag, done] = arguments;
const until = async (find) => {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const found = find();
    if (found) return found;
    await new Promise((resume) => setTimeout(resume, 50));
  }
  throw new Error(`${tag}: nothing from ${find}`);
};
const run = async () => {
  // The page is slow with hundreds of tags.
  ui.layoutActions.updateFilter(tag);
  const find = () => document.querySelector(`.opblock-tag[data-tag="${tag}"]`);
  await until(() => {
    if (find()?.dataset.isOpen === "false") find().click();
    return find()?.parentElement.querySelector(".opblock");
  });
  const block = find().parentElement.querySelector(".opblock-get");
  if (!block) return null;
  block.querySelector(".opblock-summary-control").click();
  (await until(() => block.querySelector(".try-out__btn"))).click();
  await until(() => [...block.querySelectorAll("[data-param-in=path] input")].every((each) => each.value));
  const rows = block.querySelectorAll("tr[data-param-name]").length;
  (await until(() => block.querySelector("button.execute"))).click();
  const answer = ".live-responses-table .response .response-col_status";
  const status = await until(() => block.querySelector(answer)?.textContent);
  find().click();
  return [status.slice(0, 3), block.querySelector(".request-url")?.textContent, rows];
};
run().then(done, (error) => done([String(error), "", 0]));
"""
_IS_LOADED = """
const { url, loadingStatus, specJson } = ui.specSelectors;
return url() === arguments[0] && loadingStatus() === "success" && specJson().has("paths");
"""


def first_requests(window: WebDriver) -> dict[str, tuple[str, str, int]]:
    """What is answered to the first GET of each tag of the shown specification, and the number of its parameters."""
    tags = window.execute_script("return [...ui.specSelectors.taggedOperations().keySeq()]")
    found = {tag: window.execute_async_script(_EXECUTE_FIRST_GET, tag) for tag in tags}
    return {tag: (each[0], each[1], each[2]) for tag, each in found.items() if each}


def choose(window: WebDriver, specification: str) -> None:
    """Waits until the specification is loaded and shown, without what was answered to requests of another."""
    window.refresh()
    listed = Select(shown(window, "#select"))
    # The first specification would replace the chosen one if it came later.
    first = listed.first_selected_option.get_attribute("value")
    WebDriverWait(window, 60).until(lambda _: window.execute_script(_IS_LOADED, first))
    listed.select_by_visible_text(specification)
    address = listed.first_selected_option.get_attribute("value")
    WebDriverWait(window, 60).until(lambda _: window.execute_script(_IS_LOADED, address))
    shown(window, ".opblock-tag")


def authorize(window: WebDriver, key: str, secret: str) -> None:
    click(window, ".auth-wrapper .authorize")
    shown(window, "#client_id_clientCredentials").send_keys(key)
    shown(window, "#client_secret_clientCredentials").send_keys(secret)
    click(window, ".modal-ux .auth-btn-wrapper .authorize")
    click(window, ".modal-ux .btn-done")


def test_the_first_get_of_every_tag_of_every_specification_is_answered(
    browser: Browse, live_server: Any, row_in_every_table: None, settings: Any
) -> None:
    credentials = create_client("newcomer", claim_set_name="EdFiSandbox")
    client = f"{credentials.key}:{credentials.secret}"
    settings.EDFI_API = {**settings.EDFI_API, "DOCS_CLIENT": client, "MANAGEMENT_PATH": "config"}
    store_profiles(read_definitions(profile_xml("Student", "IncludeAll", "IncludeAll", name="Portal")), by="tests")
    operator = create("operator", "operator", [Scope.FULL_ACCESS], by="tests")
    window = browser(*DESKTOP)
    window.set_script_timeout(120)
    window.get(f"{live_server.url}/docs")
    click(window, ".demo-client")
    shown(window, ".auth-wrapper .authorize.locked")

    answers: dict[str, dict[str, tuple[str, str, int]]] = {}
    for option in [each.text for each in Select(shown(window, "#select")).options]:
        choose(window, option)
        if option == _MANAGEMENT:
            authorize(window, operator.key, operator.secret)
        answers[option] = first_requests(window)

    refused = {each: found for listed in answers.values() for each, found in listed.items() if found[0] != "200"}
    assert refused == {}
    assert len(answers["Resources"]) > 100 and len(answers["Descriptors"]) > 150
    assert answers["Batch"] == {}
    assert {"History", "Relations", "Validation", "Discovery", "Profile Portal", _MANAGEMENT} <= answers.keys()
    assert max(found[2] for listed in answers.values() for found in listed.values()) == 12
    assert complaints(window) == []


def test_other_parameters_are_shown_on_request(browser: Browse, live_server: Any) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    click(window, "#operations-tag-students button.expand-operation")
    click(window, "#operations-students-getStudents .opblock-summary-control")

    def names() -> list[str | None]:
        rows = window.find_elements(By.CSS_SELECTOR, "#operations-students-getStudents tr[data-param-name]")
        return [each.get_attribute("data-param-name") for each in rows]

    shown(window, ".other-parameters")
    assert names()[:6] == ["offset", "limit", "pageToken", "pageSize", "totalCount", "studentUniqueId"]
    assert len(names()) == 12

    click(window, ".other-parameters")
    assert len(names()) > 25 and "lastSurname" in names()
    assert complaints(window) == []


def test_operations_by_id_have_the_id_of_a_document_except_those_that_delete(
    browser: Browse, live_server: Any, row_in_every_table: None, settings: Any
) -> None:
    credentials = create_client("newcomer", claim_set_name="EdFiSandbox")
    settings.EDFI_API = {**settings.EDFI_API, "DOCS_CLIENT": f"{credentials.key}:{credentials.secret}"}
    student = Document.objects.get(resource_type__name="Student")
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    click(window, ".demo-client")
    shown(window, ".auth-wrapper .authorize.locked")
    click(window, "#operations-tag-students button.expand-operation")

    for operation in ("getStudentsById", "putStudent"):
        block = f"#operations-students-{operation}"
        click(window, f"{block} .opblock-summary-control")
        click(window, f"{block} .try-out__btn")
        field = shown(window, f"{block} [data-param-name=id] input")
        WebDriverWait(window, 60).until(
            lambda _, field=field: field.get_attribute("value") == str(student.document_uuid)
        )
        click(window, f"{block} button.execute")
        status = shown(window, f"{block} .live-responses-table tr.response .response-col_status").text
        assert status[:3] == {"getStudentsById": "200", "putStudent": "204"}[operation]

    block = "#operations-students-deleteStudentsById"
    click(window, f"{block} .opblock-summary-control")
    click(window, f"{block} .try-out__btn")
    assert shown(window, f"{block} [data-param-name=id] input").get_attribute("value") == ""
    assert complaints(window) == []
