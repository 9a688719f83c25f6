"""`make bench`, section `profiles`: requests of clients with a profile beside the same of a client without one.

    python -m tests.tools.benchmarks.profiles [--rounds N] [--seconds S] [--only TEXT] [--json FILE]

A server is started as `make run` does, in a temporary home, and a second gunicorn over its database without links.
Each request is sent in turn by three clients: without a profile, with one that hides members, and with one that hides
nothing. What is compared is the processor time of server and database for one request, the least of the rounds: other
work on the machine adds to it, and takes nothing away. A student is the small document, an association with a school
the usual one, and one with an organization and sixty addresses (some 20 kB) the large one.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from tests.support.server_processes import Server, constant_view, manage, meadowlark, token_of_new_client
from tests.tools.benchmarks import load
from tests.tools.benchmarks.command_line import parser_of_rounds, write_json
from tests.tools.benchmarks.costs import with_costs
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads

_SEEDED = 300
_LARGE = 50
# More than any machine writes in a second with one connection.
_CHANGES_PER_SECOND = 3000

_HIDING = {
    "Student": {"memberSelection": "ExcludeOnly", "properties": ["middleName"]},
    "StudentSchoolAssociation": {"memberSelection": "ExcludeOnly", "properties": ["primarySchool"]},
    "StudentEducationOrganizationAssociation": {
        "memberSelection": "ExcludeOnly",
        "collections": [{"name": "addresses", "memberSelection": "ExcludeOnly", "properties": ["nameOfCounty"]}],
    },
}
_PROFILES = {"hides members": _HIDING, "hides nothing": {name: {"memberSelection": "IncludeAll"} for name in _HIDING}}

Requests = Callable[[Workloads, float], list[bytes]]


@dataclass(frozen=True)
class _Question:
    """How requests are made for so many seconds, and how much more they may cost under each of the profiles."""

    requests: Requests
    budgets: tuple[float, float]


_READS = {
    "GET small document by id": _Question(lambda workloads, _: workloads.student_by_id(), (1.15, 1.15)),
    "GET usual document by id": _Question(lambda workloads, _: workloads.association_by_id(), (1.15, 1.15)),
    "GET large document by id": _Question(lambda workloads, _: workloads.large_by_id(), (1.15, 1.15)),
    "GET page of 25": _Question(lambda workloads, _: workloads.page_of_associations(25), (1.25, 1.25)),
    "GET page of 500": _Question(lambda workloads, _: workloads.page_of_associations(500), (1.25, 1.25)),
}
_WRITES = {
    "POST changed": _Question(
        lambda workloads, seconds: workloads.changed_associations(round(_CHANGES_PER_SECOND * seconds)), (1.8, 1.05)
    ),
    "PUT changed": _Question(
        lambda workloads, seconds: workloads.replaced_associations(round(_CHANGES_PER_SECOND * seconds)), (1.8, 1.05)
    ),
}


@dataclass(frozen=True)
class Row:
    """A request; costs are microseconds of processor time of server and database, without a profile and under one."""

    request: str
    profile: str
    without: float
    under: float
    ratio: float
    errors: int
    budget: float


def main() -> int:
    """The command line; see the module's text."""
    options = parser_of_rounds("profiles", __doc__, 3, 2).parse_args()
    rows = measure(options.rounds, options.seconds, options.only)
    print(f"\n{table(rows)}")
    write_json(options.json, map(asdict, rows))
    return 1 if any(row.errors for row in rows) else 0


def measure(rounds: int, seconds: float, only: str = "") -> list[Row]:
    """The requests with this text in their names, of all clients; reads with links and without."""
    reads, writes = ({name: each for name, each in listed.items() if only in name} for listed in (_READS, _WRITES))
    with tempfile.TemporaryDirectory(prefix="meadowlark-profiles-") as folder, ExitStack() as running:
        home = Path(folder, "home")
        server = running.enter_context(meadowlark(home))
        environment = {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home)}
        port, gunicorn = running.enter_context(
            constant_view(
                home.with_name("unlinked"), application="meadowlark.wsgi", **environment, MEADOWLARK_LINKS="0"
            )
        )
        workloads = Workloads(server)
        workloads.seed(_SEEDED)
        workloads.seed_large(_LARGE)
        tokens = [_token(server, environment, name, parts) for name, parts in _PROFILES.items()]
        linked = _Compared(server, server.gunicorn, workloads, tokens)
        unlinked = _Compared(replace(server, port=port), gunicorn, workloads, tokens)
        rows = [*linked.rows(reads | writes, rounds, seconds), *unlinked.rows(reads, rounds, seconds)]
        verify(server.database_url, home)
    return rows


class _Compared:
    """What a client without a profile and those with `tokens` send to a server."""

    def __init__(self, server: Server, gunicorn: psutil.Process, workloads: Workloads, tokens: Sequence[str]) -> None:
        self._server = server
        self._gunicorn = gunicorn
        self._clients = [
            workloads.sent_by(server),
            *(workloads.sent_by(replace(server, token=each)) for each in tokens),
        ]

    def rows(self, questions: Mapping[str, _Question], rounds: int, seconds: float) -> Iterator[Row]:
        """Round by round the same request of each client; a first round does not count."""
        served = "links" if self._gunicorn == self._server.gunicorn else "no links"
        for request, question in questions.items():
            _, *counting = [self._round(question, seconds) for _ in range(1 + rounds)]
            without, *under = zip(*counting, strict=True)
            for profile, budget, others in zip(_PROFILES, question.budgets, under, strict=True):
                row = Row(f"{request}, {served}", profile, **_compared(without, others), budget=budget)
                print(_line(row), flush=True)
                yield row

    def _round(self, question: _Question, seconds: float) -> list[load.Measured]:
        return [self._measured(question.requests(client, seconds), seconds) for client in self._clients]

    def _measured(self, requests: list[bytes], seconds: float) -> load.Measured:
        port = self._server.port
        return with_costs(lambda: load.measure(port, requests, 1, seconds), self._gunicorn, self._server.postgres)


def _compared(without: Sequence[load.Measured], under: Sequence[load.Measured]) -> dict[str, Any]:
    costs = [min(measured.cost for measured in each) for each in (without, under)]
    errors = sum(each.errors for each in (*without, *under))
    return {"without": costs[0], "under": costs[1], "ratio": costs[1] / costs[0], "errors": errors}


def _token(server: Server, environment: Mapping[str, str], name: str, parts: Mapping[str, Any]) -> str:
    """The token of a client with a profile of these parts, for reading and for writing."""
    profile = name.replace(" ", "-")
    resources = [{"name": resource, "read": part, "write": part} for resource, part in parts.items()]
    manage(
        environment, "load_profiles", "-", given=json.dumps({"profiles": [{"name": profile, "resources": resources}]})
    )
    return token_of_new_client(server, environment, name, "--claim-set", "EdFiSandbox", "--profile", profile)


def table(rows: Sequence[Row]) -> str:
    """Return a table for a person: a line for each request and profile."""
    head = f"{'':36}{'profile':16}{'us without':>12}{'us under':>10}{'ratio':>8}{'budget':>8}"
    return "\n".join([head, *map(_line, rows)])


def _line(row: Row) -> str:
    verdict = "  EXCEEDED" if row.ratio > row.budget else ""
    failed = f"  {row.errors} FAILED" if row.errors else ""
    costs = f"{row.without:>12.0f}{row.under:>10.0f}{row.ratio:>8.2f}{row.budget:>8.2f}"
    return f"{row.request:36}{row.profile:16}{costs}{verdict}{failed}"


if __name__ == "__main__":
    sys.exit(main())
