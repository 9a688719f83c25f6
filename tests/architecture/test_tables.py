"""Each table has an owner: SQL of another package names only tables of what lies below it, or what their owner
publishes for it. What an import may reach is tested by `test_imports`, by the same floors."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests.architecture.test_imports import MODULES, ROOMS, TOP, _floor, _module_name, _position

STORAGE, REFERENCES, SECURITY = "edfi_api.storage", "references", "edfi_api.security"
PROFILES = "edfi_api.profiles"
HISTORY, STREAM = "edfi_api.changes.change_queries", "edfi_api.changes.change_stream"

# Table or view → the package that writes it, or whose triggers do.
OWNERS = {
    "alias": REFERENCES,
    "authorization_path": STORAGE,
    "change_consumer": HISTORY,
    "claims_version": SECURITY,
    "contact_path": STORAGE,
    "dead_letter": STREAM,
    "deleted_document": HISTORY,
    "document": STORAGE,
    "document_change": STREAM,
    "key_change": HISTORY,
    "key_field": HISTORY,
    "migration_digest": "edfi_api.operation.checks",
    "organization_closure": STORAGE,
    "profiles_profile": PROFILES,
    "profiles_profileassignment": PROFILES,
    "rate_limit": SECURITY,
    "reached_document": STORAGE,
    "recent_writer": STORAGE,
    "reference": REFERENCES,
    "resource_type": STORAGE,
    "security_apiclient": SECURITY,
    "security_application": SECURITY,
    "security_claimset": SECURITY,
    "security_defaultstrategies": SECURITY,
    "security_grant": SECURITY,
    "security_overridingstrategies": SECURITY,
    "security_resourceclaim": SECURITY,
    "security_vendor": SECURITY,
    "sql_view": "edfi_api.analysis.sql_views",
    "staff_path": STORAGE,
    "student_path": STORAGE,
    "superseded_document": HISTORY,
}

# What lies below the owner but may name the table, by module.
PUBLISHED = {
    # ReadChanges authorizes rows of the history, by their own key values and by associations that were deleted.
    "edfi_api.security.policies.reachable": {"deleted_document", "key_change"},
    "edfi_api.security.policies.values": {"key_field"},
}

_OF_LIBRARIES = ("auth_", "django_", "oauth2_provider_")
_NAMED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING|ANALYZE|TRUNCATE)\s+(?:ONLY\s+)?([a-z_][a-z_0-9]*)")


@pytest.mark.django_db
def test_every_table_has_an_owner() -> None:
    with connection.cursor() as cursor:
        tables = {table.name for table in connection.introspection.get_table_list(cursor)}

    assert {name for name in tables if not name.startswith(_OF_LIBRARIES)} == set(OWNERS)


def test_sql_names_tables_of_what_lies_below() -> None:
    upwards = {
        (module, table)
        for module, table in _named_tables()
        if _is_above(OWNERS[table], module) and table not in PUBLISHED.get(module, ())
    }

    assert upwards == set()


def test_what_is_published_is_needed() -> None:
    named = set(_named_tables())

    assert [
        (module, table) for module in PUBLISHED for table in PUBLISHED[module] if (module, table) not in named
    ] == []


def test_a_fixed_statement_is_read_by_a_module_beside_it() -> None:
    """A statement that nothing reads any more is deleted."""
    unread = [
        str(path.relative_to(TOP))
        for path in _statement_files()
        if not any(f'"{path.stem}"' in module.read_text() for module in path.parents[1].glob("*.py"))
    ]

    assert unread == []


def _named_tables() -> Iterator[tuple[str, str]]:
    """Module or folder, and each owned table that its SQL names. Landed migrations are exempt."""
    for path in MODULES:
        if "migrations" not in path.parts:
            yield from ((_module_name(path), table) for text in _strings(path) for table in _tables(text))
    for path in _statement_files():
        yield from ((_module_name(path.parents[1]), table) for table in _tables(path.read_text()))


def _strings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _tables(text: str) -> list[str]:
    return [name for name in _NAMED.findall(text) if name in OWNERS]


def _statement_files() -> list[Path]:
    return sorted((TOP / "edfi_api").rglob("statements/*.sql"))


def _is_above(owner: str, module: str) -> bool:
    floor, own = _floor(module), _floor(owner)
    assert floor is not None and own is not None
    if floor != own:
        return own < floor
    return any(
        (above := _position(rooms, owner)) is not None
        and (below := _position(rooms, module)) is not None
        and above < below
        for rooms in ROOMS
    )
