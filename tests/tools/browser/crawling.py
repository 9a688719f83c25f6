"""From page to page by their links."""

from collections import deque
from collections.abc import Callable
from urllib.parse import urldefrag, urlsplit

from selenium.webdriver.remote.webdriver import WebDriver

from tests.support.admin_pages import kind_of
from tests.tools.browser.windows import complaints

# Logs the user out, or is not a page.
_NOT_FOLLOWED = ("/admin/logout/", "/static/")


def crawl(
    window: WebDriver, server: str, look: Callable[[WebDriver], list[str]] = complaints
) -> tuple[set[str], list[str]]:
    """The kinds of pages reachable by links without a query string, with their failures and what `look` finds."""
    visited: set[str] = set()
    wrong: list[str] = []
    waiting = deque([f"{server}/", f"{server}/admin/"])
    while waiting:
        address = waiting.popleft()
        kind = kind_of(address)
        if kind in visited or kind.startswith(_NOT_FOLLOWED) or urlsplit(address).query:
            continue
        visited.add(kind)
        window.get(address)
        status = window.execute_script("return performance.getEntriesByType('navigation')[0].responseStatus")
        wrong += [f"{address}: {status}"] if status != 200 else []
        wrong += [f"{address}: {each}" for each in look(window)]
        links = window.execute_script("return Array.from(document.querySelectorAll('a[href]'), link => link.href)")
        waiting.extend(urldefrag(link).url for link in links if link.startswith(f"{server}/"))
    return visited, wrong
