"""Processes in a container of the image, restricted as docker/compose.yaml restricts them.

`unshare` and `chroot` start them: `buildah run` has no read-only root. They have mounts, process ids and a root of
their own, no capabilities, and the network of this machine.
"""

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.tools.image.images import IMAGE, output_of

# $0 is the root, $1 the account; the others are for `env`. What is mounted is unmounted with the last process.
_ENTER = """
mount --bind "$0" "$0"
mount -o remount,bind,ro "$0"
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount -t tmpfs tmpfs "$0/tmp"
mount -t tmpfs -o "uid=$1,gid=$1,mode=0700" tmpfs "$0/var/lib/meadowlark"
account=$1
shift
exec chroot "$0" setpriv --reuid="$account" --regid="$account" --clear-groups \
    --inh-caps=-all --bounding-set=-all --no-new-privs env --ignore-environment "$@"
"""
_NAMESPACES = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
_START_SECONDS = 180


class Container:
    """A container: its root, and the configuration of the image with the environment that was added."""

    def __init__(self, root: str, image: dict[str, Any], environment: dict[str, str]) -> None:
        variables = [*image["Env"], *(f"{name}={value}" for name, value in environment.items())]
        enter = ["sh", "-ec", _ENTER, root, image["User"], f"--chdir={image['WorkingDir']}", *variables]
        self._within = [*_NAMESPACES, *enter]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run([*self._within, *command], capture_output=True, text=True, check=False)

    @contextmanager
    def start(self, command: Sequence[str], log: Path) -> Iterator["Running"]:
        """Run a command until the block ends; standard output and error go to the log."""
        with log.open("wb") as output:
            process = psutil.Popen([*self._within, *command], stdout=output, stderr=output)
        try:
            yield Running(process, log)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


class Running:
    """A command in a container. `unshare` ends with its exit status."""

    def __init__(self, unshare: psutil.Popen, log: Path) -> None:
        self._unshare = unshare
        self._log = log

    def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not condition():
            assert self._unshare.poll() is None and time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.1)

    @property
    def accounts(self) -> list[int]:
        """Return the accounts of all processes in the container."""
        return [process.uids().real for process in self._unshare.children(recursive=True)]

    def terminate(self) -> int:
        """Send SIGTERM to the first process, as an engine does; the exit status. Asserts that none is left."""
        family = self._unshare.children(recursive=True)
        family[0].terminate()
        status = self._unshare.wait(60)
        assert [process for process in family if process.is_running()] == []
        return status


@contextmanager
def created(image: dict[str, Any], **environment: str) -> Iterator[Container]:
    """A new container of the image, removed at the end of the block."""
    name = output_of("from", "--pull-never", IMAGE)
    try:
        yield Container(output_of("mount", name), image, environment)
    finally:
        output_of("rm", name)
