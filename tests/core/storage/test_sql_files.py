"""Statements in files; their comments are not sent."""

from edfi_api.core.storage.driver.sql import statements_of


def test_a_statement_is_read_by_name_without_its_comments(tmp_path):
    (tmp_path / "statements").mkdir()
    (tmp_path / "statements" / "find.sql").write_text(
        "-- Why it is as it is.\nSELECT 1 -- one\n    -- where\n  FROM {table}\n", encoding="utf-8"
    )

    found = statements_of(str(tmp_path / "module.py"))("find")

    assert found.fill(table="document").text == "SELECT 1 -- one\n  FROM document"
    assert found.parameters == {}
