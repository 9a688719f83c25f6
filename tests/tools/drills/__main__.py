"""Drills: how a server behaves with the programs that operators run PostgreSQL with, when these have to act.

    python -m tests.tools.drills failover [--rounds N] [--clients N]
    python -m tests.tools.drills backup [--clients N]
    python -m tests.tools.drills upgrade [--clients N]
    python -m tests.tools.drills upgrade-locks [--documents N] [--clients N] [--home HOME]

They take minutes, need root and Linux's namespaces, and are skipped, with status 0 and the reason, where something that
they need is missing.
"""

import argparse
import os
import sys
from pathlib import Path

# Modules of the tests read the settings when they are imported.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")

from tests.tools.drills import backup, failover, isolation, pgbackrest, programs, upgrade, upgrade_locks

_PATRONI = Path(__file__).parents[3] / ".venv-drills" / "bin" / "patroni"
_START_SECONDS = 300


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.drills", description=__doc__.split("\n")[0])
    drills = parser.add_subparsers(dest="drill", required=True)
    of_failover = drills.add_parser("failover", help="the leader of a Patroni cluster fails under load")
    of_failover.add_argument("--rounds", type=int, default=20, help="how often it fails")
    of_failover.add_argument("--clients", type=int, default=4)
    of_backup = drills.add_parser("backup", help="pgBackRest backs a database up under load and restores it")
    of_backup.add_argument("--clients", type=int, default=3)
    of_upgrade = drills.add_parser("upgrade", help="servers of 1.0.0 and of this version on one database, under load")
    of_upgrade.add_argument("--clients", type=int, default=4)
    of_locks = drills.add_parser("upgrade-locks", help="locks that migrate takes in a large database of 1.0.0")
    of_locks.add_argument("--documents", type=int, default=1_000_000)
    of_locks.add_argument("--clients", type=int, default=3)
    of_locks.add_argument("--home", type=Path, help="where the database is kept; one that is there is used")
    options = parser.parse_args()
    if options.drill == "upgrade":
        return upgrade.run(options.clients)
    if options.drill == "upgrade-locks":
        return upgrade_locks.run(options.documents, options.clients, options.home)
    return _failover(options) if options.drill == "failover" else _backup(options)


def _failover(options: argparse.Namespace) -> int:
    obstacle = programs.obstacle(failover.NEEDED)
    if not obstacle and not _PATRONI.exists():
        obstacle = "needs Patroni; `make drill-failover` installs it"
    if obstacle:
        return _skip(obstacle)
    seconds = _START_SECONDS + options.rounds * failover.SECONDS_PER_ROUND
    arguments = [str(_PATRONI), str(options.rounds), str(options.clients)]
    return isolation.run("tests.tools.drills.failover", arguments, seconds)


def _backup(options: argparse.Namespace) -> int:
    if obstacle := programs.obstacle(backup.NEEDED) or pgbackrest.obstacle():
        return _skip(obstacle)
    return isolation.run("tests.tools.drills.backup", [str(options.clients)], backup.SECONDS)


def _skip(reason: str) -> int:
    print(f"skipped: {reason}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
