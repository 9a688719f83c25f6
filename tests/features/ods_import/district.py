"""`make drill-cutover`: a cutover, with the made-up district as the content of an ODS, and the time of each step.

    python -m tests.features.ods_import.district [--students N] [--kills N]

A district is loaded, copied by our views into a database with the tables of an ODS on a server of its own, and removed
here; then it is imported, by processes that are killed, from a source that restarts, whole, and in passes beside a
writer; both sides have to be the same. At last a text of 1 GB has to be refused. No import may need more than 300 MB.
Needs a database of its own, which it empties.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import django

# The end of a school year, so that all of it is there.
_TODAY = "2026-06-05"
MANAGE = Path(__file__).parents[3] / "manage.py"
MOST_MEGABYTES = 300
NEXT = "nextval('changes.changeversionsequence')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    students, kills = options.students, options.kills
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    from meadowlark.run.embedded_postgres import VOLATILE, EmbeddedPostgres  # noqa: PLC0415  It needs Django's settings.
    from tests.features.ods_import.ods import ODS, database  # noqa: PLC0415  Likewise.

    for command in (
        ["migrate", "--verbosity", "0"],
        ["load_descriptors"],
        ["load_school_years", "2020-2030", "--current", "2027"],
    ):
        manage(*command)
    with tempfile.TemporaryDirectory() as folder:
        manage("generate_demo_district", "--output", folder, "--students", str(students), "--today", _TODAY)
        loaded = timed("load_documents, into the same database before", "load_documents", folder)
    with (
        tempfile.TemporaryDirectory(prefix="meadowlark-ods-") as home,
        EmbeddedPostgres(Path(home), VOLATILE) as server,
        database("ods_of_the_district", ODS, url=server.url) as ods,
    ):
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
        restart_the_source(server, *source)
        timed("import_ods documents, continued after that", "import_ods", "documents", *source)
        timed("import_ods compare", "import_ods", "compare", *source)
        empty()
        whole = timed("import_ods documents", "import_ods", "documents", *source)
        print(f"{size() / count:,.0f} bytes a document, with indexes", flush=True)
        with writing(ods):
            for _ in range(2):
                timed("--since-last, beside a writer", "import_ods", "documents", *source, "--since-last")
        timed("--since-last, the last one", "import_ods", "documents", *source, "--since-last")
        timed("import_ods compare", "import_ods", "compare", *source)
        refuse_a_large_text(ods, *source)
    print(f"continued {continued:.1f} s; {count / whole:,.0f} documents/s; load_documents {loaded:.1f} s")


def move_out(ods) -> int:
    """Fill the ODS from our views, and remove everything here."""
    from edfi_api.features.sql_views.current import current_views  # noqa: PLC0415  It needs Django's settings.

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
    from edfi_api.features.ods_import.compatibility import ServedModel, queries  # noqa: PLC0415  It needs Django's settings.
    from edfi_api.features.ods_import.ods_source import opened  # noqa: PLC0415  Likewise.

    started = time.monotonic()
    with opened(ods.address) as source:
        chosen = queries(ServedModel.current("default"), source).values()
        count = sum(1 for query in chosen for _ in source.stream(query.documents()))
    seconds = time.monotonic() - started
    print(f"{seconds:8.1f} s  reading alone: {count / seconds:,.0f} documents/s", flush=True)


def has_documents() -> bool:
    from django.db import connection  # noqa: PLC0415  It needs Django's settings.

    with connection.cursor() as cursor:
        return bool(cursor.execute("SELECT EXISTS (SELECT FROM document)").fetchone()[0])


def size() -> int:
    """Return the size of the tables of documents."""
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


def restart_the_source(server, *source: str) -> None:
    """The server of the source restarts while it is read: the import says so, in one line."""
    arguments = [sys.executable, str(MANAGE), "import_ods", "documents", *source]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    while not has_documents() and process.poll() is None:
        time.sleep(0.05)
    server.__exit__()
    _, err = process.communicate()
    server.__enter__()
    assert process.returncode == 1 and "the source cannot be read" in err.splitlines()[-1], (process.returncode, err)


def refuse_a_large_text(ods, *source: str) -> None:
    """A text of 1 GB in a column that has lost its limit: refused by its size, which costs no memory here."""
    ods.run("ALTER TABLE edfi.student ALTER firstname TYPE text")
    ods.run(
        f"UPDATE edfi.student SET firstname = repeat('x', 1000000000), changeversion = {NEXT}"
        " WHERE studentusi = (SELECT min(studentusi) FROM edfi.student)"
    )
    passed = ["import_ods", "documents", *source, "--since-last", "--max-refused", "1"]
    timed("--since-last, with a text of 1 GB", *passed)
    checked = run([sys.executable, str(MANAGE), "import_ods", "check", *source])
    assert checked.status == 1 and "1 texts of more than 75 characters" in checked.text, checked.text
    assert checked.megabytes < MOST_MEGABYTES, checked.megabytes


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


class Ended(NamedTuple):
    """What a process has printed, its exit status, and the memory of the largest of its processes."""

    status: int
    text: str
    megabytes: float


def run(arguments: Sequence[str]) -> Ended:
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(arguments, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        return Ended(os.waitstatus_to_exitcode(status), out.read(), usage.ru_maxrss / 1024)


def manage(*arguments: str) -> list[str]:
    """The lines that a command prints; its memory is added to the last one."""
    ended = run([sys.executable, str(MANAGE), *arguments])
    lines = ended.text.splitlines()
    if ended.status:
        sys.exit("\n".join([*arguments[:2], *lines[-50:]]))
    if arguments[0] == "import_ods" and ended.megabytes > MOST_MEGABYTES:
        sys.exit(f"{arguments[:2]} took {ended.megabytes:,.0f} MB")
    return [*lines[:-1], f"{lines[-1] if lines else ''}; {ended.megabytes:,.0f} MB"]


if __name__ == "__main__":
    main()
