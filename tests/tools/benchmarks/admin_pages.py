"""How long the pages of the admin about schools, students, refused writes and names take in a large database.

    DATABASE_URL=... python -m tests.tools.benchmarks.admin_pages [--today DAY] [--only TEXT] [--plans]

The database is one that `make bench-data SIZE=10000000` has filled; refused writes and findings about its schools are
added where there are none. Each page is requested three times in this process as a user with all permissions: with no
figure known, right after that, and when what is counted behind it is done. Columns are milliseconds of the page,
processor time of this process and of PostgreSQL for it, the longest statement, and how many figures it goes without.
"""

import argparse
import os
import re
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from io import StringIO
from typing import Any

import django
from django.utils import timezone

from tests.tools.benchmarks.processor_time import processor_time

_HOST = "localhost"
_ROWS = 100_000
_NAMES = ("La", "a", "mae ortiz", "Greene, Ada", "lark meadow high", "finch")
_NUMBERS = ("7700000030007", "91002", "schoolId=770000003")
_SECONDS_BEHIND = 600
_HEADINGS = ("cold", "CPU", "SQL", "longest", "again", "CPU", "SQL", "warm", "CPU", "SQL")


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="admin_pages", description=__doc__.partition("\n")[0])
    parser.add_argument("--today", type=date.fromisoformat, default=date(2025, 11, 14), help="a day of the school year")
    parser.add_argument("--only", default="", help="pages whose addresses have this text")
    parser.add_argument("--plans", action="store_true", help="print statements of more than 100 ms")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    _set_today(options.today)
    _add_ledger(options.today)
    print(f"{'':<54}", *(f"{heading:>7}" for heading in _HEADINGS), "without")
    for page in _pages():
        if options.only in page:
            _measure(page, options.plans)


def _set_today(today: date) -> None:
    """Let Django's functions be in the school year of the documents."""
    away = timezone.localdate() - today
    now = timezone.now
    timezone.now = lambda: now() - away
    timezone.localdate = lambda *_: today


def _pages() -> Iterator[str]:
    from django.db import connection  # noqa: PLC0415  Django is set up by now

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT d.id, d.hierarchy[1] FROM document d JOIN resource_type t ON t.id = d.resource_type_id"
            " WHERE t.name = 'School' ORDER BY d.id OFFSET 7 LIMIT 1"
        )
        row, school = cursor.fetchone()
        cursor.execute("SELECT id FROM document WHERE student = %s AND is_person", [f"{school}0007"])
        [student] = cursor.fetchone()
        cursor.execute("SELECT id FROM refusal ORDER BY last_at DESC LIMIT 1")
        [refusal] = cursor.fetchone()
    yield "/admin/"
    yield from (f"/admin/schools/{query}" for query in ("", "?p=30", "?attendance=none"))
    yield f"/admin/edfi_api/document/{row}/change/"
    yield from (f"/admin/schools/{school}/students/{query}" for query in ("", "?without=contacts", "?without=marks"))
    yield f"/admin/schools/{school}/absences/"
    yield f"/admin/edfi_api/document/{student}/change/"
    yield "/admin/edfi_api/document/"
    yield from (f"/admin/search/?q={text}" for text in (*_NAMES, *_NUMBERS))
    refusals = "/admin/refusals/refusal/"
    yield from (
        f"{refusals}{query}"
        for query in ("", "?state=all", f"?organization={school}", "overview/", "activity/", f"cause/{refusal}/")
    )
    yield from (
        f"{refusals}?state=all{query}" for query in ("&client=1", f"&organization={school}", "&q=7700000030007")
    )
    results = "/admin/validation/validationresult/"
    yield from (f"{results}{query}" for query in ("", f"?organization={school}", "overview/"))


def _measure(page: str, with_plans: bool) -> None:
    from django.contrib.auth.models import User  # noqa: PLC0415  Django is set up by now
    from django.db import connection  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from edfi_api.features.today.figure_cache import cache  # noqa: PLC0415
    from edfi_api.features.today.models import CountedFigure  # noqa: PLC0415

    client = Client(headers={"host": _HOST})
    client.force_login(User.objects.get_or_create(username="pages", is_staff=True, is_superuser=True)[0])
    cache.clear()
    CountedFigure.objects.all().delete()
    client.get("/admin/nothing/")  # Templates and addresses are read once in a process.
    columns, without = [], ""
    for turn in range(3):
        if turn == 2:
            _wait(cache)
        log = _Log()
        before, began, own = processor_time(connection.connection), time.perf_counter(), time.thread_time()
        with connection.execute_wrapper(log):
            answer = client.get(page)
        taken, own = 1000 * (time.perf_counter() - began), 1000 * (time.thread_time() - own)
        worked = processor_time(connection.connection) - before
        columns.append((taken, own, worked, 1000 * max((seconds for seconds, _ in log.statements), default=0)))
        left_out = re.findall(r"<p class=\"left-out\"[^>]*>([^:<]*):", answer.content.decode())
        without += f" {len(left_out)}"
        if answer.status_code != 200:
            without += f" status {answer.status_code}"
        for seconds, statement in log.statements if with_plans else ():
            if seconds > 0.1:
                print(f"-- {turn} {seconds:.2f} s: {statement}")
    (*cold, longest), (*again, _), (*warm, _) = columns
    numbers = [*cold, longest, *again, *warm]
    print(f"{page[:54]:<54}", *(f"{number:>7.0f}" for number in numbers), without, flush=True)


