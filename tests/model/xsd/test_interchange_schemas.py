"""The files of interchanges, of the core and of extensions."""

import pytest

from tests.model.xsd.models import SchemasOf
from tests.model.xsd.outline import XS, outline

CORE = """
Domain Entity Student
  integer StudentId is part of identity
Domain Entity School
  integer SchoolId is part of identity
Association StudentSchool
  domain entity Student
  domain entity School
Descriptor Locale
Descriptor LocalAgency
Interchange Enrollment
  domain entity identity School
  association StudentSchool
  domain entity Student
  association identity StudentSchool
  descriptor Locale
  domain entity Student
Interchange Schools
  domain entity School
"""
# The start of each extension: the entity of its interchanges.
BUS = """
Domain Entity Bus
  string BusNumber is part of identity
"""


def files_of(schemas_of: SchemasOf, extension: str, tag: str = "EXTENSION") -> dict[str, list[str]]:
    """The elements of each interchange of an extension, by the name between prefix and suffix."""
    schemas = schemas_of(CORE, Transit=extension, tag=tag)
    interchanges = {name: root for name, root in schemas.items() if name.startswith(f"{tag}-Interchange-")}
    return {
        name.removeprefix(f"{tag}-Interchange-").removesuffix("-Extension.xsd"): elements_of(root)
        for name, root in interchanges.items()
    }


def elements_of(root) -> list[str]:
    return [line.strip() for line in outline(root)[5:]]


def test_documents_precede_references_and_duplicates_are_removed(
    schemas_of: SchemasOf,
) -> None:
    interchange = schemas_of(CORE)["Interchange-Enrollment.xsd"]

    assert outline(interchange)[3:] == [
        "element InterchangeEnrollment",
        "  choice 1..*",
        "    StudentSchool: StudentSchool",
        "    Student: Student",
        "    Locale: LocaleDescriptor",
        "    SchoolReference: SchoolReferenceType",
        "    StudentSchoolReference: StudentSchoolReferenceType",
    ]


def test_the_descriptor_interchange_needs_no_declaration(schemas_of: SchemasOf) -> None:
    interchange = schemas_of(CORE)["Interchange-Descriptors.xsd"]

    assert outline(interchange)[2:] == [
        "# Descriptors Interchange Model",
        "element InterchangeDescriptors",
        "  choice 1..*",
        "    LocalAgencyDescriptor: LocalAgencyDescriptor",
        "    LocaleDescriptor: LocaleDescriptor",
    ]


def test_descriptors_are_sorted_by_name_without_the_suffix(schemas_of: SchemasOf) -> None:
    interchange = schemas_of("Descriptor LocaleEducation\nDescriptor Locale\nDescriptor ABLevel")[
        "Interchange-Descriptors.xsd"
    ]

    assert elements_of(interchange) == [
        "ABLevelDescriptor: ABLevelDescriptor",
        "LocaleDescriptor: LocaleDescriptor",
        "LocaleEducationDescriptor: LocaleEducationDescriptor",
    ]


def test_without_descriptors_there_is_no_interchange_for_them(schemas_of: SchemasOf) -> None:
    assert list(schemas_of(BUS)) == ["Ed-Fi-Core.xsd", "SchemaAnnotation.xsd"]


def test_an_interchange_has_its_documentation(schemas_of: SchemasOf) -> None:
    interchange = schemas_of('Interchange StudentHealth documentation "Shots."\n  domain entity Bus' + BUS)[
        "Interchange-StudentHealth.xsd"
    ]

    assert [node.text for node in interchange.iter(f"{XS}documentation")] == [
        "===== Student Health Interchange Model =====",
        "Shots.",
    ]


# --- extensions ---


def test_an_interchange_of_an_extension(schemas_of: SchemasOf) -> None:
    schemas = schemas_of(
        CORE, Transit=BUS + "Interchange Fleet\n  domain entity identity EdFi.School\n  domain entity Bus"
    )

    assert outline(schemas["EXTENSION-Interchange-Fleet-Extension.xsd"]) == [
        "namespace http://ed-fi.org/5.2.0",
        "includes EXTENSION-Ed-Fi-Extended-Core.xsd",
        "# Fleet Interchange Model",
        "element InterchangeFleet",
        "  choice 1..*",
        "    Bus: EXTENSION-Bus",
        "    SchoolReference: SchoolReferenceType",
    ]


