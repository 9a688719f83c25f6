"""Every link of the admin resolves to a page that the user may view."""

import re
from collections import deque
from html import unescape
from urllib.parse import urldefrag, urljoin

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.support.admin_pages import kind_of

# Accepts POST only.
_NOT_FOLLOWED = ("/admin/logout/",)


def test_every_link_for_an_administrator_is_served(row_in_every_table):
    visited, wrong = crawl(User.objects.create_superuser("administrator"))

    assert wrong == []
    assert len(visited) > 100
    assert {"/admin/security/vendor/N/history/", "/admin/change_queries/deleteddocument/?deleted_by"} <= visited


@pytest.mark.parametrize(
    "permissions",
    [
        ["view_document"],
        ["view_document", "delete_document"],
        ["view_deleteddocument"],
        ["view_descriptor"],
        ["view_apiclient", "view_application", "view_vendor", "view_claimset"],
    ],
    ids=", ".join,
)
def test_every_link_for_staff_with_few_permissions_is_served(row_in_every_table, permissions):
    user = User.objects.create_user("steward", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))

    visited, wrong = crawl(user)

    assert wrong == []
    assert len(visited) > 5


def crawl(user: User) -> tuple[set[str], list[str]]:
    """The kinds of pages reachable from the index, and the links that fail. Follows only query strings with one
    parameter: there are too many combinations of filters."""
    client = Client()
    client.force_login(user)
    visited: set[str] = set()
    wrong: list[str] = []
    waiting = deque([("/admin/", "")])
    while waiting:
        address, origin = waiting.popleft()
        kind = kind_of(address)
        if kind in visited or not kind.startswith("/admin/") or kind.startswith(_NOT_FOLLOWED) or "," in kind:
            continue
        visited.add(kind)
        answer = client.get(address, follow=True)
        if answer.status_code != 200:
            wrong.append(f"{origin} -> {address}: {answer.status_code}")
        page = "" if answer.streaming else answer.content.decode()
        links = re.findall(r'<a [^>]*href="([^"]*)"', page)
        waiting.extend((urldefrag(urljoin(address, unescape(link))).url, address) for link in links)
    return visited, wrong
