"""The types of an extension: its declarations and additions."""

from lxml import etree

from tests.model.xsd.models import EXTENDED_CORE, SchemasOf
from tests.model.xsd.outline import XS, names_of, outline_of

CORE = """
Abstract Entity Organization
  integer OrganizationId is part of identity
  string Name is required
  common Phone is optional
  common Address is optional collection
Domain Entity School based on Organization
  integer SchoolId renames identity property OrganizationId
  common Meeting is optional collection role name Staff
  common Meeting is optional collection
  common Principal is required
  choice Way is optional
  inline common Span is optional
Domain Entity Student
  integer StudentId is part of identity
Association Attendance
  domain entity Student
  domain entity School
Common Phone
  string Digits is required
Common Address
  string City is part of identity
Common Meeting
  date Day is part of identity
Common Principal
  string FullName is required
Inline Common Span
  date From is optional
Choice Way
  bool Walk is required
  string Bus is required
Descriptor Color
Enumeration SchoolYear
  item "2025-2026"
Shared String Code
"""


def test_types_of_an_extension_have_the_tag_and_elements_do_not(schemas_of: SchemasOf) -> None:
    core = schemas_of(CORE, Transit="""
Domain Entity Ferry based on EdFi.Organization
  integer FerryId renames identity property OrganizationId
  string Nickname is optional
  shared string Hull is required
  shared string EdFi.Code is required role name Own
  shared short Decks is required
  decimal Depth is required
  integer Seats is required max value 9
  descriptor Paint is required
  descriptor EdFi.Color is required
  enumeration EdFi.SchoolYear is required
  common Bench is required
  common EdFi.Meeting is required
  choice Shelter is required
  choice EdFi.Way is required
  domain entity Ferry is optional role name Next
  domain entity EdFi.School is optional
  currency Fare is required
Association FerryPupil
  domain entity Ferry
  domain entity EdFi.Student
Common Bench
  string Wood is required
Choice Shelter
  string Roof is required
  bool Tree is required
Descriptor Paint
  with map type
    item "Red"
Shared String Hull
Shared Short Decks
""")[EXTENDED_CORE]  # fmt: skip

    assert outline_of(core, "EXTENSION-Ferry") == [
        "complex EXTENSION-Ferry extends Organization (Domain Entity)",
        "  FerryId: xs:int",
        "  Nickname: EXTENSION-Nickname 0..1",
        "  Hull: EXTENSION-Hull",
        "  OwnCode: Code",
        "  Decks: EXTENSION-Decks",
        "  Depth: EXTENSION-Depth",
        "  Seats: EXTENSION-Seats",
        "  Paint: EXTENSION-PaintDescriptorReferenceType (EXTENSION-PaintDescriptor)",
        "  Color: ColorDescriptorReferenceType (ColorDescriptor)",
        "  SchoolYear: SchoolYearType",
        "  Bench: EXTENSION-Bench",
        "  Meeting: Meeting",
        "  choice",
        "    Roof: EXTENSION-Roof",
        "    Tree: xs:boolean",
        "  choice",
        "    Walk: xs:boolean",
        "    Bus: Bus",
        "  NextFerryReference: EXTENSION-FerryReferenceType 0..1",
        "  SchoolReference: SchoolReferenceType 0..1",
        "  Fare: Currency",
    ]
    assert names_of(core) == [
        "EXTENSION-Ferry",
        "EXTENSION-PaintDescriptor",
        "EXTENSION-FerryPupil",
        "EXTENSION-FerryIdentityType",
        "EXTENSION-FerryPupilIdentityType",
        "EXTENSION-FerryPupilReferenceType",
        "EXTENSION-FerryReferenceType",
        "EXTENSION-PaintDescriptorReferenceType",
        "EXTENSION-Bench",
        "EXTENSION-PaintMapType",
        "EXTENSION-Hull",
        "EXTENSION-Nickname",
        "EXTENSION-Roof",
        "EXTENSION-Wood",
        "EXTENSION-Decks",
        "EXTENSION-Depth",
        "EXTENSION-Seats",
    ]
    assert outline_of(core, "EXTENSION-PaintDescriptor") == [
        "complex EXTENSION-PaintDescriptor extends DescriptorType (Descriptor)",
        "  PaintMap: EXTENSION-PaintMapType",
    ]
    assert outline_of(core, "EXTENSION-FerryReferenceType") == [
        "complex EXTENSION-FerryReferenceType extends ReferenceType (Extended Reference)",
        "  FerryIdentity: EXTENSION-FerryIdentityType 0..1",
    ]