def test_additions_follow_the_elements_of_the_core(schemas_of: SchemasOf) -> None:
    """Its references, too; elements of both are at the position of the core's."""
    files = files_of(
        schemas_of,
        BUS
        + """
Interchange EdFi.Enrollment additions
  domain entity identity Bus
  domain entity Bus
  domain entity identity EdFi.Student
  domain entity identity EdFi.School
""",
    )

    assert files == {
        "Enrollment": [
            "StudentSchool: StudentSchool",
            "Student: Student",
            "Locale: LocaleDescriptor",
            "SchoolReference: SchoolReferenceType",
            "StudentSchoolReference: StudentSchoolReferenceType",
            "Bus: EXTENSION-Bus",
            "BusReference: EXTENSION-BusReferenceType",
            "StudentReference: StudentReferenceType",
        ]
    }


def test_an_interchange_declared_under_a_name_of_the_core_has_what_both_have_first(schemas_of: SchemasOf) -> None:
    files = files_of(
        schemas_of,
        BUS
        + """
Interchange Schools
  domain entity Bus
  domain entity EdFi.Student
  domain entity EdFi.School
""",
    )

    assert files == {"Schools": ["School: School", "Bus: EXTENSION-Bus", "Student: Student"]}


def test_an_interchange_with_an_entity_that_is_added_to_is_copied_and_others_are_not(schemas_of: SchemasOf) -> None:
    files = files_of(schemas_of, "Domain Entity EdFi.School additions\n  bool Lake is optional")

    assert files == {"Schools": ["School: EXTENSION-SchoolExtension"]}


def test_an_entity_that_is_added_to_has_its_new_type_in_place(schemas_of: SchemasOf) -> None:
    """Also in interchanges that the extension adds to or declares. References keep their type."""
    files = files_of(
        schemas_of,
        BUS
        + """
Association EdFi.StudentSchool additions
  bool Lake is optional
Interchange EdFi.Enrollment additions
  domain entity Bus
Interchange Fleet
  association EdFi.StudentSchool
  association identity EdFi.StudentSchool
""",
    )

    assert files == {
        "Enrollment": [
            "StudentSchool: EXTENSION-StudentSchoolExtension",
            "Student: Student",
            "Locale: LocaleDescriptor",
            "SchoolReference: SchoolReferenceType",
            "StudentSchoolReference: StudentSchoolReferenceType",
            "Bus: EXTENSION-Bus",
        ],
        "Fleet": [
            "StudentSchool: EXTENSION-StudentSchoolExtension",
            "StudentSchoolReference: StudentSchoolReferenceType",
        ],
    }


def test_descriptors_of_an_extension_follow_those_of_the_core(schemas_of: SchemasOf) -> None:
    files = files_of(schemas_of, "Descriptor Paint\nDescriptor Brand")

    assert files == {
        "Descriptors": [
            "LocalAgencyDescriptor: LocalAgencyDescriptor",
            "LocaleDescriptor: LocaleDescriptor",
            "BrandDescriptor: EXTENSION-BrandDescriptor",
            "PaintDescriptor: EXTENSION-PaintDescriptor",
        ]
    }


@pytest.mark.parametrize("tag", ["TX", "Grand-Bend_2"])
def test_the_tag_is_part_of_the_names_of_files_and_types(schemas_of: SchemasOf, tag: str) -> None:
    schemas = schemas_of(CORE, Transit=BUS + "Interchange Fleet\n  domain entity Bus", tag=tag)

    assert list(schemas)[-2:] == [f"{tag}-Ed-Fi-Extended-Core.xsd", f"{tag}-Interchange-Fleet-Extension.xsd"]
    assert elements_of(schemas[f"{tag}-Interchange-Fleet-Extension.xsd"]) == [f"Bus: {tag}-Bus"]
