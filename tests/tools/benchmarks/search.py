"""How long the page of the search of the admin takes, and how names are found.

    DATABASE_URL=... python -m tests.tools.benchmarks.search [--rounds N] [TEXT ...]

The database is one that `make bench-data SIZE=1000000` has filled. Each text is searched for as a user with all
permissions, in this process. The medians are in milliseconds, the plan that of the first text among people.
"""

import argparse
import os
import statistics
import time

import django

from tests.tools.benchmarks.verification import verify_here

_TEXTS = [
    "mae ortiz",
    "Greene, Ada",
    "ortiz",
    "a",
    "lark meadow high",
    "604822",
    "91002",
    "schoolId=255901001",
    "finch",
]
_HOST = "localhost"


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="search", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often each is searched for")
    parser.add_argument("texts", nargs="*", default=_TEXTS, metavar="TEXT")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    print(f"{'text':<24} {'median':>8} {'longest':>8} {'found':>6}")
    for text in options.texts:
        _measure(text, options.rounds)
    print(_plan(options.texts[0]))
    verify_here()


def _measure(text: str, rounds: int) -> None:
    from django.contrib.auth.models import User  # noqa: PLC0415  Django is set up by now
    from django.test import Client  # noqa: PLC0415

    client = Client(headers={"host": _HOST})
    client.force_login(User.objects.get_or_create(username="search", is_staff=True, is_superuser=True)[0])
    times, content = [], b""
    for _ in range(rounds + 1):
        started = time.perf_counter()
        content = client.get("/admin/search/", {"q": text}).content
        times.append(1000 * (time.perf_counter() - started))
    median, longest = statistics.median(times[1:]), max(times[1:])
    print(f"{text:<24} {median:>8.0f} {longest:>8.0f} {content.count(b'<bdi>'):>6}", flush=True)


def _plan(text: str) -> str:
    from django.db import DEFAULT_DB_ALIAS, connection  # noqa: PLC0415

    from edfi_api.core.queries import name_index  # noqa: PLC0415
    from edfi_api.core.queries.name_index import named_resources, numbers_of  # noqa: PLC0415

    index = named_resources().index(DEFAULT_DB_ALIAS)
    numbers = sorted(numbers_of(named_resources().people, DEFAULT_DB_ALIAS))
    statement = name_index.statement_of(index, name_index.words_of(text, DEFAULT_DB_ALIAS), numbers, ":*", 20)
    with name_index.by_bitmaps(DEFAULT_DB_ALIAS), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, BUFFERS) {statement.text}", statement.parameters)
        return "\n".join(line for (line,) in cursor)


if __name__ == "__main__":
    main()
