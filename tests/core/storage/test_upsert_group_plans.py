"""A session keeps the plan of a group's statement, which it may have made while there were no documents."""

from typing import Any

import pytest

from edfi_api.core.storage.driver.prepared_statements import _compiled, _prepared_on
from edfi_api.core.storage.policy_statements import likely_set
from edfi_api.core.storage.row_policy import NO_CONDITIONS
from edfi_api.core.storage.rows import STAGED
from edfi_api.core.storage.stored import Outcome
from tests.support.databases import connection
from tests.support.plans import begin_with_new_tables, nodes

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("outcome", [Outcome.INSERTED, Outcome.UPDATED])
@pytest.mark.parametrize("has_links", [True, False])
def test_documents_and_their_identities_are_found_by_indexes(outcome, has_links):
    begin_with_new_tables()
    statement = _compiled(likely_set(outcome, NO_CONDITIONS, STAGED, has_links=has_links).text)
    prepared = _prepared_on(connection.connection, statement)
    values = ", ".join(["NULL"] * len(statement.names))

    with connection.cursor() as cursor:
        # The plan for any values. EXPLAIN (GENERIC_PLAN) would need PostgreSQL 16.
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {prepared.name.decode()} ({values})")
        [[[explained]]] = cursor.fetchall()

    scanned = {(node["Node Type"], node["Relation Name"]) for node in nodes(explained["Plan"]) if _is_scan(node)}
    assert scanned
    assert [name for kind, name in scanned if kind == "Seq Scan"] == []


def _is_scan(node: dict[str, Any]) -> bool:
    return "Relation Name" in node and node["Node Type"] != "ModifyTable"
