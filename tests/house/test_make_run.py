"""`make run` as a newcomer meets it: a home of its own, a port of its own, and everything gone when it stops."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil

from tests.ports import free_port

TOP = Path(__file__).parents[2]
SCHOOL = {
    "schoolId": 122,
    "nameOfInstitution": "Lark Meadow High School",
    "educationOrganizationCategories": [
        {"educationOrganizationCategoryDescriptor": "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"}
    ],
    "gradeLevels": [{"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"}],
}


class Run:
    """One `python -m meadowlark.run`, which is all that `make run` does once the environment is installed."""

    def __init__(self, home: Path, port: int, **variables: str) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self._output = home.with_suffix(".out")
        ours = {"MEADOWLARK_HOME": str(home), "MEADOWLARK_PORT": str(port), "MEADOWLARK_WORKERS": "1"}
        inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        with self._output.open("w") as output:
            command = [sys.executable, "-m", "meadowlark.run"]
            environment = inherited | ours | variables
            self.process = subprocess.Popen(
                command, cwd=TOP, env=environment, stdout=output, stderr=output, start_new_session=True
            )

    @property
    def told(self) -> str:
        return self._output.read_text()

    def wait_until_served(self) -> None:
        deadline = time.monotonic() + 120
        while "A first request" not in self.told:
            assert self.process.poll() is None and time.monotonic() < deadline, self.told
            time.sleep(0.05)

    def stop(self, number: signal.Signals) -> int:
        """Its exit status, after nothing that it started is left."""
        family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(number)
        status = self.process.wait(60)
        assert [process for process in family if process.is_running()] == []
        return status


class Client:
    """Speaks to a run with a key and secret that it printed."""

    def __init__(self, address: str, key: str, secret: str) -> None:
        answer = httpx.post(f"{address}/oauth/token", auth=(key, secret), data={"grant_type": "client_credentials"})
        self._data = httpx.Client(
            base_url=f"{address}/data/ed-fi", headers={"Authorization": f"Bearer {answer.json()['access_token']}"}
        )

    def post(self, endpoint: str, body: object) -> int:
        return self._data.post(f"/{endpoint}", json=body).status_code

    def get(self, endpoint: str, **query: object) -> list[dict[str, object]]:
        return self._data.get(f"/{endpoint}", params=query).json()


def test_a_fresh_home_serves_and_a_second_run_keeps_its_data(tmp_path: Path) -> None:
    home = tmp_path / "home"

    first = Run(home, free_port())
    first.wait_until_served()
    [key] = re.findall(r"^  key +(\S+)$", first.told, re.MULTILINE)
    [secret] = re.findall(r"^  secret +(\S+)$", first.told, re.MULTILINE)
    client = Client(first.address, key, secret)
    assert client.get("schoolYearTypes", schoolYear=2026)[0]["currentSchoolYear"] is True
    assert client.post("schools", SCHOOL) == 201
    assert first.stop(signal.SIGTERM) == 0

    second = Run(home, free_port())
    beside = Run(tmp_path / "beside", free_port())
    second.wait_until_served()
    beside.wait_until_served()
    client = Client(second.address, key, secret)
    assert client.post("schools", SCHOOL) == 200
    assert client.get("schools")[0]["nameOfInstitution"] == "Lark Meadow High School"
    assert secret not in second.told
    assert key not in beside.told
    assert second.stop(signal.SIGINT) == 0
    assert beside.stop(signal.SIGTERM) == 0


def test_a_taken_port_is_a_reason_not_a_traceback(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        run = Run(tmp_path / "home", port)

        assert run.process.wait(60) == 1
    assert f"Port {port} on 127.0.0.1 cannot be used" in run.told
    assert "Traceback" not in run.told


def test_an_unreachable_database_is_a_reason_not_a_traceback(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", free_port(), DATABASE_URL="postgresql://nobody:hidden@127.0.0.1:1/nothing")

    assert run.process.wait(60) == 1
    assert "The database cannot be used" in run.told
    assert "hidden" not in run.told
    assert "Traceback" not in run.told


def test_an_impossible_port_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", 0)

    assert run.process.wait(60) == 1
    assert run.told == "MEADOWLARK_PORT is '0'; it must be a port number, 1 to 65535.\n"
