"""The types that follow from declarations, for small models."""

import pytest

from tests.model.xsd.models import ANNOTATION, CORE, EXTENDED_CORE, SchemasOf
from tests.model.xsd.outline import ANN, XS, names_of, outline, outline_of

SCHOOL = """
Domain Entity School
  integer SchoolId is part of identity max value big
"""


def headings(schema) -> list[str]:
    return [line for line in outline(schema) if line.startswith("#")]


# --- files ---


def test_the_root_of_the_core(schemas_of: SchemasOf) -> None:
    core = schemas_of(SCHOOL)[CORE]

    assert core.tag == f"{XS}schema"
    assert core.nsmap == {
        None: "http://ed-fi.org/5.2.0",
        "xs": "http://www.w3.org/2001/XMLSchema",
        "ann": "http://ed-fi.org/annotation",
    }
    assert dict(core.attrib) == {
        "targetNamespace": "http://ed-fi.org/5.2.0",
        "elementFormDefault": "qualified",
        "attributeFormDefault": "unqualified",
    }
    assert dict(core[0].attrib) == {
        "namespace": "http://ed-fi.org/annotation",
        "schemaLocation": "SchemaAnnotation.xsd",
    }


def test_the_root_of_an_interchange_needs_no_annotations_for_tools(schemas_of: SchemasOf) -> None:
    interchange = schemas_of(SCHOOL + "Interchange Schools\n  domain entity School")["Interchange-Schools.xsd"]

    assert interchange.nsmap == {None: "http://ed-fi.org/5.2.0", "xs": "http://www.w3.org/2001/XMLSchema"}
    assert outline(interchange) == [
        "namespace http://ed-fi.org/5.2.0",
        "includes Ed-Fi-Core.xsd",
        "# Schools Interchange Model",
        "element InterchangeSchools",
        "  choice 1..*",
        "    School: School",
    ]


@pytest.mark.parametrize(
    ("version", "namespace"),
    [
        ("5.2.0", "http://ed-fi.org/5.2.0"),
        ("3.3.1-b", "http://ed-fi.org/3.3.1-b"),
        ("5.0.0-pre.2", "http://ed-fi.org/5.0.0"),
        ("6.0.0-pre.12", "http://ed-fi.org/6.0.0"),
        ("6.0.0-rc.1", "http://ed-fi.org/6.0.0-rc.1"),
    ],
)
def test_the_namespace_names_the_version_of_the_core(schemas_of: SchemasOf, version: str, namespace: str) -> None:
    """An extension has its own version, which its files do not contain."""
    files = schemas_of(SCHOOL, version=version, Transit="Descriptor Paint")

    assert {name: root.get("targetNamespace") for name, root in files.items()} == {
        CORE: namespace,
        ANNOTATION: "http://ed-fi.org/annotation",
        EXTENDED_CORE: namespace,
        "EXTENSION-Interchange-Descriptors-Extension.xsd": namespace,
    }


def test_the_sections_of_the_core_have_this_order_even_if_empty(schemas_of: SchemasOf) -> None:
    assert headings(schemas_of()[CORE]) == [
        "# Ed-Fi-Core Version 5.2.0",
        "# Domain Entities",
        "# Descriptors",
        "# Associations",
        "# Base Types (borrowed from NEIM standards)",
        "# Extended Reference Types",
        "# Extended Descriptor Reference Types",
        "# Common Types",
        "# Enumerations and Enumerated Collections",
        "# String Simple Types",
        "# Numeric Simple Types",
    ]


def test_an_extended_core_has_no_base_types(schemas_of: SchemasOf) -> None:
    extended = schemas_of(SCHOOL, Transit="Descriptor Paint")[EXTENDED_CORE]

    assert outline(extended)[1] == "includes Ed-Fi-Core.xsd"
    assert headings(extended) == [
        "# Ed-Fi 5.2.0 Extensions",
        "# Domain Entities",
        "# Descriptors",
        "# Associations",
        "# Extended Reference Types",
        "# Extended Descriptor Reference Types",
        "# Common Types",
        "# Enumerations and Enumerated Collections",
        "# String Simple Types",
        "# Numeric Simple Types",
    ]
    assert "ann" in extended.nsmap


