"""The page for integrators as it is written: its commands, in their order, against the sandbox that it begins with."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.ports import free_port
from tests.whole.robustness.waiting import wait_until

pytestmark = pytest.mark.long
TOP = Path(__file__).parents[3]
PAGE = TOP / "meadowlark/docs/start/for-integrators.md"
REQUESTS = TOP / "meadowlark/docs/use/requests"
COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)


class Running(NamedTuple):
    home: str
    environment: dict[str, str]
    address: str
    key: str
    secret: str

    def shell(self, command: str) -> str:
        """The output of a command of the page, in the folder of the checkout."""
        command = command.replace(".sandboxes/lakeside", self.home).replace(".venv/bin/python", sys.executable)
        given = f"API={self.address}\nKEY={self.key}\nSECRET={self.secret}\n"
        ended = subprocess.run(
            ["bash", "-euc", given + command],
            cwd=TOP,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr + ended.stdout
        return ended.stdout


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """What the first command of the page starts; `make` runs this module of Meadowlark, in another home and port."""
    assert COMMANDS[0] == "make sandbox NAME=lakeside SHAPE=sis\n"
    assert "meadowlark.run --sandbox $(NAME) --shape $(SHAPE)" in (TOP / "Makefile").read_text()
    home, port = str(tmp_path_factory.mktemp("sandbox") / "home"), free_port()
    environment = {**os.environ, "MEADOWLARK_HOME": home, "MEADOWLARK_PORT": str(port)}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, "-m", "meadowlark.run", "--sandbox", "lakeside", "--shape", "sis"]
    log = Path(home).with_name("output")
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=TOP, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:

        def is_up() -> bool:
            assert process.poll() is None, log.read_text()
            return "/submissions" in log.read_text()

        wait_until(is_up, 300)
        said = dict(re.findall(r"^(address|key|secret) +(\S+)$", log.read_text(), re.MULTILINE))
        yield Running(home, environment, said["address"], said["key"], said["secret"])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def test_the_commands_of_the_page(running: Running) -> None:
    _, _, first, smoke, feed, report, as_json, reset = COMMANDS

    assert "answers by status: {201: 19, 409: 1}" in running.shell(first)
    assert "FAILED" not in running.shell(smoke)
    # The first ten students were sent before.
    assert "409: 300" in running.shell(feed)

    def has_all() -> bool:
        return sum(map(int, re.findall(r"^  write +(\d+)", running.shell(report), re.MULTILINE))) >= 10_020

    wait_until(has_all, 30)
    text = running.shell(report)
    assert re.search(r"upsert +409 +Student NK#studentUniqueId=nobody-7 is missing +1\b", text)
    found = json.loads(running.shell(as_json).splitlines()[-1])
    [written] = [each for each in found["writes"] if each["resource"] == "/ed-fi/studentSchoolAssociations"]
    assert written["refused"] == 1 + 1 + 300
    assert running.shell(as_json.splitlines()[0] + "\n" + reset).strip() == "204"


def test_the_scripts_of_the_other_shapes(running: Running) -> None:
    for shape, said in (("assessment", "answers by status: {201: 31, 409: 1}"), ("warehouse", "/ed-fi/students 30")):
        command = [sys.executable, "manage.py", "create_sandbox", shape, "--shape", shape, "--format", "json"]
        made = subprocess.run(command, cwd=TOP, env=running.environment, capture_output=True, check=True).stdout
        client = json.loads(made)
        script = [sys.executable, str(REQUESTS / f"{shape}.py"), client["address"], client["key"], client["secret"]]

        ended = subprocess.run(script, env=running.environment, capture_output=True, text=True, check=True)

        assert said in ended.stdout
