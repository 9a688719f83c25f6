"""Which tables additions of a project have, with their columns."""

from tests.features.sql_views.models import model_columns

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


def test_tables_within_a_common_extension_have_its_key_in_the_order_of_the_published_tables(tables_of) -> None:
    """The key of an address is ordered by name, as in `edfi.contactaddressperiod`, not as the address declares it."""
    core = """
Domain Entity Contact
  string ContactUniqueId is part of identity
  common Address is optional collection
Common Address
  descriptor AddressType is part of identity
  string StreetNumberName is part of identity
  string City is part of identity
  descriptor StateAbbreviation is part of identity
  string PostalCode is part of identity
  common Period is optional collection
Common Period
  date BeginDate is part of identity
Descriptor AddressType
Descriptor StateAbbreviation
Descriptor Term
"""
    added = """
Common EdFi.Address additions
  string SchoolDistrict is optional collection
  descriptor EdFi.Term is optional collection
Domain Entity EdFi.Contact additions
  common extension EdFi.Address is optional collection
"""
    address = "*contactuniqueid, *addresstypedescriptorid, *city, *postalcode, *stateabbreviationdescriptorid"
    tables = tables_of(core, Sample=added)

    assert {name: model_columns(tables[name]) for name in tables if name.startswith(("edfi.contacta", "sample."))} == {
        "edfi.contactaddress": f"{address}, *streetnumbername",
        "edfi.contactaddressperiod": f"{address}, *streetnumbername, *begindate",
        "sample.contactaddressschooldistrict": f"{address}, *streetnumbername, *schooldistrict",
        "sample.contactaddressterm": f"{address}, *streetnumbername, *termdescriptorid",
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
