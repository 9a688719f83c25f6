"""The roles of PostgreSQL by which people read the views: one for each person, who is a member of that of the profile.

    DATABASE_questions_PROFILE      may read the columns that the profile does not withhold; no one logs in as it
    DATABASE_questions_of_PERSON    logs in, and sees the rows of its organizations

A person's statements run on connections of the person's own login, so that PostgreSQL keeps the borders: no RESET ROLE,
setting or function leads from there to rights of others. Passwords are derived from the key of the installation and
never stored; PostgreSQL has their hashes.
"""

import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import connections, transaction
from django.db.utils import ProgrammingError
from psycopg import errors, sql

from edfi_api.common.conf import api_settings
from edfi_api.features.questions.exceptions import Refused
from edfi_api.features.questions.models import QuestionReader, QuestionSecret
from edfi_api.features.sql_views import row_filter
from edfi_api.features.sql_views.changes import LOCK
from edfi_api.features.sql_views.models import SqlReader

# Changes when what a role is granted does.
_VERSION = 1
_SESSIONS = 4
_NO_VIEWS = (
    "The database has no SQL views to ask. The operator makes them with manage.py create_sql_views, for people who see"
    " the rows of some organizations with --row-filter."
)
_NO_FILTER = (
    "The SQL views of the database show all rows to everybody, and you may see those of some organizations. The"
    " operator changes that with manage.py create_sql_views --row-filter."
)
_VIEWS = "SELECT digest FROM sql_view WHERE schema = ''"
# The group may read none of the views that were dropped and created again.
_STATE = """
SELECT shobj_description(to_regrole(quote_ident(%(group)s)), 'pg_authid'),
       shobj_description(to_regrole(quote_ident(%(person)s)), 'pg_authid'),
       (SELECT count(*) FROM sql_view v JOIN pg_namespace n ON n.nspname = v.schema
          JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = v.name
         WHERE v.kind = 'view' AND has_any_column_privilege(to_regrole(quote_ident(%(group)s)), c.oid, 'SELECT'))
"""
_COLUMNS = """
SELECT v.schema, v.name, array_agg(a.attname::text ORDER BY a.attnum)
  FROM sql_view v JOIN pg_namespace n ON n.nspname = v.schema
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = v.name
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE v.kind = 'view'
 GROUP BY 1, 2 ORDER BY 1, 2
"""
_EXISTS = "SELECT to_regrole(quote_ident(%s)) IS NOT NULL"
_GROUPS = """
SELECT g.rolname FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
 WHERE m.member = to_regrole(quote_ident(%s)) AND starts_with(g.rolname, current_database() || '_questions_')
"""


