"""The files of the bundled standards equal those published by Ed-Fi, except for documentation.

The test compares digests: the first 12 hexadecimal digits of SHA-256 over a line for each XML element, with its depth,
its attributes in order of name and its text. The digests were computed from the published files.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.xsd.files import schema_files
from tests.model.surface.models import write_project
from tests.model.xsd.models import CORE, EXTENDED_CORE, PUBLISHED_STANDARDS, Schemas, bundled, loaded, parsed, saved
from tests.model.xsd.outline import ANN, XS, outline_of
from tests.support.serving import OTHERS_MARKED

# Digest, and the number of elements that have a type.
PUBLISHED = {
    "5.2": {
        "Ed-Fi-Core": ("a68510e71d63", 1990),
        "SchemaAnnotation": ("cd0021d44ac5", 0),
        "AssessmentMetadata": ("14fc3250cf24", 5),
        "AssessmentRegistration": ("056c6974bb97", 6),
        "Contact": ("7320f9cee978", 3),
        "Descriptors": ("9db68ca13c3f", 211),
        "EducationOrgCalendar": ("29eacd3ec41f", 5),
        "EducationOrganization": ("e3df09050cc6", 18),
        "Finance": ("0539e919c5a4", 15),
        "MasterSchedule": ("13540e2a60bb", 3),
        "PostSecondaryEvent": ("40e3eddbc488", 1),
        "StaffAssociation": ("12a09e930a0a", 12),
        "Standards": ("aa08ff6bb2ec", 2),
        "Student": ("56febe87c8dc", 2),
        "StudentAssessment": ("be222058b1e4", 4),
        "StudentAttendance": ("e1e4f46c02bd", 5),
        "StudentCohort": ("d18b05e41ed8", 3),
        "StudentDiscipline": ("878d6973106f", 5),
        "StudentEnrollment": ("acf62bf5c65e", 8),
        "StudentGrade": ("4656733b4143", 4),
        "StudentGradebook": ("c70cec077729", 3),
        "StudentHealth": ("47f10f3d4c99", 3),
        "StudentIntervention": ("13531df927fb", 6),
        "StudentProgram": ("96f65f11523c", 11),
        "StudentProgramEvaluation": ("2037336046f4", 6),
        "StudentTranscript": ("e2742c3c3658", 2),
        "Survey": ("15d707896f74", 13),
    },
    "3.3.1-b": {
        "Ed-Fi-Core": ("1a122343659c", 1726),
        "SchemaAnnotation": ("29b7f3363fb0", 0),
        "AssessmentMetadata": ("8504503eddc8", 6),
        "Descriptors": ("b0f523ad1458", 183),
        "EducationOrgCalendar": ("d21871708ea8", 5),
        "EducationOrganization": ("2797f627b0d3", 18),
        "Finance": ("43f5def616d7", 6),
        "MasterSchedule": ("7f7a07ff94e6", 3),
        "Parent": ("f4e22a8b499b", 3),
        "PostSecondaryEvent": ("ff51c497a576", 1),
        "StaffAssociation": ("6ff49a0797e4", 12),
        "Standards": ("092fcd85a4ba", 3),
        "Student": ("eeb33cbc071f", 2),
        "StudentAssessment": ("ed88384badf3", 4),
        "StudentAttendance": ("8d662f2939e5", 5),
        "StudentCohort": ("b15611a6f1a6", 3),
        "StudentDiscipline": ("e33ba44f1778", 6),
        "StudentEnrollment": ("3fd32304459b", 6),
        "StudentGrade": ("c67f81fe8338", 6),
        "StudentGradebook": ("1b0bad282221", 4),
        "StudentIntervention": ("78ca1ccdb6f3", 6),
        "StudentProgram": ("68a9292de7ff", 10),
        "StudentTranscript": ("a5ecd375b9c3", 2),
        "Survey": ("5b16ceaa3f98", 13),
    },
}
# Sections of the core: number of types and digest of their lines.
SECTIONS = {
    "5.2": {
        "Domain Entities": (96, "f8df1e34f4b0"),
        "Descriptors": (211, "6c06d204c7e6"),
        "Associations": (43, "21da9209f9d5"),
        "Base Types (borrowed from NEIM standards)": (3, "ac4aec074d38"),
        "Extended Reference Types": (293, "e7d817311ed4"),
        "Extended Descriptor Reference Types": (211, "e65861e13e2f"),
        "Common Types": (86, "59dcea03f0dd"),
        "Enumerations and Enumerated Collections": (1, "bf36f9d015b4"),
        "String Simple Types": (137, "3fd8afb46ae9"),
        "Numeric Simple Types": (39, "f4f48216757b"),
    },
    "3.3.1-b": {
        "Domain Entities": (75, "2735f3619540"),
        "Descriptors": (183, "8ef4033c8508"),
        "Associations": (40, "0eb6adb80fa1"),
        "Base Types (borrowed from NEIM standards)": (3, "ac4aec074d38"),
        "Extended Reference Types": (246, "50def3b8cfed"),
        "Extended Descriptor Reference Types": (183, "7cc114ea5f7e"),
        "Common Types": (78, "424494def39b"),
        "Enumerations and Enumerated Collections": (1, "bf36f9d015b4"),
        "String Simple Types": (117, "b5578335ee89"),
        "Numeric Simple Types": (33, "e9d786a439d9"),
    },
}
FILES = {"3.3.1-b": 24, "4.0": 24, "5.2": 27, "6.1": 33}
TRANSIT = """
Descriptor Paint
Common EdFi.ClassRanking additions
  descriptor Paint is optional