def test_the_types_of_a_section_are_sorted_case_insensitively(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Domain Entity AssessmentItem
  integer A is part of identity
Domain Entity Assessment
  integer B is part of identity
Abstract Entity ASSESSOR
  integer C is part of identity
""")[CORE]

    names = names_of(core)

    assert names[:3] == ["Assessment", "AssessmentItem", "ASSESSOR"]
    assert [name for name in names if name.startswith("A") and name.endswith("Type")] == [
        "AssessmentIdentityType",
        "AssessmentItemIdentityType",
        "AssessmentItemReferenceType",
        "AssessmentLookupType",
        "AssessmentReferenceType",
        "ASSESSORIdentityType",
        "ASSESSORReferenceType",
    ]


# --- elements ---


@pytest.mark.parametrize(
    ("prop", "element"),
    [
        ("bool Active is required", "Active: xs:boolean"),
        ("date Opening is required", "Opening: xs:date"),
        ("datetime Opened is required", "Opened: xs:dateTime"),
        ("time Bell is required", "Bell: xs:time"),
        ("year Season is required", "Season: xs:gYear"),
        ("currency Fee is required", "Fee: Currency"),
        ("percent Load is required", "Load: Percent"),
        ("duration Delay is required", "Delay: TimeInterval"),
        ("string Motto is required", "Motto: Motto"),
        ("string Motto is required role name Old", "OldMotto: Motto"),
        ("decimal Area is required role name Lake", "LakeArea: Area"),
        ("integer Doors is required", "Doors: xs:int"),
        ("integer Doors is required min value 1", "Doors: Doors"),
        ("integer Doors is required role name Back max value 9", "BackDoors: Doors"),
        ("integer Doors is required max value big", "Doors: xs:long"),
        ("integer Doors is required min value 1 max value big", "Doors: xs:long"),
        ("short Floors is required", "Floors: xs:short"),
        ("short Floors is required max value 9", "Floors: Floors"),
        ("shared string Text named Motto is required", "Motto: Text"),
        ("shared integer Number named Doors is required role name Back", "BackDoors: Number"),
        ("shared short Small named Floors is required", "Floors: Small"),
        ("shared decimal Amount is required", "Amount: Amount"),
        ("enumeration Sex is required", "Sex: SexType"),
        ("enumeration BloodType is required", "BloodType: BloodType"),
        ("enumeration SchoolYear is required role name First", "FirstSchoolYear: SchoolYearType"),
        ("descriptor Color is required role name Door", "DoorColor: ColorDescriptorReferenceType (ColorDescriptor)"),
        ("common Address is required role name Home", "HomeAddress: Address"),
        ("inline common Span is required", "Span: Span"),
        ("inline common Span is required role name Open", "OpenSpan: Span"),
        ("domain entity Pier is required", "PierReference: PierReferenceType"),
        ("domain entity Pier is required role name Pier", "PierReference: PierReferenceType"),
        ("domain entity FunctionDimension is required role name Function",
         "FunctionFunctionDimensionReference: FunctionDimensionReferenceType"),
        ("association PierPier is required role name Old", "OldPierPierReference: PierPierReferenceType"),
        ("bool Active is optional", "Active: xs:boolean 0..1"),
        ("date Opening is required collection", "Opening: xs:date 1..*"),
        ("common Address is optional collection", "Address: Address 0..*"),
        ("domain entity Pier is optional collection", "PierReference: PierReferenceType 0..*"),
        ("descriptor Color is optional collection role name Door shorten to D",
         "DoorColor: ColorDescriptorReferenceType 0..* (ColorDescriptor)"),
        ("choice Way is optional", "choice 0..1 / Walk: xs:boolean / Bus: Bus 0..1"),
        ("choice Way is required role name Any", "choice / Walk: xs:boolean / Bus: Bus 0..1"),
        ("choice Way is required collection", "choice 1..* / Walk: xs:boolean / Bus: Bus 0..1"),
        ("choice Nested is required", "choice / choice 0..1 / Walk: xs:boolean / Bus: Bus 0..1 / Kind: xs:int"),
    ],
)  # fmt: skip
def test_a_property_becomes_an_element_and_a_choice_a_choice(schemas_of: SchemasOf, prop: str, element: str) -> None:
    core = schemas_of(f"""
{SCHOOL}  {prop}
Shared String Text
Shared Integer Number
Shared Short Small
Shared Decimal Amount
Enumeration Sex
  item "Female"
Enumeration BloodType
  item "A"
Enumeration SchoolYear
  item "2025-2026"
Descriptor Color
Common Address
  string City is part of identity
Inline Common Span
  date From is required
Domain Entity Pier
  integer PierId is part of identity
Domain Entity FunctionDimension
  integer Code is part of identity
Association PierPier
  domain entity Pier
  domain entity Pier role name Other
Choice Way
  bool Walk is required
  string Bus is optional
Choice Nested
  choice Way is optional
  integer Kind is required
""")[CORE]

    lines = outline_of(core, "School")

    assert lines[:2] == ["complex School extends ComplexObjectType (Domain Entity)", "  SchoolId: xs:long"]
    assert " / ".join(line.strip() for line in lines[2:]) == element


def test_elements_are_in_order_of_declaration(schemas_of: SchemasOf) -> None:
    """Identity and required properties are not reordered; the ends of an association are declared first."""
    core = schemas_of("""
Association PierPier
  domain entity Pier
  domain entity Pier role name Other
  bool Late is optional
  date Day is part of identity
  bool Early is required
Domain Entity Pier
  bool Late is optional
  integer PierId is part of identity
""")[CORE]

    assert outline_of(core, "PierPier") == [
        "complex PierPier extends ComplexObjectType (Association)",
        "  PierReference: PierReferenceType",
        "  OtherPierReference: PierReferenceType",
        "  Late: xs:boolean 0..1",
        "  Day: xs:date",
        "  Early: xs:boolean",
    ]
    assert outline_of(core, "Pier")[1:] == ["  Late: xs:boolean 0..1", "  PierId: xs:int"]


def test_documentation_is_that_of_the_declaration_and_of_the_property(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Domain Entity School documentation "Where pupils learn."
  integer SchoolId documentation "Its number & <name>." is part of identity
  shared string Motto documentation inherited is optional
Shared String Motto documentation "Words above a door." max length 9
""")[CORE]

    (school,) = (node for node in core if node.get("name") == "School")

    assert [node.text for node in school.iter(f"{XS}documentation")] == [
        "Where pupils learn.",
        "Its number & <name>.",
        "Words above a door.",
    ]


