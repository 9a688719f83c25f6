"""`make test-ods`: a cutover, with the made-up district as the content of an ODS, and the time of each step.

    python -m tests.ods_import.district [--students N] [--kills N]

A district is loaded, copied by our views into a database with the tables of an ODS, and removed here; then it is
imported, by processes that are killed, without its source, whole, and in passes beside a writer; both sides have to be
the same. Needs a database of its own, which it empties.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

MANAGE = Path(__file__).parents[2] / "manage.py"
NEXT = "nextval('changes.changeversionsequence')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    students, kills = options.students, options.kills
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    from tests.ods_import.ods import ODS, database  # noqa: PLC0415  It needs Django's settings.

    for command in (
        ["migrate", "--verbosity", "0"],
        ["load_descriptors"],
        ["load_school_years", "2020-2030", "--current", "2027"],
    ):
        manage(*command)
    with tempfile.TemporaryDirectory() as folder:
        manage("generate_demo_district", "--output", folder, "--students", str(students))
        loaded = timed("load_documents, into the same database before", "load_documents", folder)
    with database("ods_of_the_district", ODS) as ods:
        count = move_out(ods)
        print(f"{count:,} documents")
        source = ("--from", ods.address)
        timed("import_ods check", "import_ods", "check", *source)
        read_alone(ods)
        for number in range(kills):
            kill(2 + number, *source)
        continued = timed(f"import_ods documents, continued after {kills} kills", "import_ods", "documents", *source)
        timed("import_ods compare", "import_ods", "compare", *source)
        empty()
        lose_the_source(ods, *source)
        empty()
        whole = timed("import_ods documents", "import_ods", "documents", *source)
        print(f"{size() / count:,.0f} bytes a document, with indexes", flush=True)
        with writing(ods):
            for _ in range(2):
                timed("--since-last, beside a writer", "import_ods", "documents", *source, "--since-last")
        timed("--since-last, the last one", "import_ods", "documents", *source, "--since-last")
        timed("import_ods compare", "import_ods", "compare", *source)
    print(f"continued {continued:.1f} s; {count / whole:,.0f} documents/s; load_documents {loaded:.1f} s")


def move_out(ods) -> int:
    """Fill the ODS from our views, and remove everything here."""
    from edfi_api.sql_views.current import current_views  # noqa: PLC0415  It needs Django's settings.

    ods.fill(current_views("default").views)
    ods.run("ANALYZE")
    return empty()


def empty() -> int:
    """Remove all documents, and what passes know; how many there were."""
    from django.db import connection  # noqa: PLC0415  It needs Django's settings.

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM document")
        count = cursor.fetchone()[0]
        cursor.execute(
            "TRUNCATE document, alias, reference, superseded_document, deleted_document, key_change,"
            " organization_closure, reached_document, ods_pass CASCADE"
        )
    return int(count)


def read_alone(ods) -> None:
    """All documents of the source, without writing them."""
    from edfi_api.ods_import.fitting import ServedModel, queries  # noqa: PLC0415  It needs Django's settings.
    from edfi_api.ods_import.ods_source import opened  # noqa: PLC0415  Likewise.

    started = time.monotonic()
    with opened(ods.address) as source:
        chosen = queries(ServedModel.current("default"), source).values()
        count = sum(1 for query in chosen for _ in source.stream(query.documents()))
    seconds = time.monotonic() - started
    print(f"{seconds:8.1f} s  reading alone: {count / seconds:,.0f} documents/s", flush=True)


def size() -> int:
    """Of the tables of documents."""
    from django.db import connection  # noqa: PLC0415  It needs Django's settings.

    tables = ("document", "alias", "reference", "reached_document", "organization_closure")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", [list(tables)]
        )
        return int(cursor.fetchone()[0])


def kill(after: float, *source: str) -> None:
    """An import, after so many seconds."""
    process = subprocess.Popen([sys.executable, str(MANAGE), "import_ods", "documents", *source])
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()


def lose_the_source(ods, *source: str) -> None:
    """The connection of an import to the source is ended: it says so, in one line."""
    arguments = [sys.executable, str(MANAGE), "import_ods", "documents", *source]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    time.sleep(6)
    ended = ods.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%import_ods'")
    _, err = process.communicate()
    assert ended == [(True,)] and process.returncode == 1, (ended, process.returncode, err)
    assert "the source cannot be read" in err.splitlines()[-1], err


@contextmanager
def writing(ods) -> Iterator[None]:
    """A writer in the source, which takes versions some time before it commits."""
    is_over = threading.Event()

    def write() -> None:
        number = 0
        while not is_over.is_set():
            with ods.connect() as connection:
                connection.execute(
                    f"UPDATE edfi.student SET middlename = %s, changeversion = {NEXT} WHERE studentusi %% 20 = %s",
                    [f"Name {number}", number % 20],
                )
                time.sleep(0.2)
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        is_over.set()
        writer.join()


def timed(what: str, *arguments: str) -> float:
    started = time.monotonic()
    out = manage(*arguments)
    seconds = time.monotonic() - started
    print(f"{seconds:8.1f} s  {what}: {out[-1] if out else ''}", flush=True)
    return seconds


def manage(*arguments: str) -> list[str]:
    """The lines that a command prints; the memory of its largest process is added to the last one."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([sys.executable, str(MANAGE), *arguments], stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        lines = out.read().splitlines()
    if status:
        sys.exit("\n".join([*arguments[:2], *lines[-50:]]))
    return [*lines[:-1], f"{lines[-1] if lines else ''}; {usage.ru_maxrss / 1024:,.0f} MB"]


if __name__ == "__main__":
    main()