@dataclass(frozen=True, slots=True)
class RoleNotMade(Exception):
    """The application may not make the roles; an administrator has to."""

    statements: tuple[str, ...]

    def __str__(self) -> str:
        return "roles may not be created from here; have an administrator execute:\n" + ";\n".join(self.statements)


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a person in a database."""

    reader: QuestionReader
    using: str

    @property
    def person(self) -> str:
        """Return the name of the role that logs in."""
        return f"{self._database}_questions_of_{self.reader.pk}"

    @property
    def group(self) -> str:
        """Return the name of the role that has the rights on columns."""
        return f"{self._database}_questions_{self.reader.profile_id or 0}"

    @property
    def _database(self) -> str:
        return str(_value(self.using, "SELECT current_database()"))

    def login(self) -> dict[str, Any]:
        """Bring the roles in line with the person, the profile and the views; return psycopg's parameters.

        Raises Refused if there are no views, or none that keep the person's borders, and RoleNotMade.
        """
        views = _value(self.using, _VIEWS)
        if views is None:
            raise Refused(_NO_VIEWS)
        is_filtered = row_filter.is_on(self.using)
        if not is_filtered and not self.reader.sees_everything:
            raise Refused(_NO_FILTER)
        of_group = _digest(_VERSION, views, is_filtered, self.reader.withheld)
        of_person = _digest(_VERSION, self.group, self.reader.sees_everything, self.reader.organizations)
        names = {"group": self.group, "person": self.person}
        with connections[self.using].cursor() as cursor:
            cursor.execute(_STATE, names)
            group_there, person_there, readable = cursor.fetchone()
        if group_there != f"{of_group} {readable}":
            self._run_in_transaction(lambda: self._update_group(of_group))
        if person_there != of_person:
            self._run_in_transaction(lambda: self._update_person(of_person))
        given = connections[self.using].get_connection_params()
        kept = {name: value for name, value in given.items() if name not in _OF_THE_APPLICATION}
        return kept | {"user": self.person, "password": self._password(), "autocommit": True}

    def set_password(self) -> None:
        """Give the role the password of this installation's key, which may have been replaced."""
        name = _identifier(self.person)
        self._run_in_transaction(lambda: self._run([f"ALTER ROLE {name} PASSWORD {self._hashed()}"]))

    def _update_group(self, digest: str) -> None:
        group = _identifier(self.group)
        statements = [] if self._exists(self.group) else [f"CREATE ROLE {group} NOLOGIN"]
        statements += _pseudonym_statements(self.using, group)
        with connections[self.using].cursor() as cursor:
            cursor.execute(_COLUMNS)
            columns = cursor.fetchall()
        for schema in sorted({schema for schema, _, _ in columns}):
            statements.append(f"REVOKE ALL ON ALL TABLES IN SCHEMA {_identifier(schema)} FROM {group}")
            statements.append(f"GRANT USAGE ON SCHEMA {_identifier(schema)} TO {group}")
        grants = list(self._grants(columns, group))
        self._run([*statements, *grants, f"COMMENT ON ROLE {group} IS '{digest} {len(grants)}'"])

    def _grants(self, columns: list[tuple[str, str, list[str]]], group: str) -> Iterator[str]:
        """Yield the statements that let the group read what is not withheld: whole views, or columns of a view."""
        for schema, view, names in columns:
            shown = [name for name in names if not is_withheld(self.reader.withheld, schema, view, name)]
            listed = "" if shown == names else f" ({', '.join(map(_identifier, shown))})"
            if shown:
                yield f"GRANT SELECT{listed} ON {_identifier(schema)}.{_identifier(view)} TO {group}"

    def _update_person(self, digest: str) -> None:
        person, group = _identifier(self.person), _identifier(self.group)
        how = f"LOGIN CONNECTION LIMIT {_SESSIONS} PASSWORD {self._hashed()}"
        if not self._exists(self.person):
            self._run([f"CREATE ROLE {person} {how}"])
        with connections[self.using].cursor() as cursor:
            cursor.execute(_GROUPS, [self.person])
            former = [name for (name,) in cursor.fetchall() if name != self.group]
        self._run(
            [
                f"ALTER ROLE {person} {how}",
                f"ALTER ROLE {person} SET default_transaction_read_only = on",
                *(f"REVOKE {_identifier(name)} FROM {person}" for name in former),
                f"GRANT {group} TO {person}",
                f"COMMENT ON ROLE {person} IS '{digest}'",
            ]
        )
        rows = SqlReader.objects.using(self.using)
        rows.filter(role=self.person).delete()
        seen: list[int | None] = [None] if self.reader.sees_everything else [*set(self.reader.organizations)]
        rows.bulk_create(SqlReader(role=self.person, organization=each) for each in seen)

    def _run_in_transaction(self, work: Any) -> None:
        with transaction.atomic(self.using):
            self._run([f"SELECT pg_advisory_xact_lock({LOCK})"])
            work()

    def _run(self, statements: list[str]) -> None:
        try:
            with connections[self.using].cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
        except ProgrammingError as error:
            if isinstance(error.__cause__, errors.InsufficientPrivilege):
                raise RoleNotMade(tuple(statements)) from error
            raise

    def _exists(self, role: str) -> bool:
        return bool(_value(self.using, _EXISTS, [role]))

    def _password(self) -> str:
        """Return what neither the key of the installation nor the database alone allows to derive."""
        key = next(iter(api_settings.STORE_KEYS), None) or settings.SECRET_KEY
        return hmac.new(key.encode(), QuestionSecret.current() + self.person.encode(), sha256).hexdigest()

    def _hashed(self) -> str:
        connection = connections[self.using]
        connection.ensure_connection()
        hashed = connection.connection.pgconn.encrypt_password(
            self._password().encode(), self.person.encode(), b"scram-sha-256"
        )
        return sql.Literal(hashed.decode()).as_string(None)


