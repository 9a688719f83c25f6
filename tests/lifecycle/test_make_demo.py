"""`make demo` as a newcomer meets it: a district to look at, with secrets that are printed once."""

import re
import signal
from pathlib import Path

import httpx

from tests.lifecycle.make_run import Client, Run
from tests.ports import free_port


def test_a_district_is_served_with_an_administrator_and_a_client(tmp_path: Path) -> None:
    home = tmp_path / "home"

    first = Run(home, free_port(), "--demo", "200")
    first.wait_until_served()
    key, secret = first.credentials()
    [password] = re.findall(r"^  password +(\S+)$", first.told, re.MULTILINE)
    client = Client(first.address, key, secret)
    schools = client.get("schools", nameOfInstitution="Lark Meadow High School")
    assert [school["schoolId"] for school in schools] == [770_000_004]
    assert len(client.get("students", limit=500)) > 190
    assert "Documents by resource" in admin_page(first.address, "admin", password)
    assert f"MEADOWLARK_HOME={home} in front of them" in first.told
    assert first.stop(signal.SIGTERM) == 0

    second = Run(home, free_port(), "--demo", "200")
    second.wait_until_served()
    client = Client(second.address, key, secret)
    assert len(client.get("students", limit=500)) > 190
    assert "demo district" not in second.told
    assert secret not in second.told and password not in second.told
    assert "Documents by resource" in admin_page(second.address, "admin", password)
    assert second.stop(signal.SIGTERM) == 0


def admin_page(address: str, user: str, password: str) -> str:
    """The first page of the admin, after logging in."""
    with httpx.Client(base_url=address, follow_redirects=True) as browser:
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/admin/").text)
        assert token
        form = {"username": user, "password": password, "next": "/admin/", "csrfmiddlewaretoken": token[1]}
        return browser.post("/admin/login/", data=form, headers={"Referer": f"{address}/admin/login/"}).text


def test_the_district_does_not_go_into_a_database_of_others(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", free_port(), "--demo", DATABASE_URL="postgresql://127.0.0.1:1/production")

    assert run.process.wait(60) == 1
    assert run.told == "DATABASE_URL is set. The demo has a database of its own: unset DATABASE_URL.\n"


def test_a_number_of_students_that_cannot_be_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", free_port(), "--demo", "7")

    assert run.process.wait(120) == 1
    assert "7 is not between 200 and 50000" in run.told
    assert "Traceback" not in run.told
