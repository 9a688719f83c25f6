"""Pages of a table with a million rows read no more than those of one with a quarter of them, or than the rows that are
counted for a heading.

By default the pages of small tables are requested. `--large-tables` takes a million rows, and prints what each page
reads at either size, and how long PostgreSQL works at the larger.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from edfi_api.core.security.models import ApiClient
from edfi_api.web.admin_kit.read_only import ROWS_COUNTED
from tests.conftest import ApiTestClient, new_token
from tests.core.queries.touched import touched
from tests.features.validation.conftest import student
from tests.support.admin_users import client_of
from tests.tools.large_tables.filling import Clients, fill
from tests.tools.large_tables.requests import SUBMISSIONS, VALIDATION, pages_of_the_admin

pytestmark = pytest.mark.django_db

_SMALL, _LARGE, _OPEN = 250_000, 1_000_000, 100_000
# Index entries and rows, of those that are counted and of those before the last page; without a total of a page and of
# the nearest results, which are looked at to find it.
_BOUNDED = 4 * ROWS_COUNTED
_BOUNDED_WITHOUT_TOTAL = 10_000
_NOISE = 2_000
# Filters of refusals that are not open, and by texts, have no index: at worst each row is read for the count, and
# for the page.
_WITHOUT_INDEX = re.compile(
    r"refusals/refusal/.*(state=(all|resolved).*(resource|problem|status|last_at)="
    r"|(resource|problem|status|last_at\w*)=.*state=(all|resolved))"
    r"|submissions/.*(state=all|since=2090)|validationResults.*message="
)
_TIMES_READ = 4
_MILLISECONDS_OF_A_TICK = 10

Request = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Cost:
    """Rows and index entries that a page reads, and milliseconds of PostgreSQL's processor time."""

    rows: int
    milliseconds: int


@pytest.fixture
def pages(api, recorder) -> "Pages":
    student(api, "A")
    return Pages(api, ApiTestClient(new_token("school", "SISVendor", education_organization_ids=[78])))


class Pages:
    """All pages, as a user of the admin, as a client that may read everything, and as one of a school."""

    def __init__(self, api: ApiTestClient, school: ApiTestClient) -> None:
        self._steward = client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))
        self._clients = {"all": api, "school": school}
        rows = dict(ApiClient.objects.values_list("name", "pk"))
        self._senders = Clients(rows["tests"], rows["school"])

    def with_rows(self, rows: int, open_refusals: int) -> list[tuple[str, Request]]:
        """By name, the request of each page, with so many rows in each table."""
        fill(rows, open_refusals, self._senders)
        return [(f"{user} {page}", partial(_answer, client, page)) for user, client, page in self._all()]

    def _all(self) -> Iterator[tuple[str, Any, str]]:
        yield from (("admin", self._steward, page) for page in pages_of_the_admin(self._steward))
        yield from (("all", self._clients["all"], f"/submissions/v1/{query}") for query in SUBMISSIONS)
        for user, client in self._clients.items():
            yield from ((user, client, f"/validation/v1/validationResults{query}") for query in VALIDATION)


@pytest.mark.long
def test_each_page_is_answered(pages) -> None:
    for _, request in pages.with_rows(20, 10):
        request()


@pytest.mark.long
def test_pages_of_large_tables(pages) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")  # Their time is that of other processes.
    small, large = ({name: _cost(page) for name, page in pages.with_rows(rows, _OPEN)} for rows in (_SMALL, _LARGE))
    shared = sorted(small.keys() & large.keys())
    for page in shared:
        print(f"{small[page].rows:>9,} {large[page].rows:>9,} {large[page].milliseconds:>5} ms  {page}")

    assert len(shared) > 100
    assert [page for page in shared if large[page].rows > _most(page, small[page])] == []


def _most(page: str, small: Cost) -> float:
    if _WITHOUT_INDEX.search(page):
        return _TIMES_READ * _LARGE
    bounded = _BOUNDED_WITHOUT_TOTAL if "/validation/v1/" in page else _BOUNDED
    return max(bounded, 1.25 * small.rows + _NOISE)


def _answer(client: Any, page: str) -> None:
    answer = client.get(page)
    assert answer.status_code == 200, (page, answer.content)


def _cost(page: Request) -> Cost:
    """Of the second of two requests."""
    page()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [process] = cursor.fetchone()
    before = _milliseconds(process)
    rows = touched(page).rows
    return Cost(rows, _milliseconds(process) - before)


def _milliseconds(process: int) -> int:
    """The processor time of a process; 0 if it is one of another machine."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) * _MILLISECONDS_OF_A_TICK