# --- complex types ---


def test_the_identity_of_an_abstract_entity_is_declared_by_its_subclasses(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Abstract Entity Organization
  string Name is required
  integer OrganizationId is part of identity
  descriptor Kind is required collection
Domain Entity School based on Organization
  bool Charter is optional
  integer SchoolId renames identity property OrganizationId
Descriptor Kind
""")[CORE]

    assert outline_of(core, "Organization") == [
        "abstract complex Organization extends ComplexObjectType (Domain Entity)",
        "  Name: Name",
        "  Kind: KindDescriptorReferenceType 1..* (KindDescriptor)",
    ]
    assert outline_of(core, "School") == [
        "complex School extends Organization (Domain Entity)",
        "  Charter: xs:boolean 0..1",
        "  SchoolId: xs:int",
    ]


def test_the_abstract_association_of_the_api_is_like_any_other(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Association GeneralStudentProgramAssociation
  domain entity Student
  domain entity Program
Association StudentTitleI based on GeneralStudentProgramAssociation
  bool Active is optional
Domain Entity Student
  integer StudentId is part of identity
Domain Entity Program
  integer ProgramId is part of identity
""")[CORE]

    assert outline_of(core, "GeneralStudentProgramAssociation") == [
        "complex GeneralStudentProgramAssociation extends ComplexObjectType (Association)",
        "  StudentReference: StudentReferenceType",
        "  ProgramReference: ProgramReferenceType",
    ]
    assert outline_of(core, "StudentTitleI") == [
        "complex StudentTitleI extends GeneralStudentProgramAssociation (Association)",
        "  Active: xs:boolean 0..1",
    ]


