"""`make test-ods`: the evening of a cut, with the made-up district as the content of an ODS, and the time of each step.

    python -m tests.ods_import.district [--students N]

A district is loaded, copied by our views into a database with the tables of an ODS, and removed here; then it is
imported, a process is killed in the middle of that, and a second pass, `check` and `compare` follow. Needs a database
of its own, which it empties.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import django

MANAGE = Path(__file__).parents[2] / "manage.py"
NEXT = "nextval('changes.changeversionsequence')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=2_000)
    students = parser.parse_args().students
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
        kill_in_the_middle(*source)
        continued = timed("import_ods documents, continued after kill -9", "import_ods", "documents", *source)
        timed("import_ods compare", "import_ods", "compare", *source)
        empty()
        whole = timed("import_ods documents", "import_ods", "documents", *source)
        ods.run(
            f"UPDATE edfi.student SET firstname = firstname || '.', changeversion = {NEXT} WHERE studentusi % 100 = 0"
        )
        last = ("import_ods", "documents", *source, "--since-last", "--margin", "0")
        timed("import_ods documents --since-last --margin 0", *last)
        timed("import_ods compare", "import_ods", "compare", *source)
    print(f"continued {continued:.1f} s; {count / whole:,.0f} documents/s; load_documents {loaded:.1f} s")


def move_out(ods) -> int:
    """Fill the ODS from our views, and remove everything here."""
    from edfi_api.analysis.sql_views.current import current_views  # noqa: PLC0415  It needs Django's settings.

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


def kill_in_the_middle(*source: str) -> None:
    process = subprocess.Popen([sys.executable, str(MANAGE), "import_ods", "documents", *source])
    time.sleep(6)
    process.send_signal(signal.SIGKILL)
    process.wait()


def timed(what: str, *arguments: str) -> float:
    started = time.monotonic()
    out = manage(*arguments)
    seconds = time.monotonic() - started
    print(f"{seconds:8.1f} s  {what}: {out[-1] if out else ''}", flush=True)
    return seconds


def manage(*arguments: str) -> list[str]:
    done = subprocess.run([sys.executable, str(MANAGE), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{arguments[:2]}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout.splitlines()


if __name__ == "__main__":
    main()
