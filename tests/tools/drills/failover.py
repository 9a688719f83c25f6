"""`make drill-failover`: the leader of a Patroni cluster fails again and again, while clients write.

    python -m tests.tools.drills failover [--rounds N] [--clients N]

Three PostgreSQL servers with Patroni in synchronous mode, etcd, and a server with two processes that reaches them by an
address with three hosts and `target_session_attrs=read-write`. In turn the leader is killed, hangs, and loses its
network, while clients insert, replace and delete documents. After each round, with all three nodes back, what is stored
is compared with what was acknowledged, and at the end every body with its keys and references.

A line for each round has the seconds until another node led and those in which no write was acknowledged. The exit
status is 1 if an acknowledged write was lost, if an answer was neither expected nor 503, or if rows and bodies
disagree.
"""

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psycopg

from tests.tools.drills.load import Load
from tests.tools.drills.network import hosts
from tests.tools.drills.patroni import DATABASE, LOOP_WAIT, RETRY_TIMEOUT, TTL, Cluster, Node
from tests.whole.robustness.real_server import RealServer

NEEDED = ("etcd",)
# Seconds. A round that takes longer has failed: the time in which Patroni elects another leader, and as much for
# requests that wait for the old one.
_LONGEST_OUTAGE = 120
_REPAIR_SECONDS = 180
SECONDS_PER_ROUND = _LONGEST_OUTAGE + _REPAIR_SECONDS

# How the leader fails, and how it comes back.
FAULTS: dict[str, tuple[Callable[[Node], None], Callable[[Node], None]]] = {
    "killed": (Node.kill, Node.start),
    "hangs": (Node.stop, Node.resume),
    "cut off": (Node.cut, Node.reconnect),
}


class ClusterServer(RealServer):
    """Its database is the cluster."""

    def __init__(self, home: Path, cluster: Cluster, **environment: str) -> None:
        super().__init__(home, **environment)
        self._cluster = cluster

    def start_database(self) -> None:
        with psycopg.connect(self._cluster.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
        self.database_url = self._cluster.url()


@dataclass(frozen=True)
class Round:
    """How one failure went; times in seconds."""

    fault: str
    election: float
    without_writes: float
    wrong: list[str]


def main() -> int:
    """The command line of the part that runs in namespaces; see `__main__`."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.drills.failover")
    parser.add_argument("folder", type=Path)
    parser.add_argument("patroni", type=Path)
    parser.add_argument("rounds", type=int)
    parser.add_argument("clients", type=int)
    options = parser.parse_args()
    print(f"Patroni: ttl {TTL}, loop_wait {LOOP_WAIT}, retry_timeout {RETRY_TIMEOUT}, synchronous_mode on", flush=True)
    home = options.folder / "server"
    home.mkdir()
    nodes = hosts("n1", "n2", "n3")
    with (
        Cluster(options.folder, nodes, options.patroni) as cluster,
        ClusterServer(home, cluster, MEADOWLARK_STATEMENT_SECONDS="10") as server,
    ):
        load = Load(server.port, server.token, options.clients)
        kinds = list(FAULTS)
        rounds = [
            _round(number, kinds[(number - 1) % len(kinds)], cluster, load) for number in range(1, options.rounds + 1)
        ]
        print(server.manage("verify_integrity").decode().rstrip())
    print(_summary(rounds, load))
    return 1 if any(each.wrong for each in rounds) else 0


def _round(number: int, fault: str, cluster: Cluster, load: Load) -> Round:
    cluster.wait_until_whole(_REPAIR_SECONDS)
    load.start()
    _wait(lambda: load.all_have_written_since(0), _LONGEST_OUTAGE)
    leader = cluster.leader()
    if leader is None:
        raise RuntimeError("the cluster has no leader")
    break_, repair = FAULTS[fault]
    acknowledged = len(load.observed.writes)
    begin = time.monotonic()
    break_(leader)
    new = cluster.wait_for_other_leader(leader, _LONGEST_OUTAGE)
    election = time.monotonic() - begin
    try:
        _wait(lambda: load.all_have_written_since(begin + election), _LONGEST_OUTAGE)
    finally:
        repair(leader)
        cluster.wait_until_whole(_REPAIR_SECONDS)
        load.stop()
    wrong = load.observed.wrong + load.differences(cluster.url())
    load.observed.wrong = []
    gap = _longest_gap(load.observed.writes[acknowledged - 1 :])
    print(
        f"round {number:2}: {leader.name} {fault}; {new.name} leads after {election:.1f} s,"
        f" {gap:.1f} s without writes; {len(load.observed.writes) - acknowledged} writes; {len(wrong)} wrong",
        flush=True,
    )
    for text in wrong:
        print(f"    {text}", flush=True)
    return Round(fault, election, gap, wrong)


def _wait(is_so: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"no writes are acknowledged within {seconds} seconds")
        time.sleep(0.05)


def _longest_gap(moments: list[float]) -> float:
    return max((later - earlier for earlier, later in pairwise(moments)), default=0.0)


def _summary(rounds: list[Round], load: Load) -> str:
    by_fault = defaultdict(list)
    for each in rounds:
        by_fault[each.fault].append(each.without_writes)
    observed = load.observed
    lines = [
        f"{fault:8} {len(seconds):3} times; seconds without writes: median {statistics.median(seconds):.1f},"
        f" longest {max(seconds):.1f}"
        for fault, seconds in by_fault.items()
    ]
    answers = ", ".join(f"{number} of {status}" for status, number in sorted(observed.statuses.items()))
    wrong = sum(len(each.wrong) for each in rounds)
    return "\n".join(
        [
            *lines,
            f"{len(observed.writes)} acknowledged writes, {wrong} lost or wrongly answered; {observed.stale_reads}"
            f" reads were older than a write acknowledged before; the slowest request took {observed.slowest:.1f} s",
            f"{len(observed.gone)} deletes got 404, of documents that had been deleted unless a round says otherwise",
            f"answers: {answers}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
