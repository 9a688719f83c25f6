"""The cost of tracking changes for writes: the same writes with tracking and without.

    DATABASE_URL=... python -m tests.tools.benchmarks.tracking [--rounds 5] [--writes 2000]

Creates a separate database on that server. It prints, for one write of a studentSchoolAssociation, the time until it is
on disk, and the processor time of PostgreSQL's process, which is independent of other load: medians of rounds, and the
median of the ratios of consecutive rounds. Bulk loads do not wait for the disk. Without tracking means versions from
the sequence, no triggers, and no index of versions.
"""

import argparse
import os
from statistics import median

import django

from tests.tools.benchmarks.verification import verify_here


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.benchmarks.tracking", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--writes", type=int, default=2000)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    from django.db import connection  # noqa: PLC0415  Django is set up by now

    from tests.tools.benchmarks.tracked_writes import rounds  # noqa: PLC0415

    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        measured = list(rounds(options.writes, options.rounds))
        verify_here()
        _print(measured, options.writes)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def _print(found, writes: int) -> None:
    print(f"{'microseconds for a write':34} {'with':>7} {'without':>8} {'ratio':>6}")
    for kind in found[0][0]:
        for place, what in enumerate(("waiting", "processor")):
            pairs = [(tracked[kind][place], without[kind][place]) for tracked, without in found]
            with_, without = [median(each) / writes * 1e6 for each in zip(*pairs, strict=True)]
            ratio = median(tracked / without for tracked, without in pairs)
            print(f"{kind:9} {what:24} {with_:7.0f} {without:8.0f} {ratio:6.2f}")


if __name__ == "__main__":
    main()
