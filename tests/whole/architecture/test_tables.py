"""Each table has an owner. SQL of a package refers only to tables of lower packages, or to tables published for it.
The layers are those of `layers`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests.whole.architecture.layers import ORDERED_PACKAGES, position_in, storey_of
from tests.whole.architecture.source import MODULES, TOP, module_name

STORAGE, REFERENCES, SECURITY = "edfi_api.core.storage", "references", "edfi_api.core.security"
PROFILES = "edfi_api.core.security.profiles"
DATA_STORES = "edfi_api.core.data_stores"
EXCHANGE = "edfi_api.features.exchange"
REFUSALS = "edfi_api.features.refusals"
VALIDATION = "edfi_api.features.validation"
QUESTIONS = "edfi_api.features.questions"
TABLES = "edfi_api.features.tables"
MANAGEMENT = "edfi_api.features.management_api"
HISTORY, STREAM = "edfi_api.features.changes.change_queries", "edfi_api.features.changes.change_stream"

# Table or view → the package whose code or triggers write it.
OWNERS = {
    "admin_identity": "edfi_api.site.sign_in",
    "alias": REFERENCES,
    "api_client_data_store": SECURITY,
    "authorization_path": STORAGE,
    "change_consumer": HISTORY,
    "claims_version": SECURITY,
    "contact_path": STORAGE,
    "counted_figure": "edfi_api.features.today",
    "data_store": DATA_STORES,
    "data_store_context": DATA_STORES,
    "data_store_derivative": DATA_STORES,
    "data_stores_version": DATA_STORES,
    "dead_letter": STREAM,
    "deleted_document": HISTORY,
    "document": STORAGE,
    "document_change": STREAM,
    "exchange_connection": EXCHANGE,
    "exchange_pinned": EXCHANGE,
    "exchange_position": EXCHANGE,
    "exchange_sent_document": f"{EXCHANGE}.push",
    "exchange_state": EXCHANGE,
    "exchange_waiting": EXCHANGE,
    "external_identity": SECURITY,
    "key_change": HISTORY,
    "key_field": HISTORY,
    "mail_sent": "edfi_api.features.mail",
    "management_api_managementclient": MANAGEMENT,
    "management_api_managementtoken": MANAGEMENT,
    "migration_digest": "edfi_api.core.data_stores",
    "open_refusals": REFUSALS,
    "open_validation_results": VALIDATION,
    "organization_closure": STORAGE,
    "profiles_profile": PROFILES,
    "profiles_profileassignment": PROFILES,
    "rate_limit": SECURITY,
    "reached_document": STORAGE,
    "purge_run": HISTORY,
    "question": QUESTIONS,
    "question_profile": QUESTIONS,
    "question_reader": QUESTIONS,
    "question_secret": QUESTIONS,
    "recent_writer": STORAGE,
    "reference": REFERENCES,
    "refusal": REFUSALS,
    "refusal_follow_up": REFUSALS,
    "refusal_position": REFUSALS,
    "refused_tokens": SECURITY,
    "run_minute": "edfi_api.features.runs",
    "sandbox": "edfi_api.features.sandboxes",
    "resource_type": STORAGE,
    "ods_document": "edfi_api.features.ods_import",
    "ods_ownership_token": "edfi_api.features.ods_import",
    "ods_pass": "edfi_api.features.ods_import",
    "scheduled_command": "edfi_api.site.schedule",
    "security_apiclient": SECURITY,
    "security_application": SECURITY,
    "security_claimset": SECURITY,
    "security_defaultstrategies": SECURITY,
    "security_grant": SECURITY,
    "security_overridingstrategies": SECURITY,
    "security_resourceclaim": SECURITY,
    "security_vendor": SECURITY,
    "submission_hour": REFUSALS,
    "sql_copy": "edfi_api.features.sql_views",
    "sql_reader": "edfi_api.features.sql_views",
    "sql_view": "edfi_api.features.sql_views",
    "staff_path": STORAGE,
    "staged_violation": VALIDATION,
    "student_path": STORAGE,
    "restoration": HISTORY,
    "secret_link": SECURITY,
    "superseded_document": HISTORY,
    "table_load": TABLES,
    "table_row": TABLES,
    "table_template": TABLES,
    "tenant": DATA_STORES,
    "validation_dismissal": VALIDATION,
    "validation_follow_up": VALIDATION,
    "validation_request": VALIDATION,
    "validation_result": VALIDATION,
    "validation_rule": VALIDATION,
    "validation_run": VALIDATION,
    "validation_run_rule": VALIDATION,
}

# Modules below the owner that may refer to its tables.
PUBLISHED = {
    # ReadChanges authorizes rows of the history, by their own key values, by associations that were deleted, and by the
    # versions at which associations began.
    "edfi_api.core.security.strategies.reach": {"deleted_document", "key_change", "superseded_document"},
    "edfi_api.core.security.strategies.strategy": {"key_field"},
}

_LIBRARY_PREFIXES = ("auth_", "django_", "oauth2_provider_", "otp_")
_TABLE = r"(?:public\.)?[a-z_][a-z_0-9]*"
_WITH_ALIAS = rf"{_TABLE}(?:\s+(?:AS\s+)?[a-z_][a-z_0-9]*)?"
# Keywords are in upper case, names in lower case.
_TABLE_LIST = re.compile(
    r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING|ANALYZE|TRUNCATE)\s+(?:ONLY\s+)?"
    rf"({_WITH_ALIAS}(?:\s*,\s*{_WITH_ALIAS})*)"
)


@pytest.mark.django_db
def test_every_table_has_an_owner() -> None:
    with connection.cursor() as cursor:
        tables = {table.name for table in connection.introspection.get_table_list(cursor)}

    assert {name for name in tables if not name.startswith(_LIBRARY_PREFIXES)} == set(OWNERS)


def test_sql_refers_only_to_tables_of_lower_packages() -> None:
    upwards = {
        (module, table)
        for module, table in _table_references()
        if _is_above(OWNERS[table], module) and table not in PUBLISHED.get(module, ())
    }

    assert upwards == set()


def test_every_published_table_is_used() -> None:
    named = set(_table_references())

    assert [
        (module, table) for module in PUBLISHED for table in PUBLISHED[module] if (module, table) not in named
    ] == []


def test_every_statement_file_is_read_by_a_module_of_its_package() -> None:
    unused = [
        str(path.relative_to(TOP))
        for path in _statement_files()
        if not any(f'"{path.stem}"' in module.read_text() for module in path.parents[1].glob("*.py"))
    ]

    assert unused == []


def _table_references() -> Iterator[tuple[str, str]]:
    """Module or folder, and each owned table in its SQL. Landed migrations are exempt."""
    for path in MODULES:
        if "migrations" not in path.parts:
            yield from ((module_name(path), table) for text in _strings(path) for table in _tables(text))
    for path in _statement_files():
        yield from ((module_name(path.parents[1]), table) for table in _tables(path.read_text()))


def _strings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _tables(text: str) -> list[str]:
    named = (each.split()[0] for tables in _TABLE_LIST.findall(text) for each in tables.split(","))
    return [name for each in named if (name := each.removeprefix("public.")) in OWNERS]


def _statement_files() -> list[Path]:
    return sorted((TOP / "edfi_api").rglob("statements/*.sql"))


def _is_above(owner: str, module: str) -> bool:
    storey, own = storey_of(module), storey_of(owner)
    assert storey is not None and own is not None
    if storey != own:
        return own > storey
    return any(
        (above := position_in(packages, owner)) is not None
        and (below := position_in(packages, module)) is not None
        and above > below
        for packages in ORDERED_PACKAGES
    )
