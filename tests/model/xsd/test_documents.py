"""Documents that the schemas of the standards accept and refuse."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from edfi_api.core.models import Document
from edfi_api.features.loading.interchange.loading import interchange_files, load_interchange
from edfi_api.features.loading.reports.results import Refused
from edfi_api.model.surface.resource import Surface
from tests.features.loading.interchange.documents import (
    SCHOOL_DESCRIPTORS,
    interchange,
    location,
    school,
    school_reference,
    student,
)
from tests.model.xsd.models import bundled, loaded, saved

STUDENT = "<StudentReference>{}</StudentReference>"
STUDENT_IDENTITY = "<StudentIdentity><StudentUniqueId>1</StudentUniqueId></StudentIdentity>"
STUDENT_LOOKUP = "<StudentLookup><StudentUniqueId>1</StudentUniqueId></StudentLookup>"
SCHOOL = "<SchoolReference><SchoolIdentity><SchoolId>7</SchoolId></SchoolIdentity></SchoolReference>"
GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"

Validate = Callable[..., bool]


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, etree.XMLSchema]:
    return loaded(saved(bundled("5.2").of("Ed-Fi"), tmp_path_factory.mktemp("5.2")))


@pytest.fixture
def is_valid(schemas: dict[str, etree.XMLSchema]) -> Validate:
    """Whether the schema of an interchange of 5.2 accepts these documents."""

    def validate(kind: str, *documents: str) -> bool:
        text = f'<Interchange{kind} xmlns="http://ed-fi.org/5.2.0">{"".join(documents)}</Interchange{kind}>'
        return schemas[f"Interchange-{kind}.xsd"].validate(etree.fromstring(text))

    return validate


def enrollment(
    student: str = STUDENT.format(STUDENT_IDENTITY), school: str = SCHOOL, year: str = "2021-2022", grade: str = GRADE
) -> str:
    return (
        f"<StudentSchoolAssociation>{student}{school}<SchoolYear>{year}</SchoolYear><EntryDate>2021-08-20</EntryDate>"
        f"<EntryGradeLevel>{grade}</EntryGradeLevel></StudentSchoolAssociation>"
    )


@pytest.mark.parametrize(
    "document",
    [
        enrollment(),
        enrollment(student=STUDENT.format(STUDENT_LOOKUP)),
        enrollment(student=STUDENT.format(STUDENT_IDENTITY + STUDENT_LOOKUP)),
        enrollment(student=STUDENT.format("")),
        enrollment(year="1990-1991"),
        enrollment(year="2049-2050"),
        enrollment(grade="x" * 255),
    ],
)
def test_valid_enrollments(is_valid: Validate, document: str) -> None:
    assert is_valid("StudentEnrollment", document)


@pytest.mark.parametrize(
    "document",
    [
        enrollment(student=STUDENT.format(STUDENT_LOOKUP + STUDENT_IDENTITY)),
        enrollment(student=""),
        enrollment(year="2022"),
        enrollment(year="2050-2051"),
        enrollment(grade="x" * 256),
        enrollment(grade=""),
        enrollment(
            school="<SchoolReference><SchoolLookup><EducationOrganizationId>7</EducationOrganizationId></SchoolLookup>"
            "</SchoolReference>"
        ),
        enrollment(school=SCHOOL.replace("7", "seven")),
        enrollment(school=SCHOOL + SCHOOL),
        "",
    ],
)
def test_invalid_enrollments(is_valid: Validate, document: str) -> None:
    """The last case is an interchange without documents."""
    assert not is_valid("StudentEnrollment", document)


BIRTH = "<BirthData><BirthDate>2010-05-01</BirthDate></BirthData>"
NAME = "<Name><FirstName>Ada</FirstName><LastSurname>Lovelace</LastSurname></Name>"


@pytest.mark.parametrize(
    ("document", "accepted"),
    [
        (f"<StudentUniqueId>1</StudentUniqueId>{NAME}{BIRTH}", True),
        (f"<StudentUniqueId>{'1' * 32}</StudentUniqueId>{NAME}{BIRTH}", True),
        (f"<StudentUniqueId>{'1' * 33}</StudentUniqueId>{NAME}{BIRTH}", False),
        (f"{NAME}<StudentUniqueId>1</StudentUniqueId>{BIRTH}", False),
        (f"<StudentUniqueId>1</StudentUniqueId><FirstName>Ada</FirstName>{BIRTH}", False),
        (f"<StudentUniqueId>1</StudentUniqueId>{NAME}", False),
        (f"<StudentUniqueId>1</StudentUniqueId>{NAME}{BIRTH}<Nickname>A</Nickname>", False),
    ],
)
def test_students(is_valid: Validate, document: str, accepted: bool) -> None:
    assert is_valid("Student", f"<Student>{document}</Student>") is accepted


def test_a_reference_by_id_is_valid(is_valid: Validate) -> None:
    assert is_valid("StudentEnrollment", enrollment(student='<StudentReference ref="S1"/>'))
    assert is_valid("Student", f'<Student id="S1"><StudentUniqueId>1</StudentUniqueId>{NAME}{BIRTH}</Student>')


@pytest.mark.usefixtures("db")
def test_documents_that_the_loader_accepts_are_valid(surface: Surface, standard: str, tmp_path: Path) -> None:
    """The files of the loader's tests, in the namespace of the served standard."""
    schemas = loaded(saved(bundled(standard).of("Ed-Fi"), tmp_path / "schemas"))
    files = {
        "Descriptors": [SCHOOL_DESCRIPTORS],
        "EducationOrganization": [
            school(7),
            location("A", school_reference(7), 'id="L"'),
            school(8, attributes='id="S"'),
            location("B", '<SchoolReference ref="S"/>'),
        ],
        "Student": [student("1"), student("2")],
    }
    folder = tmp_path / "files"
    folder.mkdir()
    for kind, documents in files.items():
        text = interchange(*documents, kind=kind).replace("3.3.1-b", surface.core_project.version)
        (folder / f"{kind}.xml").write_text(text)
        assert schemas[f"Interchange-{kind}.xsd"].validate(etree.fromstring(text.encode()))
    refused: list[Refused] = []

    load_interchange(surface, interchange_files([folder]), refused.append)

    assert refused == []
    assert Document.objects.filter(resource_type__name="Location").count() == 2
