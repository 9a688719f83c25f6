"""`make run` and `make demo` as a newcomer starts them, and what they print, run in a shell of another terminal."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Self

import pytest

from tests.meadowlark.run.pages import environment_of_a_newcomer

TOP = Path(__file__).parents[3]
_SECONDS = 300


class Made:
    """A process of `make` with the variables before it and the arguments behind; Ctrl-C on leaving."""

    def __init__(self, home: Path, port: int, *arguments: str, **variables: str) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self._output = home.with_suffix(".out")
        self._environment = environment_of_a_newcomer()
        places = {"MEADOWLARK_HOME": str(home), "MEADOWLARK_PORT": str(port), "MEADOWLARK_WORKERS": "1"}
        # The cache of compiled models is not part of a home here, so that each standard is compiled once.
        places["MEADOWLARK_CACHE"] = os.environ["MEADOWLARK_CACHE"]
        self._variables = places | variables
        self._arguments = arguments

    def __enter__(self) -> Self:
        with self._output.open("w") as output:
            self._process = subprocess.Popen(
                ["make", "--no-print-directory", *self._arguments],
                cwd=TOP,
                env=self._environment | self._variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        deadline = time.monotonic() + _SECONDS
        while not re.search(r"^A first request:\n(  .*\n)+", self.output, re.MULTILINE):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._stop()
                pytest.fail(self.output)
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        # Make ends by the signal, once what it has started has ended by itself.
        assert self._stop() in (0, -signal.SIGINT), self.output
        assert "Traceback" not in self.output

    @property
    def output(self) -> str:
        return self._output.read_text()

    @property
    def pages(self) -> list[str]:
        """The addresses that are printed to be opened in a browser."""
        return re.findall(r"^  (http:\S+)  ", self.output, re.MULTILINE)

    def commands(self) -> str:
        """What is printed to be run in another terminal, but for the password, which is typed."""
        lines = re.findall(r"^  (?!http:|(?:key|id|secret|user|password) )(.+)$", self.output, re.MULTILINE)
        return "\n".join(line for line in lines if " changepassword " not in line)

    def run_commands(self) -> str:
        """Their output. The other terminal has no variables of this server."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.commands()],
            cwd=TOP,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, self.output + done.stdout + done.stderr
        return done.stdout

    def _stop(self) -> int:
        """Stop as Ctrl-C does, which reaches make and its children."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)
        return self._process.wait(60)