def test_commons_have_no_base_and_a_subclass_has_the_elements_of_its_base_behind_its_own(schemas_of: SchemasOf) -> None:
    """Documents with the elements of the base, which are part of the API, must be valid."""
    core = schemas_of("""
Common Pass
  string PassCode is required
Common SeasonPass based on Pass
  date LastDay is optional
Inline Common Span
  date From is required
""")[CORE]

    assert outline_of(core, "Pass") == ["complex Pass (Common)", "  PassCode: PassCode"]
    assert outline_of(core, "SeasonPass") == [
        "complex SeasonPass (Common)",
        "  LastDay: xs:date 0..1",
        "  PassCode: PassCode",
    ]
    assert outline_of(core, "Span") == ["complex Span (Common)", "  From: xs:date"]


def test_without_elements_there_is_no_sequence(schemas_of: SchemasOf) -> None:
    files = schemas_of("""
Domain Entity AssessmentFamily
  integer FamilyId is part of identity
Abstract Entity Organization
  integer OrganizationId is part of identity
Descriptor Color
""")

    (organization,) = (node for node in files[CORE] if node.get("name") == "Organization")
    (color,) = (node for node in files[CORE] if node.get("name") == "ColorDescriptor")
    (lookup,) = (node for node in files[CORE] if node.get("name") == "AssessmentFamilyLookupType")
    assert [[child.tag for child in node.iter() if child.tag == f"{XS}sequence"] for node in (organization, color)] == [
        [],
        [],
    ]
    assert organization.find(f"{XS}complexContent/{XS}extension").get("base") == "ComplexObjectType"
    assert [child.tag for child in lookup] == [f"{XS}annotation"]


# --- references ---


def test_an_identity_has_own_values_then_those_of_inline_commons_then_those_of_the_base(schemas_of: SchemasOf) -> None:
    core = schemas_of(
        """
Association ProgramWork
  domain entity Student
  domain entity Program role name Main
  inline common Span is required role name Work
  date Day is part of identity
Association SchoolWork based on ProgramWork
  bool Late is optional
Inline Common Span
  date From is part of identity
  date Until is optional
  inline common Hours is required
Inline Common Hours
  time FromHour is part of identity
Domain Entity Student
  shared string UniqueId is part of identity role name Student
Domain Entity Program
  integer ProgramId is part of identity
  enumeration SchoolYear is part of identity
  descriptor Kind is part of identity
Enumeration SchoolYear
  item "2025-2026"
Descriptor Kind
Shared String UniqueId
"""
    )[CORE]

    assert outline_of(core, "ProgramWorkIdentityType") == [
        "complex ProgramWorkIdentityType (Identity)",
        "  StudentReference: StudentReferenceType",
        "  MainProgramReference: ProgramReferenceType",
        "  Day: xs:date",
        "  From: xs:date",
        "  FromHour: xs:time",
    ]
    assert outline_of(core, "SchoolWorkIdentityType")[1:] == outline_of(core, "ProgramWorkIdentityType")[1:]
    assert outline_of(core, "ProgramIdentityType")[1:] == [
        "  ProgramId: xs:int",
        "  SchoolYear: SchoolYearType",
        "  Kind: KindDescriptorReferenceType (KindDescriptor)",
    ]


