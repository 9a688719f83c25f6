"""Hosts of a network that exists only within the namespaces of a drill."""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from tests.tools.drills.programs import found

# The drill itself, on a bridge that all hosts are connected to.
HUB = "10.77.0.1"
NETWORK = "10.77.0.0/24"


@dataclass(frozen=True)
class Host:
    """A host with an address and processes of its own."""

    name: str
    address: str

    def within(self, command: Iterable[str]) -> list[str]:
        """The command, to be run there."""
        return [found("ip"), "netns", "exec", self.name, *command]

    def process_ids(self) -> list[int]:
        return [int(text) for text in _ip("netns", "pids", self.name).split()]

    def cut(self) -> None:
        """Packets to and from it are dropped."""
        _ip("link", "set", self._port, "down")

    def reconnect(self) -> None:
        _ip("link", "set", self._port, "up")

    @property
    def _port(self) -> str:
        """Its end at the bridge."""
        return f"port-{self.name}"

    def create(self) -> None:
        _ip("netns", "add", self.name)
        _ip("link", "add", self._port, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        _ip("-netns", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-netns", self.name, "link", "set", device, "up")
        _ip("link", "set", self._port, "master", "hub", "up")


def enable_loopback() -> None:
    """For servers and clients on 127.0.0.1, which a new namespace has not."""
    _ip("link", "set", "lo", "up")


def hosts(*names: str) -> list[Host]:
    """Makes the network. The drill has to run in namespaces of its own."""
    # `ip netns` keeps files in /run.
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    enable_loopback()
    _ip("link", "add", "hub", "type", "bridge")
    _ip("addr", "add", f"{HUB}/24", "dev", "hub")
    _ip("link", "set", "hub", "up")
    made = [Host(name, f"10.77.0.{number}") for number, name in enumerate(names, 11)]
    for host in made:
        host.create()
    return made


def _ip(*arguments: str) -> str:
    return subprocess.run([found("ip"), *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