# Parameters of Django's connection that are not those of the person's.
_OF_THE_APPLICATION = {
    "cursor_factory", "context", "user", "password", "passfile", "sslcert", "sslkey", "sslpassword"
}  # fmt: skip


def is_withheld(patterns: list[str], schema: str, view: str, column: str) -> bool:
    """Return whether one of the patterns matches the column, with or without its view and schema. A view with texts has
    the columns of the view without."""
    names = (column, f"{view}.{column}", f"{schema}.{view}.{column}", f"{schema.removesuffix('_text')}.{view}.{column}")
    return any(fnmatchcase(name, pattern.lower()) for pattern in patterns for name in names)


def _digest(*facts: object) -> str:
    return sha256(json.dumps(facts).encode()).hexdigest()


def _identifier(name: str) -> str:
    return sql.Identifier(name).as_string(None)


def _value(using: str, statement: str, parameters: list[Any] | None = None) -> Any:
    with connections[using].cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
        return None if row is None else row[0]


# A pseudonym is made from the unique id by HMAC-SHA-256 with the secret of the installation, so it is the same in every
# database of the installation, and after the documents were loaded into another one. Readers can look pseudonyms up and
# not make any: the key is in a table that only the owner of the view reads. The view belongs to the role that the other
# views belong to, so it has the same rows (`sql_views/row_filter.py`).
_HMAC_BLOCK = 64
_PSEUDONYMS = """
CREATE OR REPLACE VIEW pseudonym.person AS
SELECT d.id::integer AS usi,
       left(encode(sha256(k.outer_pad || sha256(k.inner_pad || convert_to(
           CASE WHEN d.student IS NOT NULL THEN 'student ' || d.student
                WHEN d.contact IS NOT NULL THEN 'contact ' || d.contact
                ELSE 'staff ' || d.staff END, 'UTF8'))), 'hex'), 16) AS pseudonym
  FROM public.document d CROSS JOIN pseudonym.key k
 WHERE d.is_person AND d.id BETWEEN 1 AND 2147483647
"""


def _pseudonym_statements(using: str, group: str) -> Iterator[str]:
    """Yield what makes the view `pseudonym.person`, if it is not there, brings it in line with the row filter, and lets
    a role read it. It has a pseudonym for each person, by the number by which other views refer to the person."""
    secret = QuestionSecret.current()
    inner, outer = (bytes(byte ^ pad for byte in secret.ljust(_HMAC_BLOCK, b"\0")).hex() for pad in (0x36, 0x5C))
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT to_regclass('pseudonym.person') IS NOT NULL, quote_ident(current_user)")
        is_there, owner = cursor.fetchone()
    if not is_there:
        yield "CREATE SCHEMA IF NOT EXISTS pseudonym"
        yield "CREATE TABLE IF NOT EXISTS pseudonym.key (inner_pad bytea NOT NULL, outer_pad bytea NOT NULL)"
        yield _PSEUDONYMS
    yield "DELETE FROM pseudonym.key"
    yield f"INSERT INTO pseudonym.key VALUES ('\\x{inner}', '\\x{outer}')"
    if row_filter.is_on(using):
        owner = f'"{row_filter.role(using)}"'
        yield f"GRANT USAGE, CREATE ON SCHEMA pseudonym TO {owner}"
        yield f"GRANT SELECT ON pseudonym.key TO {owner}"
    yield f"ALTER VIEW pseudonym.person OWNER TO {owner}"
    yield f"GRANT USAGE ON SCHEMA pseudonym TO {group}"
    yield f"GRANT SELECT ON pseudonym.person TO {group}"