def test_a_renamed_identity_takes_the_place_of_the_one_it_renames(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Abstract Entity Organization
  integer OrganizationId is part of identity is queryable field
  string Name is required is queryable field
Domain Entity School based on Organization
  integer SchoolId renames identity property OrganizationId is queryable field max value big
""")[CORE]

    assert outline_of(core, "OrganizationIdentityType")[1:] == ["  OrganizationId: xs:int"]
    assert outline_of(core, "SchoolIdentityType")[1:] == ["  SchoolId: xs:long"]
    assert outline_of(core, "SchoolLookupType") == [
        "complex SchoolLookupType (Lookup)",
        "  SchoolId: xs:long 0..1",
        "  Name: Name 0..1",
    ]


def test_merges_do_not_change_an_identity(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Session
  domain entity School is part of identity
  string SessionName is part of identity
Domain Entity Offering
  domain entity School is part of identity
  domain entity Session is part of identity
    merge Session.School with School
""")[CORE]

    assert outline_of(core, "OfferingIdentityType")[1:] == [
        "  SchoolReference: SchoolReferenceType",
        "  SessionReference: SessionReferenceType",
    ]


def test_a_look_up_has_the_search_keys_in_order_all_optional_and_once(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Domain Entity Student
  shared string UniqueId is part of identity role name Student is queryable field
  domain entity School is queryable only role name Home
  common OtherName is required collection is queryable field
  bool Active is required
  choice Way is queryable only
  string Nickname is queryable only
Domain Entity School
  integer SchoolId is part of identity
Common OtherName
  string NameText is part of identity
Choice Way
  bool Walk is required
  string Bus is required collection
Shared String UniqueId
""")[CORE]

    assert outline_of(core, "StudentLookupType") == [
        "complex StudentLookupType (Lookup)",
        "  StudentUniqueId: UniqueId 0..1",
        "  HomeSchoolReference: SchoolReferenceType 0..1",
        "  OtherName: OtherName 0..1",
        "  choice 0..1",
        "    Walk: xs:boolean 0..1",
        "    Bus: Bus 0..1",
        "  Nickname: Nickname 0..1",
    ]
    assert "Nickname" not in "".join(outline_of(core, "Student"))
    assert outline_of(core, "Nickname") == ["simple Nickname: xs:string maxLength=60 (Simple)"]


def test_a_reference_has_an_identity_and_for_some_names_a_look_up(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Domain Entity Student
  integer StudentId is part of identity
Domain Entity Contact
  integer ContactId is part of identity is queryable field
""")[CORE]

    assert outline_of(core, "StudentReferenceType") == [
        "complex StudentReferenceType extends ReferenceType (Extended Reference)",
        "  StudentIdentity: StudentIdentityType 0..1",
        "  StudentLookup: StudentLookupType 0..1",
    ]
    assert outline_of(core, "ContactReferenceType")[1:] == ["  ContactIdentity: ContactIdentityType 0..1"]
    assert outline_of(core, "ContactLookupType") == []


# --- vocabularies and limits ---


def test_a_descriptor_is_a_type_and_a_type_of_its_values(schemas_of: SchemasOf) -> None:
    core = schemas_of("Descriptor Color")[CORE]

    assert outline_of(core, "ColorDescriptor") == ["complex ColorDescriptor extends DescriptorType (Descriptor)"]
    assert outline_of(core, "ColorDescriptorReferenceType") == [
        "simple ColorDescriptorReferenceType: DescriptorReferenceType (Extended Descriptor Reference)"
    ]


@pytest.mark.parametrize(("phrase", "occurrence"), [("with map type", ""), ("with optional map type", " 0..1")])
def test_a_descriptor_with_a_map_type_has_an_element_for_it(
    schemas_of: SchemasOf, phrase: str, occurrence: str
) -> None:
    core = schemas_of(f"""
Descriptor Color
  {phrase}
    item "Red"
    item "Sea ""green"" & blue"
""")[CORE]

    assert outline_of(core, "ColorDescriptor")[1:] == [f"  ColorMap: ColorMapType{occurrence}"]
    assert outline_of(core, "ColorMapType") == [
        "simple ColorMapType: xs:token (Enumeration)",
        "  'Red'",
        "  'Sea \"green\" & blue'",
    ]


