"""Which tables additions of a project have, with their columns."""

from tests.analysis.sql_views.models import model_columns

EXTENDED = """
Domain Entity Pupil
  integer PupilId is part of identity
  common Book is optional collection
Common Book
  string Isbn is part of identity
"""


def test_common_extensions(tables_of) -> None:
    added = """
Common EdFi.Book additions
  string Owner is optional
  string Stamp is optional collection
Domain Entity EdFi.Pupil additions
  common extension EdFi.Book is optional collection
"""
    tables = {name: model_columns(columns) for name, columns in tables_of(EXTENDED, Sample=added).items()}

    assert tables == {
        "edfi.pupil": "*pupilid",
        "edfi.pupilbook": "*pupilid, *isbn",
        "sample.pupilbookextension": "*pupilid, *isbn, owner?",
        "sample.pupilbookstamp": "*pupilid, *isbn, *stamp",
    }


def test_additions_of_collections_alone_have_no_table_of_their_own(tables_of) -> None:
    added = """
Domain Entity EdFi.Pupil additions
  string Nickname is optional collection
  domain entity EdFi.Pupil is optional role name Best
"""

    tables = tables_of(EXTENDED, Sample=added)

    assert [name for name in tables if name.startswith("sample")] == ["sample.pupilnickname"]


def test_a_reference_to_the_extended_entity_makes_a_common_extension(tables_of) -> None:
    """Its column is one of the key, but it is neither a collection nor a common."""
    added = """
Common EdFi.Book additions
  domain entity EdFi.Pupil is optional
Domain Entity EdFi.Pupil additions
  common extension EdFi.Book is optional collection
"""

    assert model_columns(tables_of(EXTENDED, Sample=added)["sample.pupilbookextension"]) == "*pupilid, *isbn"


def test_a_common_to_which_the_project_adds_nothing_has_no_extension(tables_of) -> None:
    added = """
Domain Entity EdFi.Pupil additions
  bool IsTall is optional
  common extension EdFi.Book is optional collection
"""

    tables = tables_of(EXTENDED, Sample=added)

    assert [name for name in tables if name.startswith("sample")] == ["sample.pupilextension"]
