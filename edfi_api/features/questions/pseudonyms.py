"""The view `pseudonym.person`: a pseudonym for each person, by the number by which other views refer to the person.

A pseudonym is made from the unique id by HMAC-SHA-256 with the secret of the installation, so it is the same in every
database of the installation, and after the documents were loaded into another one. Readers can look pseudonyms up and
not make any: the key is in a table that only the owner of the view reads. The view belongs to the role that the other
views belong to, so it has the same rows (`sql_views/row_filter.py`).
"""

from collections.abc import Iterator

from django.db import connections

from edfi_api.features.questions.models import QuestionSecret
from edfi_api.features.sql_views import row_filter

SCHEMA, VIEW = "pseudonym", "person"
_BLOCK = 64
_VIEW = """
CREATE OR REPLACE VIEW pseudonym.person AS
SELECT d.id::integer AS usi,
       left(encode(sha256(k.outer_pad || sha256(k.inner_pad || convert_to(
           CASE WHEN d.student IS NOT NULL THEN 'student ' || d.student
                WHEN d.contact IS NOT NULL THEN 'contact ' || d.contact
                ELSE 'staff ' || d.staff END, 'UTF8'))), 'hex'), 16) AS pseudonym
  FROM public.document d CROSS JOIN pseudonym.key k
 WHERE d.is_person AND d.id BETWEEN 1 AND 2147483647
"""


def statements(using: str, group: str) -> Iterator[str]:
    """Yield what makes the view, if it is not there, brings it in line with the row filter, and lets a role read it."""
    secret = QuestionSecret.current()
    inner, outer = (bytes(byte ^ pad for byte in secret.ljust(_BLOCK, b"\0")).hex() for pad in (0x36, 0x5C))
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT to_regclass('pseudonym.person') IS NOT NULL, quote_ident(current_user)")
        is_there, owner = cursor.fetchone()
    if not is_there:
        yield "CREATE SCHEMA IF NOT EXISTS pseudonym"
        yield "CREATE TABLE IF NOT EXISTS pseudonym.key (inner_pad bytea NOT NULL, outer_pad bytea NOT NULL)"
        yield _VIEW
    yield "DELETE FROM pseudonym.key"
    yield f"INSERT INTO pseudonym.key VALUES ('\\x{inner}', '\\x{outer}')"
    if row_filter.is_on(using):
        owner = f'"{row_filter.role(using)}"'
        yield f"GRANT USAGE, CREATE ON SCHEMA pseudonym TO {owner}"
        yield f"GRANT SELECT ON pseudonym.key TO {owner}"
    yield f"ALTER VIEW pseudonym.person OWNER TO {owner}"
    yield f"GRANT USAGE ON SCHEMA pseudonym TO {group}"
    yield f"GRANT SELECT ON pseudonym.person TO {group}"
