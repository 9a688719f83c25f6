"""`/docs` at the first click: requests are sent as the page offers them, and answered."""

from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from django.urls import include, path
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.ui import WebDriverWait

from edfi_api.common.conf import api_settings
from edfi_api.core.models import Document
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.profiles.loading import read_definitions, store_profiles
from edfi_api.core.served import current_compilation
from edfi_api.features.management_api.clients import create
from edfi_api.features.management_api.scopes import Scope
from edfi_api.web.metadata import urls as metadata
from tests.core.security.profiles.definitions import profile_xml
from tests.tools.browser.conftest import Browse
from tests.tools.browser.windows import DESKTOP, click, complaints, shown

pytestmark = pytest.mark.browser

_MANAGEMENT = "Management API"
# Each of these lists in a window of its own.
_SPECIFICATIONS = (
    ["Resources"],
    ["Descriptors"],
    [
        *("Change-Queries", "Batch", "Relations", "History", "Submissions", "Validation", "Discovery"),
        *("Profile Portal", _MANAGEMENT),
    ],
)
_EVERY_API = {"MANAGEMENT_PATH": "config", "WRITE_RECORDER": "tests.features.refusals.recorder.RecorderInTest"}
_LEAST_TAGS = {"Resources": 130, "Descriptors": 200}
# For each tag of the shown specification: opens it, presses *Execute* on its first GET, and keeps the status, the
# address and the number of its parameters in `answered`; null for a tag without a GET. Swagger UI walks through its
# whole specification for each operation, and the largest has hundreds: it is given the part of one tag at a time.
_EXECUTE_FIRST_GETS = """
const whole = ui.specSelectors.specJson().toJS();
const tags = [...ui.specSelectors.taggedOperations().keySeq()];
window.answered = {};
window.hasEnded = false;

const until = async (what, find) => {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const found = find();
    if (found) return found;
    await new Promise((resume) => setTimeout(resume, 20));
  }
  throw new Error(`no ${what}`);
};

const partOf = (tag) => {
  const has = (item) => Object.values(item).some((each) => each.tags?.[0] === tag);
  const paths = Object.fromEntries(Object.entries(whole.paths).filter(([, item]) => has(item)));
  const components = { securitySchemes: whole.components?.securitySchemes };
  const addReferencedIn = (value) => {
    for (const [, kind, name] of JSON.stringify(value).matchAll(/"#\\/components\\/(\\w+)\\/([^"]+)"/g)) {
      components[kind] ??= {};
      if (name in components[kind]) continue;
      components[kind][name] = whole.components[kind][name];
      addReferencedIn(components[kind][name]);
    }
  };
  addReferencedIn(paths);
  const listed = whole.tags?.filter((each) => each.name === tag);
  return { ...whole, info: { ...whole.info, description: "" }, tags: listed, paths, components };
};

const firstGet = async (tag) => {
  ui.specActions.updateJsonSpec(partOf(tag));
  const header = await until("tag", () => {
    const shown = [...document.querySelectorAll(".opblock-tag")];
    return shown.length === 1 && shown[0].dataset.tag === tag && shown[0];
  });
  if (header.dataset.isOpen === "false") header.click();
  await until("operation", () => document.querySelector(".opblock"));
  const block = document.querySelector(".opblock-get");
  if (!block) return null;
  block.querySelector(".opblock-summary-control").click();
  (await until("button to try", () => block.querySelector(".try-out__btn"))).click();
  await until("id", () => [...block.querySelectorAll("[data-param-in=path] input")].every((each) => each.value));
  const parameters = block.querySelectorAll("tr[data-param-name]").length;
  (await until("button to execute", () => block.querySelector("button.execute"))).click();
  const answer = ".live-responses-table .response .response-col_status";
  const status = await until("answer", () => block.querySelector(answer)?.textContent);
  return [status.slice(0, 3), block.querySelector(".request-url")?.textContent, parameters];
};

const run = async () => {
  for (const tag of tags) answered[tag] = await firstGet(tag).catch((error) => [String(error), "", 0]);
  hasEnded = true;
};
run();
"""
_IS_LOADED = """
const { url, loadingStatus, specJson } = ui.specSelectors;
return url() === arguments[0] && loadingStatus() === "success" && specJson().has("paths");
"""
# The token of the demo client is there after a reload, too.
_IS_AUTHORIZED = """
return !ui.specSelectors.specJson().hasIn(["components", "securitySchemes"]) || ui.authSelectors.authorized()?.size > 0;
"""


