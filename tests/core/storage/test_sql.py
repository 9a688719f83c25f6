"""Composition of SQL: texts are joined, parameters merged, conflicting values refused."""

import pytest

from edfi_api.core.storage.driver.sql import ParameterConflict, Sql, all_of, any_of


def test_parts_are_joined_with_their_parameters() -> None:
    statement = Sql("SELECT id FROM document WHERE ") + Sql("id = %(row)s", {"row": 7}) + " LIMIT 1"

    assert statement == Sql("SELECT id FROM document WHERE id = %(row)s LIMIT 1", {"row": 7})


def test_slots_are_filled_with_parts_and_with_text() -> None:
    statement = Sql("SELECT '{{}}'::jsonb, {column} WHERE {condition}", {"size": 25})

    filled = statement.fill(column="d.id", condition=Sql("d.id > %(after)s", {"after": 3}))

    assert filled == Sql("SELECT '{}'::jsonb, d.id WHERE d.id > %(after)s", {"size": 25, "after": 3})


def test_equal_values_of_one_name_are_shared() -> None:
    both = all_of([Sql("a = %(x)s", {"x": 1}), Sql("b = %(x)s", {"x": 1})])

    assert both == Sql("(a = %(x)s) AND (b = %(x)s)", {"x": 1})


def test_two_values_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterConflict, match="x"):
        any_of([Sql("a = %(x)s", {"x": 1}), Sql("b = %(x)s", {"x": 2})])


def test_conditions_without_any_member_are_neutral() -> None:
    assert (all_of([]), any_of([])) == (Sql("true"), Sql("(false)"))
