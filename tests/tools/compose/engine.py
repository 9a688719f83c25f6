"""The Docker engine of the tests: the one that answers on this machine, or else one that is started for them."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Images of an engine of the tests stay here for the next run.
FOLDER = Path("/var/cache/meadowlark/docker")
# The oldest Compose that knows all that the file and the tests use.
_COMPOSE = (2, 24)
# What the client needs of the environment. Variables of the shell would replace those of docker/.env.
_PASSED_ON = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONFIG")
_START_SECONDS = 60


class Engine:
    """A Docker engine, and the environment in which its client reaches it."""

    def __init__(self, **variables: str) -> None:
        self.environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | variables

    def run(self, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run the client to its end; what it prints goes to the log of pytest, too."""
        done = subprocess.run(
            ["docker", *arguments], env=self.environment, capture_output=True, text=True, check=False, **options
        )
        print("docker", *arguments, "\n", done.stdout, done.stderr)
        return done

    def output(self, *arguments: str, **options: object) -> str:
        """Return what a command of the client prints; raises if it fails."""
        done = self.run(*arguments, **options)
        assert done.returncode == 0, f"docker {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def answers(self) -> bool:
        return self.run("version").returncode == 0

    def labels(self, image: str) -> dict[str, str] | None:
        """The labels of an image; None without such an image."""
        found = self.run("image", "inspect", "--format", "{{json .Config.Labels}}", image)
        return (json.loads(found.stdout) or {}) if found.returncode == 0 else None


def obstacle() -> str:
    """Why Compose cannot be run on this machine; empty if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs Linux and root"
    if missing := [program for program in ("docker", "debootstrap") if shutil.which(program) is None]:
        return f"needs the programs {', '.join(missing)}"
    engine = Engine()
    version = engine.run("compose", "version", "--short").stdout.removeprefix("v").split(".")
    if not version[0].isdecimal() or tuple(map(int, version[:2])) < _COMPOSE:
        return f"needs Compose {'.'.join(map(str, _COMPOSE))} or newer, as a plugin of docker"
    if shutil.which("dockerd") is None and not engine.answers():
        return "needs a Docker engine that answers, or the program dockerd"
    return ""


@contextmanager
def running() -> Iterator[Engine]:
    """An engine until the block ends. One that was started for it ends with it."""
    engine = Engine()
    if engine.answers():
        yield engine
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    socket = f"unix://{FOLDER}/socket"
    # Folders of its own, so that nothing of another engine is touched.
    folders = [f"--data-root={FOLDER}/data", f"--exec-root={FOLDER}/run", f"--pidfile={FOLDER}/pid"]
    # Of a run that was killed; dockerd does not start while another process has its number.
    (FOLDER / "pid").unlink(missing_ok=True)
    # It ends with the tests, also if these are killed.
    command = ["setpriv", "--pdeathsig=TERM", "dockerd", f"--host={socket}", *folders]
    with (FOLDER / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        engine = Engine(DOCKER_HOST=socket)
        deadline = time.monotonic() + _START_SECONDS
        while not engine.answers():
            assert process.poll() is None and time.monotonic() < deadline, (FOLDER / "log").read_text()
            time.sleep(0.5)
        yield engine
    finally:
        process.terminate()
        process.wait(_START_SECONDS)
