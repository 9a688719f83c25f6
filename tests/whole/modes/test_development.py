"""`make dev` and `make shell`, for whoever changes the code."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
import pytest

from tests.meadowlark.run.pages import environment_of_a_newcomer
from tests.support.ports import free_port
from tests.whole.modes.made import TOP

pytestmark = pytest.mark.modes

_SECONDS = 120


@pytest.fixture
def environment(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> dict[str, str]:
    places = {"MEADOWLARK_HOME": str(prepared_home(tmp_path / "home")), "MEADOWLARK_PORT": str(free_port())}
    return environment_of_a_newcomer() | places | {"MEADOWLARK_CACHE": os.environ["MEADOWLARK_CACHE"]}


def test_make_dev_serves_and_watches_the_code(environment: dict[str, str], tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{environment['MEADOWLARK_PORT']}"
    output = tmp_path / "output"
    with output.open("w") as stream:
        process = subprocess.Popen(
            ["make", "dev"], cwd=TOP, env=environment, stdout=stream, stderr=stream, start_new_session=True
        )
    try:
        assert _answer(f"{address}/health/ready", process, output).status_code == 200
        assert httpx.get(f"{address}/data/ed-fi/students").status_code == 401
        assert "Watching for file changes" in output.read_text()
    finally:
        family = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        _, alive = psutil.wait_procs(family, timeout=_SECONDS)
        process.wait(_SECONDS)
    assert alive == []


def test_make_shell_asks_the_database_of_the_home(environment: dict[str, str]) -> None:
    question = "from edfi_api.core.models import Document; print(Document.objects.exists())"

    done = subprocess.run(
        ["make", "shell"],
        cwd=TOP,
        env=environment,
        input=question,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )

    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["True"]), done.stderr


def _answer(address: str, process: subprocess.Popen[bytes], output: Path) -> httpx.Response:
    """Wait until the server answers."""
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            return httpx.get(address)
        except httpx.TransportError:
            assert process.poll() is None and time.monotonic() < deadline, output.read_text()
            time.sleep(0.1)
