"""Shows each reader the rows of its organizations, for a database that SQL users of several districts share.

The views belong to a role that owns no table, and the tables that they read have a policy for that role: PostgreSQL
applies it to every row before any condition of a query, so no function in a query sees another row. What decides is
`session_user`, which neither SET ROLE nor a setting changes. The API connects as the owner of the tables, to whom no
policy applies; other roles with rights on the tables see what they saw before.

A row is visible as it is to an API client with the organizations of the reader: by the organization of its document, if
it has one; else by the people it is about; what belongs to no one, such as descriptors, to everyone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from django.db import connections
from django.db.utils import ProgrammingError
from psycopg import errors, sql

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.securables import SecurableKind, groups
from edfi_api.core.security.strategies.reach import REACHES, Pathway, Reachable, association_types
from edfi_api.core.storage import resource_types
from edfi_api.features.sql_views import copies
from edfi_api.features.sql_views.changes import Changes, ViewsNotInstalled
from edfi_api.model.surface.resource import Surface

_TABLES = ("document", "organization_closure")
_PEOPLE = Reachable(REACHES["RelationshipsWithPeopleOnly"])
_EVERYTHING = "(SELECT public.sql_reader_sees_everything())"
_ORGANIZATIONS = "(SELECT public.sql_reader_organizations())"
_FUNCTION = "CREATE OR REPLACE FUNCTION public.{} LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE RETURN ({})"
# Who may act as the owner of the documents can read them anyway: checks, refreshes, superusers.
_SEES_EVERYTHING = """
    pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'public.document'::regclass), 'MEMBER')
    OR EXISTS (SELECT FROM public.sql_reader WHERE role = session_user AND organization IS NULL)
"""
_OF_READER = """
    SELECT coalesce(array_agg(o.id), '{}') FROM (
        SELECT organization FROM public.sql_reader WHERE role = session_user AND organization IS NOT NULL
         UNION
        SELECT c.descendant_id FROM public.sql_reader r
          JOIN public.organization_closure c ON c.ancestor_id = r.organization
         WHERE r.role = session_user
    ) o (id)
"""
_RULES_SEE_EVERYTHING = """
INSERT INTO sql_reader (role, organization) VALUES (%s, NULL) ON CONFLICT DO NOTHING
"""
_DIGEST = """
SELECT coalesce(obj_description(oid, 'pg_policy'), '') FROM pg_policy
 WHERE polname = 'sql_view_rows' AND polrelid = 'public.document'::regclass
"""
_OF_ANOTHER_OWNER = """
SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'v' AND pg_get_userbyid(c.relowner) <> %(owner)s
   AND (EXISTS (SELECT FROM sql_view v WHERE v.schema = n.nspname AND v.name = c.relname)
        OR EXISTS (SELECT FROM sql_copy v WHERE v.schema || '_live' = n.nspname AND v.name = c.relname))
 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """The filter of rows in the views of a database, which is on or off; None leaves it as it is."""

    surface: Surface
    is_wanted: bool | None = None

    def synchronize(self, changes: Changes) -> None:
        """Turn the filter on or off, or bring it in line with the model, and give the views to its role.

        Raises ViewsNotInstalled if the role is not there and may not be created.
        """
        using = changes.using
        before = is_on(using)
        wanted = before if self.is_wanted is None else self.is_wanted
        if wanted:
            _create_role(changes)
            if login := api_settings.RULE_LOGIN.get("user"):
                changes.run(_RULES_SEE_EVERYTHING, [login])
            statements = list(_turned_on(using, self.surface))
            digest = sha256("".join(statements).encode()).hexdigest()
            if digest != _value(using, _DIGEST):
                _execute(changes, [*statements, f"COMMENT ON POLICY sql_view_rows ON public.document IS '{digest}'"])
            for copy in copies.recorded(using) if not before else ():
                _execute(changes, of_copy(using, copy.table) if copy.change_version is not None else ())
        _execute(changes, list(_owned(using, is_filtered=wanted)))
        if before and not wanted:
            _execute(changes, list(_turned_off(using)))