def test_items_of_enumerations_are_values_in_order_each_with_documentation(schemas_of: SchemasOf) -> None:
    core = schemas_of("""
Enumeration Sex
  item "Not selected" documentation "Nothing said."
  item "Female"
Enumeration SchoolYear
  item "2026-2027"
  item "2025-2026"
""")[CORE]

    assert outline_of(core, "SexType") == [
        "simple SexType: xs:token (Enumeration)",
        "  'Not selected'",
        "  'Female'",
    ]
    assert outline_of(core, "SchoolYearType")[1:] == ["  '2026-2027'", "  '2025-2026'"]
    (sex,) = (node for node in core if node.get("name") == "SexType")
    values = sex.iter(f"{XS}enumeration")
    assert [value.findtext(f"{XS}annotation/{XS}documentation") for value in values] == ["Nothing said.", ""]


@pytest.mark.parametrize(
    ("declaration", "line"),
    [
        ("Shared String T min length 2 max length 9", "xs:string minLength=2 maxLength=9"),
        ("Shared String T max length 9", "xs:string maxLength=9"),
        ("Shared Decimal T total digits 5 decimal places 2", "xs:decimal totalDigits=5 fractionDigits=2"),
        (
            "Shared Decimal T total digits 5 decimal places 2 min value 0.0 max value 99.50",
            "xs:decimal minInclusive=0.0 maxInclusive=99.50 totalDigits=5 fractionDigits=2",
        ),
        (
            "Shared Decimal T total digits 18 decimal places 12 min value 0 max value 0.000000000001",
            "xs:decimal minInclusive=0 maxInclusive=0.000000000001 totalDigits=18 fractionDigits=12",
        ),
        ("Shared Integer T", "xs:int"),
        ("Shared Integer T min value -5 max value 5", "xs:int minInclusive=-5 maxInclusive=5"),
        ("Shared Integer T min value 1 max value big", "xs:long minInclusive=1"),
        ("Shared Short T", "xs:short"),
        ("Shared Short T max value 9", "xs:short maxInclusive=9"),
    ],
)
def test_a_shared_type_is_a_simple_type_used_or_not(schemas_of: SchemasOf, declaration: str, line: str) -> None:
    assert outline_of(schemas_of(declaration)[CORE], "T") == [f"simple T: {line} (Simple)"]


@pytest.mark.parametrize(
    ("prop", "lines"),
    [
        ("string T is required max length 9", ["simple T: xs:string maxLength=9 (Simple)"]),
        ("string T is required role name Old max length 9", ["simple T: xs:string maxLength=9 (Simple)"]),
        (
            "decimal T is required total digits 4 decimal places 1 min value 0.0",
            ["simple T: xs:decimal minInclusive=0.0 totalDigits=4 fractionDigits=1 (Simple)"],
        ),
        ("integer T is required", []),
        ("integer T is required max value big", []),
        ("integer T is required min value 1", ["simple T: xs:int minInclusive=1 (Simple)"]),
        ("integer T is required min value 1 max value big", ["simple T: xs:long minInclusive=1 (Simple)"]),
        ("short T is required", []),
        ("short T is required max value 9", ["simple T: xs:short maxInclusive=9 (Simple)"]),
    ],
)
def test_a_plain_property_has_a_simple_type_for_its_limits(schemas_of: SchemasOf, prop: str, lines: list[str]) -> None:
    assert outline_of(schemas_of(f"{SCHOOL}  {prop}")[CORE], "T") == lines