def test_additions_extend_the_type_of_the_core_and_have_no_identity_of_their_own(schemas_of: SchemasOf) -> None:
    core = schemas_of(CORE, Transit="""
Domain Entity EdFi.School additions
  bool Lake is required
  string Motto is optional collection max length 9
Association EdFi.Attendance additions
  time Arrival is optional
""")[EXTENDED_CORE]  # fmt: skip

    assert outline_of(core, "EXTENSION-SchoolExtension") == [
        "complex EXTENSION-SchoolExtension extends School (Domain Entity)",
        "  Lake: xs:boolean",
        "  Motto: EXTENSION-Motto 0..*",
    ]
    assert outline_of(core, "EXTENSION-AttendanceExtension") == [
        "complex EXTENSION-AttendanceExtension extends Attendance (Association)",
        "  Arrival: xs:time 0..1",
    ]
    assert names_of(core) == ["EXTENSION-SchoolExtension", "EXTENSION-AttendanceExtension", "EXTENSION-Motto"]


def test_an_extended_common_is_left_out_of_the_restriction_and_is_among_the_additions(
    schemas_of: SchemasOf,
) -> None:
    """By name and role; also a common of the base."""
    core = schemas_of(CORE, Transit="""
Common EdFi.Meeting additions
  string Room is optional
Common EdFi.Address additions
  bool Lake is optional
Domain Entity EdFi.School additions
  bool Boats is optional
  common extension EdFi.Meeting is optional collection role name Staff
  time Bell is optional
  common extension EdFi.Address is optional collection
""")[EXTENDED_CORE]  # fmt: skip

    assert outline_of(core, "EXTENSION-SchoolRestriction") == [
        "complex EXTENSION-SchoolRestriction restricts School",
        "  Name: Name",
        "  Phone: Phone 0..1",
        "  SchoolId: xs:int",
        "  Meeting: Meeting 0..*",
        "  Principal: Principal",
        "  choice 0..1",
        "    Walk: xs:boolean",
        "    Bus: Bus",
        "  Span: Span 0..1",
    ]
    assert outline_of(core, "EXTENSION-SchoolExtension") == [
        "complex EXTENSION-SchoolExtension extends EXTENSION-SchoolRestriction (Domain Entity)",
        "  Boats: xs:boolean 0..1",
        "  StaffMeeting: EXTENSION-MeetingExtension 0..*",
        "  Bell: xs:time 0..1",
        "  Address: EXTENSION-AddressExtension 0..*",
    ]
    assert outline_of(core, "EXTENSION-MeetingExtension") == [
        "complex EXTENSION-MeetingExtension extends Meeting (Common)",
        "  Room: EXTENSION-Room 0..1",
    ]
    assert names_of(core)[:2] == ["EXTENSION-SchoolExtension", "EXTENSION-SchoolRestriction"]


def test_unused_additions_to_a_common_are_written(schemas_of: SchemasOf) -> None:
    core = schemas_of(CORE, Transit="Common EdFi.Address additions\n  bool Lake is optional")[EXTENDED_CORE]

    assert names_of(core) == ["EXTENSION-AddressExtension"]


def test_a_document_of_an_extended_entity_is_valid(schemas_of: SchemasOf, tmp_path) -> None:
    files = schemas_of(CORE + "Interchange Schools\n  domain entity School", Transit="""
Common EdFi.Meeting additions
  string Room is optional
Domain Entity EdFi.School additions
  bool Boats is optional
  common extension EdFi.Meeting is optional collection
""")  # fmt: skip
    for name, root in files.items():
        (tmp_path / name).write_bytes(etree.tostring(root))
    schema = etree.XMLSchema(etree.parse(tmp_path / "EXTENSION-Interchange-Schools-Extension.xsd"))

    def school(*elements: str) -> etree._Element:
        return etree.fromstring(
            '<InterchangeSchools xmlns="http://ed-fi.org/5.2.0"><School><Name>A</Name><SchoolId>1</SchoolId>'
            f"<Principal><FullName>B</FullName></Principal>{''.join(elements)}</School></InterchangeSchools>"
        )

    boats = "<Boats>true</Boats>"
    meeting = "<Meeting><Day>2026-01-01</Day><Room>7</Room></Meeting>"
    assert schema.validate(school())
    assert schema.validate(school(boats, meeting, meeting)), schema.error_log
    assert not schema.validate(school(meeting, boats))
    assert not schema.validate(school("<Meeting><Room>7</Room></Meeting>"))


def test_a_restriction_has_no_annotations_for_tools(schemas_of: SchemasOf) -> None:
    core = schemas_of(CORE, Transit="""
Common EdFi.Meeting additions
  string Room is optional
Domain Entity EdFi.School additions
  common extension EdFi.Meeting is optional collection
""")[EXTENDED_CORE]  # fmt: skip

    (restriction,) = (node for node in core if node.get("name") == "EXTENSION-SchoolRestriction")

    assert [child.tag for child in restriction.find(f"{XS}annotation")] == [f"{XS}documentation"]
