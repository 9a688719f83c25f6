"""`make bench-data SIZE=...`: documents of mixed resources for the database that `DATABASE_URL` names.

    python -m tests.tools.benchmarks.data [--size N]

The database is migrated first. It may have descriptors already, but none of the documents of `district`. Its tables are
locked while they are filled; at the end they are vacuumed, and every body is compared with its rows, as by
`manage.py verify_integrity`. `--unverified` leaves the comparison to the calling benchmark.
"""

import argparse
import os
import time

import django
from django.core.management import call_command

from tests.tools.benchmarks.verification import verify_here


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="make bench-data", description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=1_000_000, help="how many documents")
    parser.add_argument("--unverified", action="store_true", help="do not compare bodies and rows")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    from tests.tools.seeding.seed import seed  # noqa: PLC0415  Django is set up by now

    started = time.monotonic()
    seed(options.size, is_shown=True)
    seconds = time.monotonic() - started
    if not options.unverified:
        verify_here()
    print(f"{options.size:,} documents in {seconds:,.0f} s, {options.size / seconds:,.0f} a second, indexes included")


if __name__ == "__main__":
    main()