def is_on(using: str) -> bool:
    """Return whether the views of a database filter rows."""
    return _value(using, _DIGEST) is not None


def role(using: str) -> str:
    """The role that the views belong to then. Roles are common to all databases of a server."""
    return f"{_value(using, 'SELECT current_database()')}_sql"


def of_copy(using: str, table: str) -> Iterator[str]:
    """The statements that filter the table of a copied view: a row is visible if its document is."""
    name = _identifier(role(using))
    yield f"GRANT USAGE ON SCHEMA {table.split('.', maxsplit=1)[0]} TO {name}"
    yield f"GRANT SELECT ON {table} TO {name}"
    yield from _without_policies(table)
    yield from _policies(
        table, name, f"EXISTS (SELECT FROM public.document d WHERE d.document_uuid = {table}.document_uuid)"
    )


def _create_role(changes: Changes) -> None:
    name = role(changes.using)
    if _value(changes.using, "SELECT 1 FROM pg_roles WHERE rolname = %s", [name]):
        return
    statements = [f"CREATE ROLE {_identifier(name)} NOLOGIN", f"GRANT {_identifier(name)} TO CURRENT_USER"]
    try:
        _execute(changes, statements)
    except ProgrammingError as error:
        if not isinstance(error.__cause__, errors.InsufficientPrivilege):
            raise
        raise ViewsNotInstalled(
            "the views have to belong to a role that may not be created from here; have it created:",
            *(f"{statement};" for statement in statements),
        ) from error


def _execute(changes: Changes, statements: Iterable[str]) -> None:
    for statement in statements:
        changes.execute(statement)


def _turned_on(using: str, surface: Surface) -> Iterator[str]:
    """The statements that filter rows, or bring the filter in line with the model."""
    name = _identifier(role(using))
    yield f"GRANT USAGE ON SCHEMA public TO {name}"
    yield f"GRANT SELECT ON public.document, public.organization_closure, public.reached_document TO {name}"
    yield from _functions(using)
    conditions = (_of_document(using, surface), f"descendant_id = ANY ({_ORGANIZATIONS}::bigint[])")
    for table, condition in zip(_TABLES, conditions, strict=True):
        yield from _without_policies(f"public.{table}")
        yield from _policies(f"public.{table}", name, condition)


def _turned_off(using: str) -> Iterator[str]:
    """The statements that end it; the views have another owner already."""
    for table in [f"public.{table}" for table in _TABLES] + _copies(using):
        yield from _without_policies(table)
        yield f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"
    names = ("sees_everything()", "organizations()", "reaches_contact(text)", "reaches_staff(text)")
    yield f"DROP FUNCTION {', '.join(f'public.sql_reader_{name}' for name in names)}"
    yield f"DROP OWNED BY {_identifier(role(using))}"  # its privileges


def _owned(using: str, *, is_filtered: bool) -> Iterator[str]:
    """The statements that give the views to the role, or back to the owner of the tables."""
    owner = role(using) if is_filtered else str(_value(using, "SELECT current_user"))
    with connections[using].cursor() as cursor:
        cursor.execute(_OF_ANOTHER_OWNER, {"owner": owner})
        views = [view for (view,) in cursor.fetchall()]
    schemas = sorted({view.partition(".")[0] for view in views})
    if schemas and is_filtered:
        yield f"GRANT USAGE, CREATE ON SCHEMA {', '.join(schemas)} TO {_identifier(owner)}"
    yield from (f"ALTER VIEW {view} OWNER TO {_identifier(owner)}" for view in views)