Choice Fare
  currency Price is required
  string FareZone is required max length 4
Domain Entity Bus
  domain entity EdFi.School is part of identity role name Home
  inline common EdFi.EmploymentPeriod is required role name Driver
  string BusNumber is part of identity max length 12
  integer Seats is required min value 1 max value 99
  choice Fare is optional
  common EdFi.MeetingTime is optional collection
  enumeration EdFi.SchoolYear is optional
Association StudentBusAssociation based on EdFi.GeneralStudentProgramAssociation
  duration Ride is optional
Domain Entity EdFi.StudentAcademicRecord additions
  domain entity Bus is optional role name Usual
  common extension EdFi.ClassRanking is optional
Association EdFi.StudentSchoolAssociation additions
  short Stops is optional max value 9
Interchange EdFi.StudentTranscript additions
  domain entity Bus
"""


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]


def lines(node: Any, depth: int = 0) -> Iterator[str]:
    name = node.tag.replace(XS, "xs:").replace(ANN, "ann:")
    attributes = "".join(f' {name}="{value}"' for name, value in sorted(node.attrib.items()))
    text = (node.text or "").strip() if name != "xs:documentation" else ""
    yield f"{depth} {name}{attributes}{' ' if text else ''}{text}\n"
    for child in node:
        yield from lines(child, depth + 1)


def sections(core: Any) -> Iterator[tuple[str, list[Any]]]:
    """The types below each heading."""
    types: list[Any] = []
    for node in core:
        if node.tag == f"{XS}annotation":
            types = []
            yield node.findtext(f"{XS}documentation").strip("= "), types
        else:
            types.append(node)


@pytest.mark.parametrize("standard", PUBLISHED_STANDARDS)
def test_every_file_is_the_published_one(standard: str) -> None:
    files = parsed(bundled(standard).of("Ed-Fi"))

    assert {
        name.removesuffix(".xsd").removeprefix("Interchange-"): (
            digest(lines(root)),
            sum("type" in element.attrib for element in root.iter(f"{XS}element")),
        )
        for name, root in files.items()
    } == PUBLISHED[standard]


@pytest.mark.parametrize("standard", PUBLISHED_STANDARDS)
def test_every_section_of_the_core_is_the_published_one(standard: str) -> None:
    _title, *found = sections(parsed(bundled(standard).of("Ed-Fi"))[CORE])

    assert {
        heading: (len(types), digest(line for type_ in types for line in lines(type_, 1))) for heading, types in found
    } == SECTIONS[standard]


def test_the_lines_of_a_digest_are_these() -> None:
    core = parsed(bundled("5.2").of("Ed-Fi"))[CORE]
    (school,) = (node for node in core if node.get("name") == "SchoolLookupType")

    assert "".join(lines(school, 1)).splitlines()[:8] == [
        '1 xs:complexType name="SchoolLookupType"',
        "2 xs:annotation",
        "3 xs:documentation",
        "3 xs:appinfo",
        "4 ann:TypeGroup Lookup",
        "2 xs:sequence",
        '3 xs:element minOccurs="0" name="SchoolId" type="xs:long"',
        "4 xs:annotation",
    ]


@pytest.mark.parametrize("standard", OTHERS_MARKED)
def test_every_file_of_a_bundled_standard_is_a_valid_schema(standard: str, tmp_path: Path) -> None:
    assert len(loaded(saved(bundled(standard).of("Ed-Fi"), tmp_path))) == FILES[standard]
    assert bundled(standard).warnings == ()


@pytest.fixture(scope="module")
def transit(tmp_path_factory: pytest.TempPathFactory) -> Schemas:
    folder = tmp_path_factory.mktemp("transit")
    extension = write_project(folder / "transit", "Transit", TRANSIT, "1.0.0")
    files = schema_files(compile_projects([BUNDLED_STANDARDS / "5.2", extension]))
    assert files.warnings == ()
    loaded(saved(files.of("Transit"), folder / "schemas"))
    return parsed(files.of("Transit"))


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (EXTENDED_CORE, "72f65d3e8dc1"),
        ("EXTENSION-Interchange-StudentTranscript-Extension.xsd", "05510d8c268a"),
        ("EXTENSION-Interchange-StudentEnrollment-Extension.xsd", "bb641fdaff3b"),
        ("EXTENSION-Interchange-Descriptors-Extension.xsd", "d0bd685b69cf"),
    ],
)
def test_the_files_of_an_extension_are_those_of_ed_fis_own_generator(
    transit: Schemas, file: str, expected: str
) -> None:
    assert digest(lines(transit[file])) == expected


def test_an_extension_has_these_files_beside_those_of_the_core(transit: Schemas) -> None:
    core = [file.name for file in bundled("5.2").of("Ed-Fi")]

    assert list(transit) == [
        *core,
        EXTENDED_CORE,
        "EXTENSION-Interchange-Descriptors-Extension.xsd",
        "EXTENSION-Interchange-StudentEnrollment-Extension.xsd",
        "EXTENSION-Interchange-StudentTranscript-Extension.xsd",
    ]


def test_the_types_of_an_extension(transit: Schemas) -> None:
    core = transit[EXTENDED_CORE]

    assert outline_of(core, "EXTENSION-Bus") == [
        "complex EXTENSION-Bus extends ComplexObjectType (Domain Entity)",
        "  HomeSchoolReference: SchoolReferenceType",
        "  DriverEmploymentPeriod: EmploymentPeriod",
        "  BusNumber: EXTENSION-BusNumber",
        "  Seats: EXTENSION-Seats",
        "  choice 0..1",
        "    Price: Currency",
        "    FareZone: EXTENSION-FareZone",
        "  MeetingTime: MeetingTime 0..*",
        "  SchoolYear: SchoolYearType 0..1",
    ]
    assert outline_of(core, "EXTENSION-BusIdentityType") == [
        "complex EXTENSION-BusIdentityType (Identity)",
        "  HomeSchoolReference: SchoolReferenceType",
        "  BusNumber: EXTENSION-BusNumber",
        "  HireDate: xs:date",
    ]
    assert outline_of(core, "EXTENSION-StudentBusAssociationIdentityType") == [
        "complex EXTENSION-StudentBusAssociationIdentityType (Identity)",
        "  StudentReference: StudentReferenceType",
        "  ProgramReference: ProgramReferenceType",
        "  BeginDate: xs:date",
        "  EducationOrganizationReference: EducationOrganizationReferenceType",
    ]
    assert outline_of(core, "EXTENSION-StudentAcademicRecordExtension") == [
        "complex EXTENSION-StudentAcademicRecordExtension extends EXTENSION-StudentAcademicRecordRestriction"
        " (Domain Entity)",
        "  UsualBusReference: EXTENSION-BusReferenceType 0..1",
        "  ClassRanking: EXTENSION-ClassRankingExtension 0..1",
    ]
    transcript = transit["EXTENSION-Interchange-StudentTranscript-Extension.xsd"]
    assert outline_of(transcript, "InterchangeStudentTranscript") == [
        "element InterchangeStudentTranscript",
        "  choice 1..*",
        "    StudentAcademicRecord: EXTENSION-StudentAcademicRecordExtension",
        "    CourseTranscript: CourseTranscript",
        "    Bus: EXTENSION-Bus",
    ]