def test_the_last_of_several_plain_properties_of_one_name_applies(schemas_of: SchemasOf) -> None:
    """Also of commons and choices; properties without limits are ignored."""
    core = schemas_of(f"""
{SCHOOL}  string Motto is optional max length 10
  integer Doors is optional max value 10
Common Address
  string Motto is optional role name Street max length 20
  integer Doors is optional max value 20
Choice Way
  string Motto is required max length 30
  integer Doors is required
""")[CORE]

    assert outline_of(core, "Motto") == ["simple Motto: xs:string maxLength=30 (Simple)"]
    assert outline_of(core, "Doors") == ["simple Doors: xs:int maxInclusive=20 (Simple)"]


def test_every_core_has_these_types(schemas_of: SchemasOf) -> None:
    core = schemas_of()[CORE]

    assert [line for line in outline(core) if not line.startswith(("#", "namespace", "imports"))] == [
        "abstract complex ComplexObjectType (Base)",
        "  @id: xs:ID",
        "abstract complex DescriptorType extends ComplexObjectType (Base)",
        "  CodeValue: CodeValue",
        "  ShortDescription: ShortDescription",
        "  Description: Description 0..1",
        "  EffectiveBeginDate: xs:date 0..1",
        "  EffectiveEndDate: xs:date 0..1",
        "  PriorDescriptor: DescriptorReferenceType 0..1",
        "  Namespace: URI",
        "complex ReferenceType (Base)",
        "  @id: xs:ID",
        "  @ref: xs:IDREF",
        "simple CodeValue: xs:string minLength=1 maxLength=50 (Simple)",
        "simple Description: xs:string maxLength=1024 (Simple)",
        "simple DescriptorReferenceType: xs:string minLength=1 maxLength=255 (Simple)",
        "simple ShortDescription: xs:string maxLength=75 (Simple)",
        "simple TimeInterval: xs:duration (Simple)",
        "simple URI: xs:string minLength=5 maxLength=255 (Simple)",
        "simple Currency: xs:decimal (Simple)",
        "simple Percent: xs:decimal minInclusive=0 maxInclusive=1 totalDigits=5 fractionDigits=4 (Simple)",
    ]


def test_the_annotation_schema(schemas_of: SchemasOf) -> None:
    annotations = schemas_of("Descriptor Locale\nDescriptor LocalAgency\nDescriptor ABLevel")[ANNOTATION]

    assert annotations.nsmap == {
        None: "http://ed-fi.org/annotation",
        "xs": "http://www.w3.org/2001/XMLSchema",
    }
    assert outline(annotations) == [
        "namespace http://ed-fi.org/annotation version 1.1.00",
        "simple DatabaseKey: xs:token",
        "  'Operational Data Store'",
        "  'Data Warehouse'",
        "  'Data Mart'",
        "simple Descriptor: xs:token",
        "  'ABLevelDescriptor'",
        "  'LocalAgencyDescriptor'",
        "  'LocaleDescriptor'",
        "simple TypeGroup: xs:token",
        "  'Association'",
        "  'Base'",
        "  'Common'",
        "  'Descriptor'",
        "  'Domain Entity'",
        "  'Enumeration'",
        "  'Extended Descriptor Reference'",
        "  'Extended Reference'",
        "  'Identity'",
        "  'Simple'",
    ]


def test_characters_that_xml_cannot_have_are_replaced(schemas_of: SchemasOf) -> None:
    core = schemas_of('Enumeration Sex\n  item "Fe\x01male" documentation "Wo\x00man"')[CORE]

    (value,) = core.iter(f"{XS}enumeration")

    assert value.get("value") == "Fe\ufffdmale"
    assert value.findtext(f"{XS}annotation/{XS}documentation") == "Wo\ufffdman"


def test_what_tools_read_from_elements_is_in_the_namespace_of_annotations(schemas_of: SchemasOf) -> None:
    core = schemas_of(f"{SCHOOL}  descriptor Color is required\nDescriptor Color")[CORE]

    (school,) = (node for node in core if node.get("name") == "School")

    assert [(node.tag, node.text) for node in school.iter(f"{ANN}*")] == [
        (f"{ANN}TypeGroup", "Domain Entity"),
        (f"{ANN}Descriptor", "ColorDescriptor"),
    ]
