"""A cluster of PostgreSQL servers that Patroni manages, each on a host of its own, with etcd on the hub."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx
import psutil
import yaml

from meadowlark.run.postgres_programs import binaries, ending_with_us
from tests.tools.drills.network import HUB, NETWORK, Host
from tests.tools.drills.programs import as_postgres, found
from tests.whole.robustness.accounts import ACCOUNT

DATABASE = "meadowlark"
# Seconds; Patroni's rule is loop_wait + 2 x retry_timeout <= ttl. Its defaults are 30, 10 and 10.
TTL, LOOP_WAIT, RETRY_TIMEOUT = 20, 5, 5

_ETCD = f"http://{HUB}:2379"
_REST = 8008
_START_SECONDS = 60
_PAUSE = 0.2
_LOG_LINES = 30


@dataclass
class Node:
    """One server of PostgreSQL, and the Patroni that runs it."""

    host: Host
    folder: Path
    patroni: Path

    @property
    def name(self) -> str:
        return self.host.name

    def configure(self) -> None:
        self.folder.mkdir()
        (self.folder / "patroni.yaml").write_text(yaml.safe_dump(_configuration(self)))
        shutil.chown(self.folder, ACCOUNT)

    def start(self) -> None:
        command = as_postgres([str(self.patroni), str(self.folder / "patroni.yaml")])
        environment = os.environ | {"HOME": str(self.folder)}
        with (self.folder / "patroni.log").open("ab") as log:
            self._process = subprocess.Popen(
                self.host.within(command), env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self) -> None:
        """Kill the node as a machine that loses its power: Patroni and all processes of PostgreSQL at once."""
        self._signal(signal.SIGSTOP)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Stop the node as a machine that hangs: connections stay open, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def cut(self) -> None:
        """Cut the node off as a cable that is pulled out."""
        self.host.cut()

    def reconnect(self) -> None:
        self.host.reconnect()

    def _signal(self, number: signal.Signals) -> None:
        for pid in self.host.process_ids():
            try:
                psutil.Process(pid).send_signal(number)
            except psutil.NoSuchProcess:
                continue


class Cluster:
    """Runs while it is entered."""

    def __init__(self, folder: Path, hosts: Sequence[Host], patroni: Path) -> None:
        self._folder = folder
        self.nodes = {host.name: Node(host, folder / host.name, patroni) for host in hosts}

    def __enter__(self) -> Self:
        _start_etcd(self._folder / "etcd")
        for node in self.nodes.values():
            node.configure()
            node.start()
        try:
            self.wait_until_whole(_START_SECONDS)
        except TimeoutError:
            self._print_logs()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """The processes end with the namespace of the drill."""
        if kind is not None:
            self._print_logs()

    def url(self, database: str = DATABASE) -> str:
        """With all hosts, of which libpq uses the one that accepts writes."""
        addresses = ",".join(f"{node.host.address}:5432" for node in self.nodes.values())
        return f"postgresql://postgres@{addresses}/{database}?target_session_attrs=read-write"

    def leader(self) -> Node | None:
        """Of which a node says that it leads, as far as one can be reached."""
        for member in self._members():
            if member["role"] == "leader" and member["state"] == "running":
                return self.nodes[member["name"]]
        return None

    def wait_for_other_leader(self, than: Node, seconds: float) -> Node:
        """Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            leader = self.leader()
            if leader is not None and leader is not than and _leads(leader):
                return leader
            time.sleep(_PAUSE)
        raise TimeoutError(f"no other node than {than.name} leads within {seconds} seconds: {self._members()}")

    def wait_until_whole(self, seconds: float) -> None:
        """A leader, a synchronous standby and a replica, both streaming. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        whole = {"leader": "running", "sync_standby": "streaming", "replica": "streaming"}
        while {member["role"]: member["state"] for member in self._members()} != whole:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the cluster is not whole within {seconds} seconds: {self._members()}")
            time.sleep(_PAUSE)

    def _print_logs(self) -> None:
        for log in self._folder.glob("*/patroni.log"):
            lines = log.read_text(errors="replace").splitlines()
            print(f"The end of the log of {log.parent.name}:", *lines[-_LOG_LINES:], sep="\n    ", file=sys.stderr)

    def _members(self) -> list[dict[str, Any]]:
        """According to the first node that answers."""
        for node in self.nodes.values():
            try:
                answer = httpx.get(f"http://{node.host.address}:{_REST}/cluster", timeout=1)
                members: list[dict[str, Any]] = answer.json()["members"]
            except (httpx.HTTPError, ValueError, LookupError):
                continue
            return members
        return []


def _leads(node: Node) -> bool:
    """Whether Patroni has made it the primary: the record of the leader comes first."""
    try:
        return httpx.get(f"http://{node.host.address}:{_REST}/primary", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False


def _start_etcd(data: Path) -> None:
    data.mkdir(mode=0o700)
    shutil.chown(data, ACCOUNT)
    addresses = {
        "--data-dir": data,
        "--listen-client-urls": _ETCD,
        "--advertise-client-urls": _ETCD,
        "--listen-peer-urls": "http://127.0.0.1:2380",
        "--initial-advertise-peer-urls": "http://127.0.0.1:2380",
        "--initial-cluster": "default=http://127.0.0.1:2380",
        "--log-level": "error",
    }
    options = [str(part) for pair in addresses.items() for part in pair]
    with data.with_suffix(".log").open("wb") as log:
        subprocess.Popen(as_postgres(ending_with_us([found("etcd"), *options], signal.SIGTERM)), stdout=log, stderr=log)


def _configuration(node: Node) -> dict[str, Any]:
    """Patroni's. Only the namespace of the drill reaches these servers, so there are no passwords."""
    rules = ["local all all trust", f"host all all {NETWORK} trust", f"host replication all {NETWORK} trust"]
    initdb: list[Any] = [{"encoding": "UTF8"}, {"locale": "C"}, {"locale-provider": "builtin"}]
    shared = {
        "ttl": TTL,
        "loop_wait": LOOP_WAIT,
        "retry_timeout": RETRY_TIMEOUT,
        "maximum_lag_on_failover": 1_048_576,
        "synchronous_mode": True,
        "postgresql": {
            "use_pg_rewind": True,
            "remove_data_directory_on_rewind_failure": True,
            "remove_data_directory_on_diverged_timelines": True,
            "parameters": {"max_connections": 60, "shared_buffers": "64MB", "log_min_messages": "log", "jit": "off"},
        },
    }
    return {
        "scope": "drill",
        "name": node.name,
        "restapi": {"listen": f"{node.host.address}:{_REST}", "connect_address": f"{node.host.address}:{_REST}"},
        "etcd3": {"hosts": [_ETCD.removeprefix("http://")]},
        "bootstrap": {"dcs": shared, "initdb": [*initdb, {"builtin-locale": "C.UTF-8"}, "data-checksums"]},
        "postgresql": {
            "listen": f"{node.host.address}:5432",
            "connect_address": f"{node.host.address}:5432",
            "data_dir": str(node.folder / "data"),
            "bin_dir": str(binaries()),
            "pg_hba": rules,
            "parameters": {"unix_socket_directories": str(node.folder)},
            "authentication": {
                "superuser": {"username": "postgres"},
                "replication": {"username": "replicator"},
            },
        },
        "tags": {"clonefrom": True},
    }
