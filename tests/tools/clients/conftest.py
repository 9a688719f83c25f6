"""A server of Data Standard 5.2 in its own home, and the programs installed by `make test-clients`."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.meadowlark.run.make_run import Run
from tests.support.ports import free_port

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Programs:
    """The environment of the clients, configured for a server."""

    folder: Path
    environment: dict[str, str]

    def run(self, program: str, *arguments: str, may_fail: bool = False, **variables: str) -> str:
        """Standard output and standard error of the program; asserts success unless it may fail."""
        done = subprocess.run(
            [str(self.folder / program), *arguments],
            cwd=HERE,
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,  # lightbeam sends hundreds of requests before it validates the first line
            check=False,
        )
        assert may_fail or done.returncode == 0, done.stdout
        return done.stdout


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    folder = os.environ.get("MEADOWLARK_CLIENTS")
    if not folder:
        pytest.skip("needs the programs that `make test-clients` installs")
    run = Run(tmp_path_factory.mktemp("clients") / "home", free_port(), MEADOWLARK_DATA_STANDARD="5.2")
    try:
        run.wait_until_served()
        yield Programs(Path(folder), _environment(run))
    finally:
        run.stop(signal.SIGTERM)


def _environment(run: Run) -> dict[str, str]:
    [key] = re.findall(r"^  key +(\S+)$", run.output, re.MULTILINE)
    [secret] = re.findall(r"^  secret +(\S+)$", run.output, re.MULTILINE)
    variables = {"BASE_URL": run.address, "API_KEY": key, "API_SECRET": secret}
    return {"PATH": os.environ["PATH"], **variables}