def first_requests(window: WebDriver) -> dict[str, tuple[str, str, int]]:
    """What is answered to the first GET of each tag of the shown specification, and the number of its parameters."""
    window.execute_script(_EXECUTE_FIRST_GETS)
    # The script ends: it waits for nothing longer than a minute.
    WebDriverWait(window, 3_600, poll_frequency=1).until(lambda _: window.execute_script("return hasEnded"))
    found = window.execute_script("return answered")
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
    if specification != _MANAGEMENT:
        WebDriverWait(window, 60).until(lambda _: window.execute_script(_IS_AUTHORIZED))


def authorize(window: WebDriver, key: str, secret: str) -> None:
    click(window, ".auth-wrapper .authorize")
    shown(window, "#client_id_clientCredentials").send_keys(key)
    shown(window, "#client_secret_clientCredentials").send_keys(secret)
    click(window, ".modal-ux .auth-btn-wrapper .authorize")
    click(window, ".modal-ux .btn-done")


@pytest.fixture(scope="session")
def urls_of_all() -> ModuleType:
    """The URL map of a server with every API."""
    spec = find_spec("meadowlark.urls")
    assert spec and spec.loader
    module = module_from_spec(spec)
    with override_settings(EDFI_API={**settings.EDFI_API, **_EVERY_API}):
        spec.loader.exec_module(module)
        published = include(metadata.metadata_routes(current_compilation(), api_settings.data_standard))
    module.urlpatterns = [
        path("", published) if getattr(each, "urlconf_name", None) is metadata else each for each in module.urlpatterns
    ]
    return module


@pytest.fixture
def operator(transactional_db: None, urls_of_all: ModuleType) -> Iterator[Credentials]:
    """A server with every API, a profile and a demo client; gives the credentials of its management API."""
    demo = create_client("newcomer", claim_set_name="EdFiSandbox")
    store_profiles(read_definitions(profile_xml("Student", "IncludeAll", "IncludeAll", name="Portal")), by="tests")
    found = create("operator", "operator", [Scope.FULL_ACCESS], by="tests")
    configured = {**settings.EDFI_API, **_EVERY_API, "DOCS_CLIENT": f"{demo.key}:{demo.secret}"}
    with override_settings(ROOT_URLCONF=urls_of_all, EDFI_API=configured):
        yield found


@pytest.mark.long
@pytest.mark.parametrize("specifications", _SPECIFICATIONS, ids=" ".join)
def test_the_first_get_of_every_tag_of_every_specification_is_answered(
    specifications: list[str],
    browser: Browse,
    live_server: Any,
    row_in_every_table: None,
    operator: Credentials,
) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")
    click(window, ".demo-client")
    shown(window, ".auth-wrapper .authorize.locked")

    answers: dict[str, dict[str, tuple[str, str, int]]] = {}
    for each in specifications:
        choose(window, each)
        if each == _MANAGEMENT:
            authorize(window, operator.key, operator.secret)
        answers[each] = first_requests(window)

    refused = {each: found for listed in answers.values() for each, found in listed.items() if found[0] != "200"}
    assert refused == {}
    assert sum(map(len, answers.values())) >= _LEAST_TAGS.get(specifications[0], 20)
    assert answers.get("Batch", {}) == {}
    assert max(found[2] for listed in answers.values() for found in listed.values()) == 12
    assert complaints(window) == []


def test_the_page_offers_no_specification_that_is_not_tried_above(
    browser: Browse, live_server: Any, operator: Credentials
) -> None:
    window = browser(*DESKTOP)
    window.get(f"{live_server.url}/docs")

    offered = [each.text for each in Select(shown(window, "#select")).options]

    assert sorted(offered) == sorted(each for listed in _SPECIFICATIONS for each in listed)


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
