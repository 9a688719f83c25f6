"""How many threads and workers serve best, and how often the interpreter switches between threads.

    python -m tests.tools.benchmarks.threads [--connections N ...] [--operations NAME ...] [--rounds N] [--seconds S]

The servers of the same source tree with 8, 4 and 2 threads in each of two workers, with four workers of four and of two
threads, and with other switch intervals (`sys.setswitchinterval`), measured in turn as by `side_by_side`, whose figures
these are. The first server is the one to which the others are compared.
"""

import sys
from pathlib import Path

from tests.tools.benchmarks import side_by_side

_TREE = Path(__file__).parents[3]
# Sets the interval of every process that is started with it in its path for modules.
_SWITCHING = Path(__file__).with_name("switching")
_VARIANTS = (
    "MEADOWLARK_WORKERS=2,MEADOWLARK_THREADS=8",
    "MEADOWLARK_WORKERS=2,MEADOWLARK_THREADS=4",
    "MEADOWLARK_WORKERS=2,MEADOWLARK_THREADS=2",
    "MEADOWLARK_WORKERS=4,MEADOWLARK_THREADS=4",
    "MEADOWLARK_WORKERS=4,MEADOWLARK_THREADS=2",
    f"PYTHONPATH={_SWITCHING},SWITCH_INTERVAL=0.001",
    f"PYTHONPATH={_SWITCHING},SWITCH_INTERVAL=0.02",
)
_CONNECTIONS = ("1", "16", "64", "128")


def main() -> int:
    """The command line; see the module's text."""
    if "--connections" not in sys.argv:
        sys.argv += ["--connections", *_CONNECTIONS]
    sys.argv[1:1] = [f"{_TREE},{variant}" for variant in _VARIANTS]
    return side_by_side.main()


if __name__ == "__main__":
    sys.exit(main())