def _functions(using: str) -> Iterator[str]:
    yield _FUNCTION.format("sql_reader_sees_everything() RETURNS boolean", _SEES_EVERYTHING)
    yield _FUNCTION.format("sql_reader_organizations() RETURNS bigint[]", _OF_READER)
    pathways = {name: _array(numbers) for name, numbers in association_types(using).items()}
    values = {**pathways, "claims": _ORGANIZATIONS}
    for kind in (SecurableKind.CONTACT, SecurableKind.STAFF):
        condition = _PEOPLE.includes(kind, "$1") % values
        yield _FUNCTION.format(f"sql_reader_reaches_{kind}(text) RETURNS boolean", condition)


def _of_document(using: str, surface: Surface) -> str:
    """The condition of the policy. Of several people, the student is looked up before the contact and the contact
    before the staff member, as in `reached_document`; a contact whom the document itself relates to its student needs
    no other relationship."""
    types = association_types(using)
    of_contacts = f"resource_type_id = ANY ({_array(types[Pathway.CONTACT.parameter])})"
    students, staff = (_is_reached(types[each.parameter]) for each in (Pathway.STUDENT, Pathway.STAFF))
    contact_too = f"(contact IS NULL OR {of_contacts} OR public.sql_reader_reaches_contact(contact))"
    staff_too = "(staff IS NULL OR public.sql_reader_reaches_staff(staff))"
    further = "".join(f" AND {condition}" for condition in _further_organizations(using, surface))
    return f"""CASE
        WHEN organization IS NOT NULL THEN organization = ANY ({_ORGANIZATIONS}::bigint[]){further}
        WHEN student IS NOT NULL THEN {students} AND {contact_too} AND {staff_too}
        WHEN contact IS NOT NULL THEN {students} AND {staff_too}
        WHEN staff IS NOT NULL THEN {staff}
        ELSE true END"""


def _is_reached(types: Iterable[int]) -> str:
    return f"""EXISTS (
            SELECT FROM public.reached_document r
             WHERE r.document_id = document.id AND r.association_type_id = ANY ({_array(types)})
               AND r.organization = ANY ({_ORGANIZATIONS}::bigint[]))"""


def _further_organizations(using: str, surface: Surface) -> Iterator[str]:
    """Yield the further organizations of resources whose documents belong to more organizations than the one in the
    column, which an extension can declare: all of them.
    """
    numbers = resource_types.numbers(using)
    for resource in surface.resources:
        of_organizations = [each for each in groups(resource) if each[0].kind is SecurableKind.ORGANIZATION]
        for group in of_organizations[1:]:
            path = ",".join(group[0].path.steps)
            value = f"(body #>> '{{{path}}}')::bigint"
            is_other = f"resource_type_id <> {numbers[resource.name]}"
            yield f"({is_other} OR {value} IS NULL OR {value} = ANY ({_ORGANIZATIONS}::bigint[]))"


def _policies(table: str, role: str, condition: str) -> Iterator[str]:
    yield f"CREATE POLICY sql_view_everyone ON {table} USING (true) WITH CHECK (true)"
    restricted = f"CREATE POLICY sql_view_rows ON {table} AS RESTRICTIVE FOR SELECT TO {role}"
    yield f"{restricted} USING ({_EVERYTHING} OR {condition})"
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"


def _without_policies(table: str) -> Iterator[str]:
    yield from (f"DROP POLICY IF EXISTS {policy} ON {table}" for policy in ("sql_view_everyone", "sql_view_rows"))


def _copies(using: str) -> list[str]:
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_policies"
            " WHERE policyname = 'sql_view_rows' AND schemaname <> 'public'"
        )
        return [table for (table,) in cursor.fetchall()]


def _array(numbers: Iterable[int]) -> str:
    return f"'{{{','.join(map(str, numbers))}}}'::smallint[]"


def _identifier(name: str) -> str:
    return sql.Identifier(name).as_string(None)


def _value(using: str, statement: str, parameters: list[str] | None = None) -> str | None:
    with connections[using].cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
        return None if row is None else str(row[0])
