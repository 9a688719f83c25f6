"""The same server with databases of several sizes: its requests, its size on disk, and what operators do with it.

    python -m tests.tools.benchmarks.scale HOME ... [--connections N ...] [--rounds N] [--seconds S]

A HOME is one that `MEADOWLARK_HOME=HOME make bench-data SIZE=...` has filled, the smallest first; each is good for one
run, which writes to it. Requests are sent as by `side_by_side`, whose columns the table has: `x` is the ratio to the
first home.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psycopg

from meadowlark.run import postgres_programs
from meadowlark.run.embedded_postgres import SUPERUSER, url_of
from tests.tools.benchmarks import command_line
from tests.tools.benchmarks.side_by_side import HEADING, OPERATIONS, Tree, compare, started
from tests.tools.benchmarks.verification import verify

_TOP = Path(__file__).parents[3]
_DOCUMENTS = "SELECT count(*) FROM document"
_BYTES = """
SELECT sum(pg_total_relation_size(oid)) FROM pg_class
 WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
"""


def main() -> int:
    """The command line; see the module's docstring."""
    parser = command_line.parser_of_rounds("scale", __doc__, rounds=5, seconds=2)
    parser.add_argument("homes", nargs="+", type=Path, metavar="HOME")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16], help="how many send requests")
    options = parser.parse_args()
    with ExitStack() as running:
        trees = [_named(started(running, str(_TOP), home)) for home in options.homes]
        print(HEADING, flush=True)
        for connections in options.connections:
            for operation in filter(lambda each: options.only in each, OPERATIONS):
                compare(trees, operation, connections, options.rounds, options.seconds)
        for tree, home in zip(trees, options.homes, strict=True):
            _maintain(tree, home)
        for tree, home in zip(trees, options.homes, strict=True):
            print(f"{tree.name}: verified in {_seconds(lambda t=tree, h=home: verify(t.server.database_url, h)):.0f} s")
    return 0


def _named(tree: Tree) -> Tree:
    """By the number of its documents."""
    return replace(tree, name=f"{_value(tree, _DOCUMENTS):,}")


def _maintain(tree: Tree, home: Path) -> None:
    """Print the size of the database, and how long it takes to vacuum it after the requests, and to copy it."""
    documents, size = _value(tree, _DOCUMENTS), _value(tree, _BYTES)
    print(f"{tree.name}: {size / 2**20:,.0f} MB, {size / documents:,.0f} bytes a document", flush=True)
    print(f"  start: {tree.start_seconds:.1f} s")
    with psycopg.connect(url_of(SUPERUSER, home), autocommit=True) as connection:
        print(f"  VACUUM (ANALYZE): {_seconds(lambda: connection.execute('VACUUM (ANALYZE)')):.1f} s", flush=True)
        for name in ("pg_dump", "pg_basebackup"):
            with tempfile.TemporaryDirectory(dir=home.parent) as folder:
                seconds = _seconds(lambda name=name, folder=folder: _copy(name, home, Path(folder, "copy")))
                copied = sum(each.stat().st_size for each in Path(folder).rglob("*") if each.is_file())
            print(f"  {name}: {seconds:.1f} s, {copied / 2**20:,.0f} MB", flush=True)


def _copy(program: str, home: Path, target: Path) -> None:
    options = {"pg_dump": ["--format=custom", "--file"], "pg_basebackup": ["--checkpoint=fast", "--pgdata"]}[program]
    path = postgres_programs.binaries() / program
    subprocess.run([path, "--dbname", url_of(SUPERUSER, home), *options, target], check=True)


def _value(tree: Tree, query: str) -> int:
    with psycopg.connect(tree.server.database_url) as connection:
        [(value,)] = connection.execute(query).fetchall()
    return int(value)


def _seconds(step: Callable[[], object]) -> float:
    begin = time.monotonic()
    step()
    return time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
