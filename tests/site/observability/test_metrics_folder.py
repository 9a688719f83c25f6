"""The folder of metrics files belongs to a server for as long as it lives, whatever others do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MAKE = "from meadowlark.serving.process import make_metrics_folder; print(make_metrics_folder(), flush=True)"
MAKE_AND_STAY = f"{MAKE}; input()"
# As in a container: the processes of other servers cannot be seen.
IN_A_PID_NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(tmp_path)}


@contextmanager
def server(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    command = [sys.executable, "-c", MAKE_AND_STAY]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def start_another(environment: dict[str, str], *prefix: str) -> Path:
    command = [*prefix, sys.executable, "-c", MAKE]
    return Path(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip())


def test_the_folder_of_a_killed_server_is_removed_by_the_next(environment: dict[str, str]) -> None:
    with server(environment) as (process, folder):
        (folder / "counter_1.db").touch()
        process.kill()
        process.wait()

    start_another(environment)

    assert not folder.exists()


def test_the_folder_of_a_running_server_stays(environment: dict[str, str]) -> None:
    with server(environment) as (_, folder):
        other = start_another(environment)

        assert folder.is_dir()
        assert other != folder


def test_the_folder_of_a_running_server_stays_when_another_container_starts(environment: dict[str, str]) -> None:
    if subprocess.run([*IN_A_PID_NAMESPACE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("This machine makes no namespaces of processes.")

    with server(environment) as (_, folder):
        start_another(environment, *IN_A_PID_NAMESPACE)

        assert folder.is_dir()
