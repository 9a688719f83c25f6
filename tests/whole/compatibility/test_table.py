"""The table of the ways of the ODS/API agrees with the code that consults it."""

import re
from functools import cache
from pathlib import Path

import pytest

from edfi_api.common.ods_compatibility import OdsCompatibility

EDFI_API = Path(__file__).parents[3] / "edfi_api"
TABLE = EDFI_API / "common/ods_compatibility.py"


@cache
def sources() -> dict[str, str]:
    """The code of all modules but that of the table, by their paths."""
    return {str(path.relative_to(EDFI_API)): path.read_text() for path in EDFI_API.rglob("*.py") if path != TABLE}


@pytest.mark.parametrize("way", OdsCompatibility, ids=lambda way: way.name)
def test_the_code_consults_the_table_where_it_says(way: OdsCompatibility) -> None:
    settings = {f"api_settings.{way.value.setting}"} if way.value.setting != "COMPATIBILITY" else set()
    names = {f"OdsCompatibility.{way.name}", *settings}
    asking = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    found = {path for path, code in sources().items() if asking.search(code)}

    assert found == set(way.value.where)


def test_nothing_else_asks_for_the_setting() -> None:
    asking = [path.name for path in EDFI_API.rglob("*.py") if "api_settings.COMPATIBILITY" in path.read_text()]

    assert asking == ["report.py"]  # It says how the server is configured.


@pytest.mark.parametrize("value", ["", "ods"])
def test_a_way_without_a_setting_of_its_own_follows_the_variable(settings, value: str) -> None:
    settings.EDFI_API = settings.EDFI_API | {"COMPATIBILITY": value}

    of_the_variable = [way for way in OdsCompatibility if way.value.setting == "COMPATIBILITY"]

    assert {way.applies for way in of_the_variable} <= {value == "ods"}


def test_a_setting_of_its_own_takes_precedence(settings) -> None:
    settings.EDFI_API = settings.EDFI_API | {"COMPATIBILITY": "ods", "PUT_WITHOUT_ID": False}

    assert not OdsCompatibility.PUT_WITHOUT_ID.applies
