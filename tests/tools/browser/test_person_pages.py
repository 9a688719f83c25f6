"""The page of a student, as somebody uses it who is asked who has changed a mark."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from selenium.webdriver.common.by import By

from edfi_api.core.models import Document
from tests.conftest import ApiTestClient, new_token
from tests.support.factories import DocumentFactory
from tests.tools.browser.conftest import Browse
from tests.tools.browser.windows import log_in, overhang, shown

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("size", [(1400, 900), (400, 844)])
def test_who_changed_a_mark_is_one_click_away_from_the_student(
    size: tuple[int, int], browser: Browse, live_server: Any, documents: DocumentFactory, resource_named: Any
) -> None:
    documents.store(resource_named("Grade"))
    api = ApiTestClient(new_token())
    [grade] = api.get("/grades").json()
    for mark in (87, 91):
        assert api.put(f"/grades/{grade['id']}", grade | {"numericGradeEarned": mark}).status_code == 204
    User.objects.create_superuser("steward", password="correct horse battery")
    window = browser(*size)
    log_in(window, live_server.url, "steward", "correct horse battery")
    row = Document.objects.get(resource_type__name="Student").pk
    window.get(f"{live_server.url}/admin/edfi_api/document/{row}/change/")
    too_wide = overhang(window)

    shown(window, "#schedule")
    window.find_element(By.LINK_TEXT, "91").click()
    versions = shown(window, "#content").text

    assert too_wide <= 0
    assert "by tests" in versions
    assert "87" in versions and "91" in versions
