"""Every command and request of README and of the pages for users works as written."""

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import httpx
import pytest

from tests.meadowlark.run.make_run import Run
from tests.meadowlark.run.pages import Step, disagreements, environment_of_a_newcomer, run, steps
from tests.meadowlark.run.terminal import answered
from tests.support.ports import free_port

TOP = Path(__file__).parents[3]
README = TOP / "README.md"
FIRST_STEPS = TOP / "meadowlark/docs/start/first-steps.md"
CALLING = TOP / "meadowlark/docs/use/calling-the-api.md"
EXTENSIONS = TOP / "meadowlark/docs/operate/extensions.md"
PROFILES = TOP / "meadowlark/docs/operate/profiles.md"

# Not run: the first two are started by the tests, the other is the environment of a test.
_DONE = ("make demo\n", "make run\n", "make test\n")
# Interactive, so it has a separate test.
_INTERACTIVE = ".venv/bin/python manage.py createsuperuser\n"

# `docker compose exec meadowlark python ...` as a command of this machine.
_DOCKER = """
docker() {
  case "$*" in
    "compose --file docker/compose.yaml up --build --wait") ;;
    "compose --file docker/compose.yaml exec meadowlark python "*) shift 6; .venv/bin/python "$@" ;;
    *) return 1 ;;
  esac
}
"""
_SAMPLES = {
    "Descriptors/SexDescriptor.xml": "<InterchangeDescriptors xmlns='http://ed-fi.org/5.2.0'><SexDescriptor>"
    "<CodeValue>X</CodeValue><ShortDescription>X</ShortDescription><Namespace>uri://ed-fi.org/SexDescriptor</Namespace>"
    "</SexDescriptor></InterchangeDescriptors>",
    "Samples/Sample XML/Student.xml": "<InterchangeStudent xmlns='http://ed-fi.org/5.2.0'><Student>"
    "<StudentUniqueId>604833</StudentUniqueId><Name><FirstName>Sam</FirstName><LastSurname>Ple</LastSurname></Name>"
    "<BirthData><BirthDate>2010-02-03</BirthDate></BirthData></Student></InterchangeStudent>",
}


class Served:
    """A server started by `make run`."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        self.run = Run(home, free_port(), **variables)

    def __enter__(self) -> Self:
        self.run.wait_until_served()
        return self

    def __exit__(self, *_: object) -> None:
        self.run.stop(signal.SIGTERM)

    def page(self, path: Path, **others: str) -> list[Step]:
        """The steps of a page, with the address, key and secret of this server; `others` are replaced too."""
        text = path.read_text().replace("http://127.0.0.1:8000", self.run.address)
        for name in ("key", "secret"):
            [value] = re.findall(rf"^  {name} +(\S+)$", self.run.output, re.MULTILINE)
            text = text.replace(f"{name.upper()}=...", f"{name.upper()}={value}")
        for written, here in others.items():
            text = text.replace(written, here)
        return steps(text)


def environment(home: Path) -> dict[str, str]:
    """The environment of a user with a new checkout and this home."""
    return environment_of_a_newcomer() | {"MEADOWLARK_HOME": str(home)}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]) -> Iterator[Served]:
    with Served(prepared_home(tmp_path_factory.mktemp("pages") / "home")) as server:
        yield server


def test_the_page_about_calling_the_api(served: Served) -> None:
    page = served.page(CALLING)

    outputs = run(page, environment(served.home), TOP)

    assert len(page) > 20
    assert disagreements(page, outputs) == []


@pytest.mark.long
def test_the_page_about_profiles(served: Served, tmp_path: Path) -> None:
    page = served.page(PROFILES, **{"../profiles": str(tmp_path / "profiles")})

    outputs = run(page, environment(served.home), TOP)

    assert len(page) > 8
    assert disagreements(page, outputs) == []


def test_the_readme(served: Served, tmp_path: Path) -> None:
    page = served.page(README, **{"docker/.env": str(tmp_path / ".env")})
    commands = [step for step in page if step.commands not in _DONE]

    docker, first_request = run(commands, environment(served.home), TOP, _DOCKER)

    assert (tmp_path / ".env").read_text().startswith("POSTGRES_PASSWORD=")
    assert re.search(r"^secret +\S{40}", docker, re.MULTILINE)
    assert "201 Created" in first_request and '"lastSurname": "Ortiz"' in first_request


def test_the_page_about_first_steps(served: Served, tmp_path: Path) -> None:
    samples = tmp_path / "Ed-Fi-Data-Standard"
    for name, text in _SAMPLES.items():
        (samples / name).parent.mkdir(parents=True, exist_ok=True)
        (samples / name).write_text(text)
    page = served.page(FIRST_STEPS, **{"Ed-Fi-Data-Standard/": f"{samples}/"})
    commands = [step for step in page if step.commands != _INTERACTIVE]

    district, samples_of_ed_fi = run(commands, environment(served.home), TOP)

    assert re.search(r"^School +5 +0 +0 +0$", district, re.MULTILINE)
    assert "descriptors: 1 created" in samples_of_ed_fi and re.search(r"Student +1 +0 +0 +0\n", samples_of_ed_fi)


def test_the_command_of_first_steps_creates_an_administrator(served: Served) -> None:
    [command] = [step.commands for step in served.page(FIRST_STEPS) if step.commands == _INTERACTIVE]

    output = answered(
        command, environment(served.home), "steward", "s@example.org", "a long password", "a long password"
    )

    assert "Superuser created successfully." in output
    with httpx.Client(base_url=served.run.address, follow_redirects=True) as browser:
        form = {"username": "steward", "password": "a long password", "next": "/admin/"}
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/admin/").text)
        headers = {"Referer": f"{served.run.address}/admin/login/"}
        page = browser.post("/admin/login/", data=form | {"csrfmiddlewaretoken": token[1]}, headers=headers)
    assert "<title>Today | " in page.text


@pytest.mark.long
def test_the_page_about_extensions(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> None:
    folder, home = str(tmp_path / "lake-county"), prepared_home(tmp_path / "home")
    written = steps(EXTENSIONS.read_text().replace("../lake-county", folder))
    [serving] = [number for number, step in enumerate(written) if "make run" in step.commands]
    assert written[serving].commands == f"MEADOWLARK_EXTENSIONS={folder} make run\n"

    before = written[:serving]
    assert disagreements(before, run(before, environment(home), TOP)) == []
    with Served(home, MEADOWLARK_EXTENSIONS=folder) as server:
        after = server.page(EXTENSIONS, **{"../lake-county": folder})[serving + 1 :]
        assert disagreements(after, run(after, environment(home), TOP)) == []
