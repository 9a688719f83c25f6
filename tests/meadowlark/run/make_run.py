"""`python -m meadowlark.run` as a subprocess, and a client with the credentials that it prints."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

TOP = Path(__file__).parents[3]


class Run:
    """A process of `python -m meadowlark.run`, which `make run` executes after the installation."""

    def __init__(self, home: Path, port: int, *arguments: str, output: Path | None = None, **variables: str) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self._output = output or home.with_suffix(".out")
        defaults = {"MEADOWLARK_HOME": str(home), "MEADOWLARK_PORT": str(port), "MEADOWLARK_WORKERS": "1"}
        inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        with self._output.open("w") as written:
            command = [sys.executable, "-m", "meadowlark.run", *arguments]
            environment = inherited | defaults | variables
            self.process = subprocess.Popen(
                command, cwd=TOP, env=environment, stdout=written, stderr=written, start_new_session=True
            )

    @property
    def output(self) -> str:
        return self._output.read_text()

    def credentials(self) -> tuple[str, str]:
        """Key and secret of the demo client, as printed."""
        [key] = re.findall(r"^  key +(\S+)$", self.output, re.MULTILINE)
        [secret] = re.findall(r"^  secret +(\S+)$", self.output, re.MULTILINE)
        return key, secret

    def web_server(self) -> psutil.Process:
        """gunicorn's master process."""
        [master] = [child for child in psutil.Process(self.process.pid).children() if "gunicorn" in _command(child)]
        return master

    def wait_until_served(self) -> None:
        self.wait_until_printed("A first request")

    def wait_until_printed(self, text: str) -> None:
        deadline = time.monotonic() + 120
        while text not in self.output:
            assert self.process.poll() is None and time.monotonic() < deadline, self.output
            time.sleep(0.05)

    def stop(self, number: signal.Signals) -> int:
        """The exit status. Asserts that no child process is left."""
        family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(number)
        status = self.process.wait(60)
        assert [process for process in family if process.is_running()] == []
        return status


class Client:
    """Sends requests to a run, with the key and secret that it printed."""

    def __init__(self, address: str, key: str, secret: str) -> None:
        answer = httpx.post(f"{address}/oauth/token", auth=(key, secret), data={"grant_type": "client_credentials"})
        self._data = httpx.Client(
            base_url=f"{address}/data/ed-fi", headers={"Authorization": f"Bearer {answer.json()['access_token']}"}
        )

    def post(self, endpoint: str, body: object) -> int:
        return self._data.post(f"/{endpoint}", json=body).status_code

    def get(self, endpoint: str, **query: object) -> list[dict[str, object]]:
        return self._data.get(f"/{endpoint}", params=query).json()


def _command(process: psutil.Process) -> list[str]:
    """Empty for one that has ended, such as a command of housekeeping."""
    with suppress(psutil.NoSuchProcess):  # A zombie is one, too.
        return process.cmdline()
    return []
