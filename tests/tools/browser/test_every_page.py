"""A crawl of all HTML pages: none fails or causes messages in the browser's console."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.tools.browser.conftest import Browse
from tests.tools.browser.crawling import crawl
from tests.tools.browser.windows import DESKTOP, log_in

pytestmark = pytest.mark.browser


def test_no_page_fails_or_logs_to_the_console(
    browser: Browse,
    live_server: Any,
    row_in_every_table: None,
) -> None:
    User.objects.create_superuser("operator", password="correct horse battery")
    window = browser(*DESKTOP)
    log_in(window, live_server.url, "operator", "correct horse battery")

    visited, wrong = crawl(window, live_server.url)

    assert wrong == []
    assert {"/", "/docs", "/guides", "/metadata", "/health", "/admin/edfi_api/document/N/change/"} <= visited
    assert 50 < len(visited) < 150
