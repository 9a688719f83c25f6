"""Names of the tables and columns of random models: long, with equal beginnings, overlapping in single letters."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.features.sql_views.shape import SqlTable
from edfi_api.features.sql_views.tables import UnusableNames, sql_tables
from edfi_api.model.metaed.compiler import compile_projects
from tests.model.surface.models import write_project

WORDS = ["A", "Aa", "EntityThatHasARatherLongName", "Entity", "Long", "LongName", "Name", "N", "Ee"]

names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("".join)
roles = st.one_of(st.just(""), names.map(" role name {}".format))


@st.composite
def models(draw: st.DrawFn) -> str:
    """An entity with scalars, collections and nested commons of random names and roles."""
    entity, common, inner = draw(st.lists(names, min_size=3, max_size=3, unique=True))
    properties = [f"  string {name} is optional collection{draw(roles)}" for name in draw(distinct_names)]
    properties += [f"  bool {name}Q is optional{draw(roles)}" for name in draw(distinct_names)]
    inner_properties = [f"  string {name} is optional collection{draw(roles)}" for name in draw(distinct_names)]
    return "\n".join(
        [
            f"Domain Entity {entity}",
            f"  integer {entity}Id is part of identity",
            *properties,
            f"  common {common}C is optional collection{draw(roles)}",
            f"Common {common}C",
            "  integer Number is part of identity",
            f"  common {inner}D is optional collection{draw(roles)}",
            f"Common {inner}D",
            "  integer Digit is part of identity",
            *inner_properties,
            "",
        ]
    )


distinct_names = st.lists(names, max_size=3, unique=True)


def tables_of(text: str) -> tuple[SqlTable, ...]:
    with TemporaryDirectory() as folder:
        return sql_tables(compile_projects([write_project(Path(folder) / "core", "Ed-Fi", text)]))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=models())
def test_names_fit_and_differ_or_are_refused(text: str) -> None:
    try:
        tables = tables_of(text)
    except UnusableNames as refused:
        assert all(re.search(" have the name |more than 63 characters", problem) for problem in refused.args)
        return

    assert len({str(table) for table in tables}) == len(tables)
    for table in tables:
        columns = [column.name for column in table.columns]
        assert len(set(columns)) == len(columns)
        assert all(re.fullmatch(r"[a-z0-9_]{1,63}", name) for name in (table.name, *columns))
