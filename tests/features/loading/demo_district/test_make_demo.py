"""`make demo`: the district is stored, examples are accepted, secrets are printed once."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from meadowlark.run import embedded_postgres
from tests.features.loading.demo_district.answers import answers_of
from tests.features.loading.demo_district.conftest import STUDENTS, district_of
from tests.features.loading.demo_district.mistakes import SEARCHES, listed
from tests.features.sql_views.questions import QUESTIONS
from tests.meadowlark.run.make_run import Client, Run
from tests.support.ports import free_port

TOP = Path(__file__).parents[4]
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


def address_of_views(run: Run) -> str:
    [address] = re.findall(r"^The SQL views are at (\S+)$", run.output, re.MULTILINE)
    return address


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


def test_every_question_of_the_page_has_an_answer(demo: Demo) -> None:
    standard, _, run = demo
    if standard != "5.2":
        pytest.skip("the statements are of data standard 5.2")
    address = address_of_views(run)
    assert re.fullmatch(r"postgresql://analyst:\S{20,}@127\.0\.0\.1:\d+/meadowlark", address)
    district = {name.resource: bodies for name, bodies in district_of(standard).bodies.items()}
    # Whom Lakeside SIS has sent.
    district["Student"].append(
        {"studentUniqueId": "91001", "firstName": "Noor", "lastSurname": "Haddad", "birthDate": "2011-10-04"}
    )
    of_lakeside = {"studentReference": {"studentUniqueId": "91001"}, "schoolReference": {"schoolId": 770_000_004}}
    grade = {"entryGradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"}
    district["StudentSchoolAssociation"].append({**of_lakeside, **grade})
    with psycopg.connect(address) as connection:
        answers = {number: connection.execute(statement).fetchall() for number, (_, statement) in QUESTIONS.items()}

    assert len(answers) == 30
    assert {number for number, rows in answers.items() if not rows} == set()
    computed = answers_of(district)
    assert {number: sorted(answers[number], key=str) for number in computed} == {
        number: sorted(rows, key=str) for number, rows in computed.items()
    }


@pytest.mark.parametrize(
    ("role", "database", "reason"),
    [
        ("analyst", "meadowlark", "password authentication failed"),
        ("analyst", "postgres", "no pg_hba.conf entry"),
        ("meadowlark", "meadowlark", "no pg_hba.conf entry"),
        ("postgres", "meadowlark", "no pg_hba.conf entry"),
    ],
)
def test_nobody_else_is_let_in_at_the_port_of_analysts(demo: Demo, role: str, database: str, reason: str) -> None:
    _, _, run = demo
    host_and_port = address_of_views(run).partition("@")[2].partition("/")[0]

    with pytest.raises(psycopg.OperationalError, match=reason):
        psycopg.connect(f"postgresql://{role}:wrong@{host_and_port}/{database}")


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


def open_results(home: Path) -> dict[str, list[str]]:
    """Return by rule what its results say, and about which documents."""
    statement = """
    SELECT v.identifier, concat_ws(' ', r.student, r.natural_key, r.context) FROM validation_result r
      JOIN validation_rule v ON v.id = r.rule_id WHERE r.resolved_at IS NULL
    """
    found: dict[str, list[str]] = {}
    with psycopg.connect(embedded_postgres.url(home)) as connection:
        for rule, text in connection.execute(statement):
            found.setdefault(rule, []).append(text)
    return found


def test_each_error_is_found_by_the_rule_that_the_page_names(demo: Demo) -> None:
    standard, home, _ = demo
    others = {"6.1": {"ST-401": "ST-402"}, "4.0": {"D-5": "D-6"}, "3.3.1-b": {"D-5": "D-6"}}.get(standard, {})
    district = {name.resource: bodies for name, bodies in district_of(standard).bodies.items()}
    of_the_district = {
        name: [body for body in bodies if "604822" not in str(body)]
        for name, bodies in district.items()
        if name.startswith(("Student", "Staff", "Grade"))
    }
    results = open_results(home)

    missed = {
        description: rule
        for (description, rule), search in zip(listed(), SEARCHES, strict=True)
        for [error] in [search(of_the_district)]
        if not any(key in text for key in keys_in(error) for text in results.get(others.get(rule, rule), []))
    }
    assert missed == {}


def keys_in(error: Any) -> set[str]:
    """Unique ids of students, the names of a person, and identifiers of sections, as results have them."""
    text = str(error)
    return {
        *re.findall(r"\b7[79]\d{6}\b", text),
        *(f"sectionIdentifier={section}" for section in re.findall(r"'sectionIdentifier': '([^']+)'", text)),
        *(["79000001"] if isinstance(error, tuple) else []),
    }


def test_vendors_have_sent_what_was_refused_and_one_refusal_is_mended(demo: Demo) -> None:
    _, home, _ = demo
    statement = "SELECT resource, status, resolution FROM refusal ORDER BY resolution, status"
    deadline = time.monotonic() + 20
    refused: list[tuple[Any, ...]] = []
    while not refused or (refused[0][2] is None and time.monotonic() < deadline):
        time.sleep(0.2)
        with psycopg.connect(embedded_postgres.url(home)) as connection:
            refused = connection.execute(statement).fetchall()

    enrollments = "/ed-fi/studentSchoolAssociations"
    assert [each[:2] for each in refused] == [
        (enrollments, 409),
        ("/ed-fi/studentSchoolAttendanceEvents", 400),
        (enrollments, 409),
    ]
    assert [each[2] is not None for each in refused] == [True, False, False]


def test_the_example_of_a_put_is_accepted_with_the_id_of_its_url(demo: Demo) -> None:
    _, _, run = demo
    client = api(run)
    [student] = client.get("/ed-fi/students?studentUniqueId=604822").json()
    body = example(documented(run)["/ed-fi/students/{id}"]["put"]) | {"id": student["id"], "firstName": "May"}

    assert client.put(f"/ed-fi/students/{student['id']}", json=body).status_code == 204


def test_the_database_is_reached_by_the_printed_address_and_by_dbshell(demo: Demo) -> None:
    standard, home, run = demo
    [address] = re.findall(r"^psql and pg_dump find the database at (\S+)$", run.output, re.MULTILINE)
    with psycopg.connect(address) as connection:
        asked = connection.execute("SELECT current_user, current_database()").fetchone()

    # A machine without a psql of its own.
    places = {"MEADOWLARK_HOME": str(home), "MEADOWLARK_DATA_STANDARD": standard, "DATABASE_URL": "", "PATH": "/sbin"}
    command = [sys.executable, "manage.py", "dbshell", "--", "--no-psqlrc", "-At", "-c", "SELECT current_user"]
    shell = subprocess.run(command, cwd=TOP, env=os.environ | places, capture_output=True, text=True, check=False)

    assert asked == ("meadowlark", "meadowlark")
    assert (shell.stdout, shell.stderr) == ("meadowlark\n", "")


@pytest.mark.long
def test_a_second_start_keeps_everything_and_prints_no_secret(demo: Demo) -> None:
    standard, home, first = demo
    if standard != "5.2":
        pytest.skip("once is enough")
    (key, secret), admin_password = first.credentials(), password(first)
    assert "How complete is each school?" in admin_page(first.address, admin_password)
    assert f"with this in front of them: MEADOWLARK_HOME={home} " in first.output
    assert first.stop(signal.SIGTERM) == 0

    second = Run(home, free_port(), "--demo", str(STUDENTS))  # The district is that of the first start.
    try:
        second.wait_until_served()
        assert len(Client(second.address, key, secret).get("students", limit=500)) > 190
        assert "demo district" not in second.output
        assert secret in httpx.get(f"{second.address}/docs").text  # For a button; the file is its owner's.
        assert (home / "demo_client").stat().st_mode & 0o777 == 0o600
        assert address_of_views(second).partition("@")[0] == address_of_views(first).partition("@")[0]
        assert (
            f"for programs of this account, at postgresql://analyst@/meadowlark?host={home}/postgres\n" in second.output
        )
        assert (home / "reader_password").stat().st_mode & 0o777 == 0o600
        assert secret not in second.output and admin_password not in second.output
        assert "How complete is each school?" in admin_page(second.address, admin_password)
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
