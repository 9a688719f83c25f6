"""`make demo`: the district is stored, examples are accepted, secrets are printed once."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.demo_district.conftest import STUDENTS, district_of
from tests.lifecycle.make_run import Client, Run
from tests.ports import free_port

TOP = Path(__file__).parents[2]
Demo = tuple[str, Path, Run]


def api(run: Run) -> httpx.Client:
    """A client whose paths are relative to `/data`."""
    form = {"grant_type": "client_credentials"}
    token = httpx.post(f"{run.address}/oauth/token", auth=run.credentials(), data=form).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=f"{run.address}/data", headers=headers, timeout=60)


def documented(run: Run) -> dict[str, dict[str, Any]]:
    """The path items of the resources and the descriptors."""
    names = ("resources-spec.json", "descriptors-spec.json")
    documents = (httpx.get(f"{run.address}/metadata/specifications/{name}", timeout=60).json() for name in names)
    return {path: item for document in documents for path, item in document["paths"].items()}


def example(operation: dict[str, Any]) -> dict[str, Any]:
    return operation["requestBody"]["content"]["application/json"]["example"]


def admin_page(address: str, password: str) -> str:
    """The first page of the admin, after logging in."""
    with httpx.Client(base_url=address, follow_redirects=True, timeout=60) as browser:
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/admin/").text)
        assert token
        form = {"username": "admin", "password": password, "next": "/admin/", "csrfmiddlewaretoken": token[1]}
        return browser.post("/admin/login/", data=form, headers={"Referer": f"{address}/admin/login/"}).text


def password(run: Run) -> str:
    [output] = re.findall(r"^  password +(\S+)$", run.output, re.MULTILINE)
    return output


def test_the_whole_district_is_accepted_and_intact(demo: Demo) -> None:
    standard, home, run = demo
    generated = {name.resource: bodies for name, bodies in district_of(standard).bodies.items()}

    counted = api(run).get("/ed-fi/studentSchoolAttendanceEvents?totalCount=true&limit=0").headers["Total-Count"]
    assert int(counted) == len(generated["StudentSchoolAttendanceEvent"])
    schools = api(run).get("/ed-fi/schools?nameOfInstitution=Lark Meadow High School").json()
    assert [school["schoolId"] for school in schools] == [770_000_004]

    environment = os.environ | {"MEADOWLARK_HOME": str(home), "MEADOWLARK_DATA_STANDARD": standard, "DATABASE_URL": ""}
    command = [sys.executable, "manage.py", "verify_integrity"]
    subprocess.run(command, cwd=TOP, env=environment, check=True, capture_output=True)


def test_every_example_is_accepted_in_load_order(demo: Demo) -> None:
    standard, _, run = demo
    paths, client = documented(run), api(run)
    order = [step["resource"] for step in httpx.get(f"{run.address}/metadata/data/v3/dependencies").json()]
    examples = {path: example(item["post"]) for path, item in paths.items() if "post" in item}

    # School years are not in the load order, since they have no references.
    answers = {path: client.post(path, json=examples[path]) for path in ("/ed-fi/schoolYearTypes", *order)}

    assert len(examples) == len(answers) == {"3.3.1-b": 297, "4.0": 314, "5.2": 349, "6.1": 472}[standard]
    assert {path: answer.text for path, answer in answers.items() if answer.status_code not in (200, 201)} == {}
    assert answers["/ed-fi/students"].status_code == 200
    assert answers["/ed-fi/studentSchoolAttendanceEvents"].status_code == 201
    assert not any("id" in body for body in examples.values())


def test_the_example_of_a_put_is_accepted_with_the_id_of_its_url(demo: Demo) -> None:
    _, _, run = demo
    client = api(run)
    [student] = client.get("/ed-fi/students?studentUniqueId=604822").json()
    body = example(documented(run)["/ed-fi/students/{id}"]["put"]) | {"id": student["id"], "firstName": "May"}

    assert client.put(f"/ed-fi/students/{student['id']}", json=body).status_code == 204


def test_a_second_start_keeps_everything_and_prints_no_secret(demo: Demo) -> None:
    standard, home, first = demo
    if standard != "5.2":
        pytest.skip("once is enough")
    (key, secret), admin_password = first.credentials(), password(first)
    assert "Documents by resource" in admin_page(first.address, admin_password)
    assert f"with this in front of them: MEADOWLARK_HOME={home} " in first.output
    assert first.stop(signal.SIGTERM) == 0

    second = Run(home, free_port(), "--demo", str(STUDENTS))
    try:
        second.wait_until_served()
        assert len(Client(second.address, key, secret).get("students", limit=500)) > 190
        assert "demo district" not in second.output
        assert secret not in second.output and admin_password not in second.output
        assert "Documents by resource" in admin_page(second.address, admin_password)
    finally:
        assert second.stop(signal.SIGTERM) == 0


def test_the_district_is_not_loaded_into_a_configured_database(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", free_port(), "--demo", DATABASE_URL="postgresql://127.0.0.1:1/production")

    assert run.process.wait(60) == 1
    assert run.output == "DATABASE_URL is set. The demo has a database of its own: unset DATABASE_URL.\n"


def test_an_invalid_number_of_students_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", free_port(), "--demo", "7")

    assert run.process.wait(120) == 1
    assert "7 is not between 200 and 50000" in run.output
    assert "Traceback" not in run.output
