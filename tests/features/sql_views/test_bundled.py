"""The tables of the bundled standards and of an extension, against reviewed dumps and the published sizes."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.features.sql_views.shape import Envelope, RowKind, SqlTable
from edfi_api.features.sql_views.tables import sql_tables
from tests.features.sql_views.models import compiled
from tests.support.serving import LAKE_COUNTY

EXPECTED = Path(__file__).parent / "expected"


@cache
def tables_of_standard(standard: str, *extensions: Path) -> tuple[SqlTable, ...]:
    return sql_tables(compiled(BUNDLED_STANDARDS / standard, *extensions))


def dump(tables: tuple[SqlTable, ...]) -> dict[str, list[str]]:
    return {str(table): list(map(str, table.columns)) for table in tables}


@pytest.mark.parametrize("standard", ("3.3.1-b", "5.2"))
def test_the_tables_of_a_standard_are_as_expected(standard: str) -> None:
    expected = json.loads((EXPECTED / f"{standard}.json").read_text())

    assert dump(tables_of_standard(standard)) == expected


def test_an_extension_adds_its_expected_tables_and_changes_no_others() -> None:
    extended, core = dump(tables_of_standard("5.2", LAKE_COUNTY)), dump(tables_of_standard("5.2"))

    assert {name: columns for name, columns in extended.items() if name not in core} == json.loads(
        (EXPECTED / "lake_county.json").read_text()
    )
    assert {name: extended[name] for name in core} == core


@pytest.mark.parametrize(
    ("standard", "sizes"),
    [
        # What the scripts of the ODS for data standard 5.2 create, and those for 3.3.1-b by the rules of 5.2.
        ("5.2", {"tables": 613, "columns": 2919, "shortened": 15, "key": 14}),
        ("3.3.1-b", {"tables": 545, "columns": 2610, "shortened": 13, "key": 14}),
    ],
)
def test_the_sizes_are_the_published_ones(standard: str, sizes: dict[str, int]) -> None:
    tables = tables_of_standard(standard)
    of_the_model = [column for table in tables for column in table.columns if not isinstance(column.source, Envelope)]

    assert sizes == {
        "tables": len(tables),
        "columns": len(of_the_model),
        "shortened": sum(table.name[-7:-6] == "_" for table in tables),
        "key": max(len(table.primary_key) for table in tables),
    }


def test_the_kinds_of_tables_of_5_2() -> None:
    tables = tables_of_standard("5.2")
    roots = [t for t in tables if t.rows is RowKind.DOCUMENT and t.columns[-1].name == "createdbyownershiptokenid"]

    assert Counter(table.rows for table in tables) == {
        RowKind.DOCUMENT: 120 + 19,
        RowKind.DESCRIPTOR: 211,
        RowKind.COMMON: 121,
        RowKind.COLLECTION: 140,
        RowKind.ANY_DESCRIPTOR: 1,
        RowKind.SCHOOL_YEAR: 1,
    }
    assert len(roots) == 120
    assert sum(len(table.columns) for table in tables) == 4156