class _Log:
    """The statements of a page, with the seconds that each took."""

    def __init__(self) -> None:
        self.statements: list[tuple[float, str]] = []

    def __call__(self, execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(sql, parameters, many, context)
        finally:
            self.statements.append((time.perf_counter() - began, f"{sql} {str(parameters)[:300]}"))


def _wait(cache: Any) -> None:
    """Wait until everything that a page leaves to the background is counted."""
    end = time.monotonic() + _SECONDS_BEHIND
    began = time.monotonic()
    while cache.is_running and time.monotonic() < end:
        time.sleep(0.05)
    if (seconds := time.monotonic() - began) > 0.1:
        print(f"counted in the background: {seconds:.1f} s")


_REFUSALS = """
INSERT INTO refusal (
    id, client, data_store, resource, subject, has_identity, natural_key, document_uuid, organization, operation,
    is_batch, is_summary, status, problem, title, paths, errors, cause, cause_text, awaited_resource, correlation_id,
    first_at, last_at, count, resolved_at, resolution, sequence
)
SELECT gen_random_uuid(), clients.ids[1 + mod(n, cardinality(clients.ids))], 0,
       (ARRAY['/ed-fi/studentSchoolAssociations', '/ed-fi/grades', '/ed-fi/sections', '/ed-fi/staffs'])[1 + mod(n, 4)],
       md5(n::text)::uuid, true, 'NK#studentUniqueId=' || 770000001 + mod(n, 2000) || lpad(mod(n, 200)::text, 4, '0'),
       md5('document' || n)::uuid, 770000001 + mod(n * 7919, 2000), 'upsert', false, false,
       CASE WHEN mod(n, 5) = 0 THEN 400 ELSE 409 END,
       CASE WHEN mod(n, 5) = 0 THEN 'bad-request' ELSE 'data-conflict:unresolved' END,
       'Title', '{"$.schoolReference": ["The referenced School item does not exist."]}', '[]',
       md5('cause' || mod(n, 400))::uuid, 'School NK#schoolId=' || mod(n, 400) || ' is missing', '/ed-fi/schools',
       to_hex(n), at, at, 1, CASE WHEN mod(n, 5) > 0 THEN at END, CASE WHEN mod(n, 5) > 0 THEN 'succeeded' END, n
  FROM (SELECT n, %(now)s::timestamptz - (%(rows)s - n) * interval '28 days' / %(rows)s AS at
          FROM generate_series(1, %(rows)s::bigint) n) numbered,
       (SELECT array_agg(id ORDER BY id) AS ids FROM security_apiclient) clients
"""
_HOURS = """
INSERT INTO submission_hour (hour, client, data_store, resource, accepted, refused, last_accepted_at, last_refused_at)
SELECT hour, c.id, 0, '/ed-fi/' || resource, 100, 3, hour, hour
  FROM security_apiclient c,
       generate_series(date_trunc('hour', %(now)s::timestamptz) - interval '60 days', %(now)s, '1 hour') hour,
       unnest(ARRAY['students', 'grades', 'staffs', 'studentSchoolAssociations']) resource
"""
_RULES = """
INSERT INTO validation_rule (
    source, identifier, version, digest, file, language, resource, severity, category, short_description, description,
    help_url, external_id, logic, is_active, document_types
)
SELECT 'tests', 'R-' || n, '1', '', '', 'sql', 'Student', (ARRAY['major', 'minor', 'warning'])[least(n, 3)],
       'Usual', 's', 'd', '', '', '', true, ARRAY[(SELECT id FROM resource_type WHERE name = 'Student')]
  FROM generate_series(1, 20) n
"""
_RUN = """
INSERT INTO validation_run (run_identifier, host, started_by, change_version, status)
VALUES ('r', 'h', 't', 1, 'Completed')
"""
_RESULTS = """
INSERT INTO validation_result (
    result_uuid, result_key, episode, rule_id, digest, document_uuid, resource_type_id, natural_key, organization,
    student, message, first_run, appeared_at, resolved_at, resolved_run
)
SELECT md5(n::text)::uuid, md5(n::text)::uuid, 1, v.id, sha256(n::text::bytea), md5('student' || n)::uuid, t.id,
       'NK#studentUniqueId=' || n, 770000001 + mod(n * 7919, 2000), 'S' || n / 10, 'message', 1,
       %(now)s::timestamptz - (%(rows)s - n) * interval '60 days' / %(rows)s,
       CASE WHEN mod(n, 10) = 0 THEN %(now)s::timestamptz END, CASE WHEN mod(n, 10) = 0 THEN 1 END
  FROM resource_type t, generate_series(1, %(rows)s::bigint) n
  JOIN validation_rule v ON v.identifier = 'R-' || 1 + mod(n, 20)
 WHERE t.name = 'Student'
"""


def _add_ledger(today: date) -> None:
    """Refused writes of twenty clients, a fifth of them open, and findings, nine tenths of them open."""
    from django.core.management import call_command  # noqa: PLC0415  Django is set up by now
    from django.db import connection  # noqa: PLC0415

    given: dict[str, Any] = {
        "rows": _ROWS,
        "now": timezone.make_aware(datetime.combine(today, datetime.min.time())) + timedelta(hours=9),
    }
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM refusal OFFSET 1000)")
        if cursor.fetchone()[0]:
            return
        for number in range(20):
            call_command("create_api_client", f"SIS {number}", "--claim-set", "EdFiSandbox", stdout=StringIO())
        for statement in (_REFUSALS, _HOURS, _RULES, _RUN, _RESULTS):
            cursor.execute(statement, given)
        cursor.execute("ANALYZE refusal, open_refusals, submission_hour, validation_result, open_validation_results")


if __name__ == "__main__":
    main()
