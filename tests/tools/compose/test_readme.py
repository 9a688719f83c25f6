"""The commands of README.md, from a clone to the first request."""

import re

import httpx
import pytest

from tests.tools.compose.project import Project, student, student_numbers, wait_until
from tests.tools.image.images import TOP

pytestmark = pytest.mark.compose

# Blocks of shell commands, with the sentence before each.
BLOCKS = re.findall(r"([^\n]+)\n\n```sh\n(.+?)```", (TOP / "README.md").read_text(), re.DOTALL)
[START] = [commands for _, commands in BLOCKS if "docker compose" in commands]
[REQUEST] = [commands for _, commands in BLOCKS if "SECRET=..." in commands]
SERVICES = ["database", "exchange", "meadowlark", "schedule"]
OF_THE_IMAGE = ["meadowlark", "schedule", "exchange"]


@pytest.fixture(scope="module")
def printed(project: Project) -> str:
    """What the commands that start the server have printed."""
    return project.shell(START.replace("exec meadowlark", "exec --no-TTY meadowlark"))


def test_three_commands_start_the_server_and_a_first_request_is_answered(project: Project, printed: str) -> None:
    key = re.search(r"^key\s+(\S+)$", printed, re.MULTILINE)[1]
    secret = re.search(r"^secret\s+(\S+)$", printed, re.MULTILINE)[1]

    request = REQUEST.replace("KEY=...", f"KEY={key}").replace("SECRET=...", f"SECRET={secret}")
    answered = project.shell(request.replace("127.0.0.1:8000", f"127.0.0.1:{project.port}"))

    assert "201 Created" in answered
    assert '"lastSurname": "Ortiz"' in answered
    assert sorted(project.services()) == SERVICES
    assert [project.is_well(service) for service in SERVICES] == [True] * 4


@pytest.mark.parametrize("service", OF_THE_IMAGE)
def test_containers_of_the_image_have_no_rights(project: Project, printed: str, service: str) -> None:
    status = dict(re.findall(r"^(\w+):\s+(.+)$", project.execute(service, "cat", "/proc/1/status"), re.MULTILINE))
    writes = "for folder in / /srv/meadowlark /venv /etc; do touch $folder/new 2>&1 || true; done"
    tried = project.execute(service, "sh", "-c", writes).splitlines()

    assert status["Uid"].split() == ["10001"] * 4
    assert {status[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {"0000000000000000"}
    assert status["NoNewPrivs"] == "1"
    assert [line.endswith("Read-only file system") for line in tried] == [True] * 4, tried
    assert project.execute(service, "sh", "-c", "touch /tmp/new $MEADOWLARK_HOME/new && echo written") == "written"


def test_the_server_is_no_superuser_of_its_database(project: Project, printed: str) -> None:
    assert project.query("SELECT rolname, rolsuper FROM pg_roles WHERE rolname LIKE 'meadowlark%' ORDER BY 1") == [
        "meadowlark|f",
        "meadowlark_rules|f",
        "meadowlark_sql|f",
    ]
    assert project.query("SHOW server_encoding") == ["UTF8"]
    assert project.query("SELECT datlocprovider, datlocale FROM pg_database WHERE datname = 'meadowlark'") == [
        "b|C.UTF-8"
    ]


def test_the_port_is_published_on_this_machine_alone(project: Project, printed: str) -> None:
    published = {service: project.state(service)["HostConfig"]["PortBindings"] for service in SERVICES}

    assert published.pop("meadowlark") == {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(project.port)}]}
    assert set(map(str, published.values())) == {"{}"}


def test_data_are_kept_by_down_and_up(project: Project, printed: str) -> None:
    with project.client() as api:
        assert api.post("/data/ed-fi/students", json=student(604823)).status_code == 201
        project.compose("down")
        with pytest.raises(httpx.TransportError):
            api.get("/health/ready")

        project.compose("up", "--wait")

        wait_until(project.is_ready)
        assert 604823 in student_numbers(api, "/data/ed-fi/students")
