"""Views of another model in place of those that are there, with others at work, and killed in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import connection, transaction

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.storage import resource_types
from edfi_api.features.sql_views.current import all_views
from edfi_api.features.sql_views.definitions import Definition, definitions
from edfi_api.features.sql_views.installation import Installation
from tests.features.sql_views.killing import kills
from tests.features.sql_views.models import compiled
from tests.features.sql_views.running import query
from tests.support.serving import LAKE_COUNTY, served
from tests.whole.concurrency.concurrently import in_background
from tests.whole.concurrency.conftest import SmallSchool

# To create all views takes seconds.
BEGINNINGS = ("bell", "classperiod", "contact", "parent", "school", "studentschoolassociation", "descriptor")


def of(standard: str, *extensions) -> list[Definition]:
    """Some definitions of a standard; resource types that the database lacks get numbers of no documents."""
    surface = served(standard, *extensions).surface
    present = resource_types.numbers("default")
    numbers = {each.name: present.get(each.name, 20_000 + n) for n, each in enumerate(surface.resources)}
    views = all_views(compiled(BUNDLED_STANDARDS / standard, *extensions), surface, numbers)
    of_extension = [each for each in views if each.schema not in ("edfi", "auth")]
    return definitions([each for each in views if each.name.startswith(BEGINNINGS)] + of_extension, surface)


def views() -> dict[str, list[str]]:
    """The views, with their columns, of all schemas."""
    return dict(
        query(
            "SELECT table_schema || '.' || table_name, array_agg(column_name::text ORDER BY ordinal_position)"
            " FROM information_schema.columns JOIN information_schema.views USING (table_schema, table_name)"
            " WHERE table_schema NOT IN ('public', 'pg_catalog', 'information_schema') GROUP BY 1"
        )
    )


@pytest.mark.long
@pytest.mark.django_db
def test_an_extension_and_another_standard_come_and_go() -> None:
    with transaction.atomic():
        Installation("default").install(of("5.2"), "5.2")
        core = views()

        Installation("default").install(of("5.2", LAKE_COUNTY), "5.2 and an extension")
        extended = views()
        Installation("default").install(of("5.2"), "5.2")
        again = views()
        Installation("default").install(of("3.3.1-b"), "3.3.1-b")
        other = views()
        transaction.set_rollback(True)

    schemas = {name.partition(".")[0] for name in extended}
    assert len(core) > 30
    assert schemas - {name.partition(".")[0] for name in core} == {"lakecounty", "lakecounty_text"}
    assert {name: extended[name] for name in core} == core
    assert again == core
    assert "edfi.parent" in other
    assert "edfi.contact" not in other
    assert "edfi.contact" in core


@pytest.fixture
def school(committing_api, documents, resource_named) -> Iterator[SmallSchool]:
    documents.store(resource_named("School"))
    yield SmallSchool(committing_api)
    connection.close()
    Installation("default").drop()


def of_edfi(definitions: list[Definition], *names: str) -> list[Definition]:
    return [each for each in definitions if each.schema == "edfi" and each.name in ("", *names)]


def test_a_creation_that_is_killed_leaves_the_old_views(school, current_views) -> None:
    old = of_edfi(current_views.definitions, "bellschedule", "school")
    changed = replace(old[1], create=f"{old[1].create.partition(';')[0]};\nCOMMENT ON SCHEMA edfi IS 'changed'")
    new = [old[0], changed, *of_edfi(current_views.definitions, "classperiod", "classperiodmeetingtime")[1:]]
    Installation("default").install(old, "old")

    count = kills(lambda: Installation("default").install(new, "new"), views, every=1)

    assert count > 10
    assert sorted(views()) == ["edfi.bellschedule", "edfi.classperiod", "edfi.classperiodmeetingtime"]


def test_clients_write_while_views_are_created_and_dropped(school, current_views) -> None:
    chosen = of_edfi(current_views.definitions, "classperiod", "classperiodmeetingtime", "school", "bellschedule")

    def create_and_drop() -> int:
        for _ in range(4):
            Installation("default").install(chosen, "of a test")
            Installation("default").drop()
        return 4

    running = in_background(create_and_drop)
    answers = []
    while not running.done() or len(answers) < 5:
        answers.append(school.post_period(f"P{len(answers)}").status_code)

    assert running.result() == 4
    assert set(answers) == {201}
