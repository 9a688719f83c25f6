"""Tables on a real server: uploads beyond its bounds, and a worker that is killed while it loads one."""

import http.client
from collections.abc import Callable, Iterator
from contextlib import closing
from http.cookies import SimpleCookie
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from tests.support.ports import is_answering
from tests.whole.robustness.real_server import RealServer
from tests.whole.robustness.waiting import wait_until

LIST = "/admin/tables/tableload/"
PASSWORD = "a lark ascends at dawn"
_USER = f"""
from django.contrib.auth.models import User
from edfi_api.core.security.models import ApiClient
User.objects.create_superuser("office", password="{PASSWORD}")
print(ApiClient.objects.order_by("pk").first().pk)
"""


pytestmark = pytest.mark.long


class Shown(NamedTuple):
    status: int
    location: str
    text: str


class Office:
    """A signed-in user of the admin, and the client of its server."""

    def __init__(self, server: RealServer) -> None:
        self._port = server.port
        self.client = server.manage("shell", "-v", "0", "-c", _USER).decode().strip()
        self._cookies = SimpleCookie({"csrftoken": "c" * 32})
        self.post("/admin/login/", username="office", password=PASSWORD)

    def post(self, path: str, content: bytes = b"", **fields: str) -> Shown:
        """A form, with a file if it has a content."""
        parts = [
            f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in {"csrfmiddlewaretoken": self._cookies["csrftoken"].value, **fields}.items()
        ]
        body = "".join(parts).encode()
        if content:
            body += b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n' + content + b"\r\n"
        headers = {
            "Cookie": self._cookies.output([], "", ";"),
            "Accept": "text/html",
            "Content-Type": "multipart/form-data; boundary=b",
        }
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
            connection.request("POST", path, body + b"--b--\r\n", headers)
            answer = connection.getresponse()
            for each in answer.headers.get_all("Set-Cookie") or ():
                self._cookies.load(each)
            return Shown(answer.status, answer.headers["Location"] or "", answer.read().decode())

    def upload(self, content: bytes) -> Shown:
        return self.post(LIST, content, resource="/ed-fi/students", client=self.client)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]) -> Iterator[RealServer]:
    with RealServer(prepared_home(tmp_path_factory.mktemp("server") / "home"), MEADOWLARK_WORKERS="1") as running:
        yield running


@pytest.fixture(scope="module")
def office(server: RealServer) -> Office:
    return Office(server)


def students(number: int) -> bytes:
    rows = [f"t{each},Mae,Ortiz,2010-02-03" for each in range(number)]
    return "\n".join(["Student Unique Id,First Name,Last Surname,Birth Date", *rows, ""]).encode()


def test_a_file_beyond_the_bounds_is_refused_in_words_and_never_taken_in_part(server, office):
    rows = students(1_000)
    longest = 10 * 2**20

    kept = office.upload(rows.ljust(longest, b"\n"))
    longer = office.upload(rows.ljust(longest + 1, b"\n"))
    far_longer = office.upload(rows.ljust(24 * 2**20, b"\n"))

    assert kept.status == 302
    assert "It is longer than 10.0\xa0MB." in longer.text
    assert far_longer.status == 413
    assert "The request body is larger than this server accepts." in far_longer.text
    assert "</html>" in far_longer.text
    with psycopg.connect(server.database_url) as database:
        assert database.execute("SELECT length(content) FROM table_load").fetchall() == [(longest,)]


def test_a_load_whose_worker_is_killed_is_started_again_and_ends_with_all_rows(server, office):
    columns = office.upload(students(4_000)).location
    load = columns.removesuffix("columns/")
    with psycopg.connect(server.database_url, autocommit=True) as database:

        def progress() -> tuple[str, int, int]:
            facts = "SELECT state, created, created + updated + unchanged + refused FROM table_load WHERE key = %s"
            return database.execute(facts, [load.rstrip("/").rpartition("/")[2]]).fetchone()

        assert office.post(f"{load}run/", do="load").status == 302
        wait_until(lambda: progress()[1] > 0, 30)
        [worker] = server.workers()
        worker.kill()
        state, created, _ = progress()
        database.execute("UPDATE table_load SET reported_at = reported_at - interval '2 minutes'")
        wait_until(lambda: is_answering(server.port), 30)
        assert office.post(f"{load}run/", do="load").status == 302
        wait_until(lambda: progress()[0] == "done", 60)

        assert (state, created < 4_000) == ("running", True)
        # What the worker had written and not yet counted is unchanged.
        assert progress()[2] == 4_000
        assert created <= 4_000 - progress()[1] <= created + 100
        assert server.stored_student_ids() >= {f"t{number}" for number in range(4_000)}
