"""The rules that map an XML document to a body. Values stay text; they are coerced later."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from edfi_api.features.loading.exceptions import UnknownElement, UnreadableDocument
from edfi_api.features.loading.interchange.document_reader import DocumentReader, documents
from edfi_api.features.loading.interchange.entities import Entities
from edfi_api.model.surface.resource import Surface
from tests.features.loading.interchange.documents import interchange, school_reference
from tests.support.serving import served

Read = Callable[[str], dict[str, Any]]

SESSION = (
    "<SessionReference><SessionIdentity>"
    "<SchoolReference><SchoolIdentity><SchoolId>{session_school}</SchoolId></SchoolIdentity></SchoolReference>"
    "<SchoolYear>2025-2026</SchoolYear><SessionName>Fall</SessionName>"
    "</SessionIdentity></SessionReference>"
)
COURSE_OFFERING = (
    "<CourseOfferingReference><CourseOfferingIdentity><LocalCourseCode>ALG</LocalCourseCode>"
    + school_reference(1)
    + SESSION
    + "</CourseOfferingIdentity></CourseOfferingReference>"
)


@pytest.fixture(scope="module")
def surface() -> Surface:
    """Data Standard 3.3.1-b, to which the samples belong."""
    return served("3.3.1-b").surface


@pytest.fixture(scope="module")
def reader(surface: Surface) -> DocumentReader:
    return DocumentReader(Entities(surface))


@pytest.fixture
def body_of(reader: DocumentReader) -> Read:
    """The body of the single document in the text."""

    def read(text: str) -> dict[str, Any]:
        (element,) = documents(io.BytesIO(interchange(text).encode()))
        fragment = reader.read(element).document
        assert fragment is not None
        assert fragment.open_references == []
        return fragment.body

    return read


@pytest.fixture
def problem_of(body_of: Read) -> Callable[[str], UnreadableDocument]:
    def problem(text: str) -> UnreadableDocument:
        with pytest.raises(UnreadableDocument) as raised:
            body_of(text)
        return raised.value

    return problem


def test_a_value_is_a_member_in_camel_case(body_of: Read) -> None:
    assert body_of("<School><SchoolId>1</SchoolId><WebSite>http://a</WebSite></School>") == {
        "schoolId": "1",
        "webSite": "http://a",
    }


def test_a_descriptor_value_is_a_member_with_the_suffix(body_of: Read) -> None:
    body = body_of("<School><CharterStatus>uri://x#Open</CharterStatus></School>")

    assert body == {"charterStatusDescriptor": "uri://x#Open"}


def test_a_repeated_descriptor_is_an_array_of_objects(body_of: Read) -> None:
    body = body_of("<School><GradeLevel>uri://x#1</GradeLevel><GradeLevel>uri://x#2</GradeLevel></School>")

    assert body == {"gradeLevels": [{"gradeLevelDescriptor": "uri://x#1"}, {"gradeLevelDescriptor": "uri://x#2"}]}


def test_a_role_is_part_of_the_name(body_of: Read) -> None:
    body = body_of("<Credential><StateOfIssueStateAbbreviation>uri://x#TX</StateOfIssueStateAbbreviation></Credential>")

    assert body == {"stateOfIssueStateAbbreviationDescriptor": "uri://x#TX"}


def test_a_common_is_an_object_and_a_repeated_one_an_array(body_of: Read) -> None:
    body = body_of(
        "<Parent><Address><City>A</City><Period><BeginDate>2020-01-01</BeginDate></Period></Address>"
        "<Address><City>B</City></Address></Parent>"
    )

    assert body == {
        "addresses": [{"city": "A", "periods": [{"beginDate": "2020-01-01"}]}, {"city": "B"}],
    }


def test_a_single_common_is_no_array(body_of: Read) -> None:
    body = body_of("<Assessment><ContentStandard><Title>T</Title></ContentStandard></Assessment>")

    assert body == {"contentStandard": {"title": "T"}}


def test_an_inline_common_has_an_element_in_xml_only(body_of: Read) -> None:
    body = body_of(
        "<Student><Name><FirstName>Ada</FirstName></Name><BirthData><BirthCity>X</BirthCity></BirthData></Student>"
    )

    assert body == {"firstName": "Ada", "birthCity": "X"}


def test_members_of_an_inline_common_with_a_role_have_its_prefix(body_of: Read) -> None:
    body = body_of(
        "<Course><MinimumAvailableCredits><Credits>1</Credits></MinimumAvailableCredits>"
        "<MaximumAvailableCredits><Credits>2</Credits></MaximumAvailableCredits></Course>"
    )

    assert body == {"minimumAvailableCredits": "1", "maximumAvailableCredits": "2"}


def test_a_choice_has_no_element(body_of: Read) -> None:
    body = body_of(
        "<Assessment><ContentStandard><PublicationYear>2021</PublicationYear></ContentStandard></Assessment>"
    )

    assert body == {"contentStandard": {"publicationYear": "2021"}}


def test_an_inline_common_inside_a_choice_and_one_inside_that(body_of: Read) -> None:
    body = body_of(
        "<EducationContent><LearningResource><ShortDescription>S</ShortDescription>"
        "<DerivativeSourceEducationContentSource><URI>http://a</URI></DerivativeSourceEducationContentSource>"
        "</LearningResource></EducationContent>"
    )

    assert body == {
        "shortDescription": "S",
        "derivativeSourceURIs": [{"derivativeSourceURI": "http://a"}],
    }


def test_a_school_year_is_the_year_in_which_it_ends(body_of: Read) -> None:
    assert body_of("<Session><SchoolYear>2025-2026</SchoolYear></Session>") == {
        "schoolYearTypeReference": {"schoolYear": 2026}
    }


def test_a_school_year_in_other_words_is_left_to_the_validation(body_of: Read) -> None:
    assert body_of("<Session><SchoolYear>2026</SchoolYear></Session>") == {
        "schoolYearTypeReference": {"schoolYear": "2026"}
    }


def test_an_ordinary_year_stays_a_year(body_of: Read) -> None:
    assert body_of("<AccountCode><FiscalYear>2026</FiscalYear></AccountCode>") == {"fiscalYear": "2026"}


def test_a_reference_is_an_object_of_the_target_s_identity(body_of: Read) -> None:
    assert body_of(f"<Location>{school_reference(7)}</Location>") == {"schoolReference": {"schoolId": "7"}}


def test_a_reference_in_a_role_names_its_target_without_it(body_of: Read) -> None:
    body = body_of(
        "<Section><LocationSchoolReference><SchoolIdentity><SchoolId>7</SchoolId></SchoolIdentity>"
        "</LocationSchoolReference></Section>"
    )

    assert body == {"locationSchoolReference": {"schoolId": "7"}}


def test_a_repeated_reference_is_an_array(body_of: Read) -> None:
    body = body_of(
        "<Course><LearningStandardReference><LearningStandardIdentity><LearningStandardId>1</LearningStandardId>"
        "</LearningStandardIdentity></LearningStandardReference></Course>"
    )

    assert body == {"learningStandards": [{"learningStandardReference": {"learningStandardId": "1"}}]}


def test_nested_identities_are_flattened(body_of: Read) -> None:
    body = body_of(f"<Section>{COURSE_OFFERING.format(session_school=1)}</Section>")

    assert body == {
        "courseOfferingReference": {
            "localCourseCode": "ALG",
            "schoolId": "1",
            "schoolYear": 2026,
            "sessionName": "Fall",
        }
    }


def test_values_that_the_model_merges_must_agree(problem_of: Callable[[str], UnreadableDocument]) -> None:
    problem = problem_of(f"<Section>\n{COURSE_OFFERING.format(session_school=2)}</Section>")

    assert problem == UnreadableDocument(4, "the CourseOffering has two values for schoolId: '1', '2'")


def test_a_merged_value_may_be_left_out(body_of: Read) -> None:
    session = SESSION.replace(school_reference(0).replace("0", "{session_school}"), "")
    body = body_of(
        "<Section><CourseOfferingReference><CourseOfferingIdentity><LocalCourseCode>ALG</LocalCourseCode>"
        f"{school_reference(1)}{session}</CourseOfferingIdentity></CourseOfferingReference></Section>"
    )

    assert body["courseOfferingReference"]["schoolId"] == "1"


@pytest.mark.parametrize(
    "value", ["<HireDate>2020-01-01</HireDate>", "<EmploymentPeriod><HireDate>2020-01-01</HireDate></EmploymentPeriod>"]
)
def test_an_identity_may_name_the_values_of_inline_commons_directly(body_of: Read, value: str) -> None:
    reference = "StaffEducationOrganizationEmploymentAssociation"
    body = body_of(
        f"<StaffEducationOrganizationAssignmentAssociation><{reference}Reference><{reference}Identity>{value}"
        f"</{reference}Identity></{reference}Reference></StaffEducationOrganizationAssignmentAssociation>"
    )

    assert body == {"employmentStaffEducationOrganizationEmploymentAssociationReference": {"hireDate": "2020-01-01"}}


def test_a_reference_to_an_abstract_target(body_of: Read) -> None:
    body = body_of(
        "<Course><EducationOrganizationReference><EducationOrganizationIdentity>"
        "<EducationOrganizationId>9</EducationOrganizationId>"
        "</EducationOrganizationIdentity></EducationOrganizationReference></Course>"
    )

    assert body == {"educationOrganizationReference": {"educationOrganizationId": "9"}}


def test_a_reference_inside_a_common_of_a_collection(body_of: Read) -> None:
    body = body_of(
        "<StudentSpecialEducationProgramAssociation><SpecialEducationProgramService><ServiceProvider><StaffReference>"
        "<StaffIdentity><StaffUniqueId>5</StaffUniqueId></StaffIdentity></StaffReference></ServiceProvider>"
        "</SpecialEducationProgramService></StudentSpecialEducationProgramAssociation>"
    )

    assert body == {
        "specialEducationProgramServices": [{"providers": [{"staffReference": {"staffUniqueId": "5"}}]}],
    }


def test_a_name_that_the_published_api_changed(body_of: Read) -> None:
    body = body_of(
        "<ReportCard><GradeReference><GradeIdentity><GradingPeriodReference><GradingPeriodIdentity>"
        "<PeriodSequence>3</PeriodSequence>"
        "</GradingPeriodIdentity></GradingPeriodReference></GradeIdentity></GradeReference></ReportCard>"
    )

    assert body == {"grades": [{"gradeReference": {"gradingPeriodSequence": "3"}}]}


def test_a_descriptor_document_leaves_its_prior_descriptor_out(body_of: Read) -> None:
    body = body_of(
        "<SexDescriptor><CodeValue>F</CodeValue><Namespace>uri://x</Namespace><PriorDescriptor>uri://x#G</PriorDescriptor>"
        "<EffectiveBeginDate>2020-01-01</EffectiveBeginDate></SexDescriptor>"
    )

    assert body == {"codeValue": "F", "namespace": "uri://x", "effectiveBeginDate": "2020-01-01"}


def test_values_keep_their_blanks_which_are_read_as_those_of_requests(body_of: Read) -> None:
    assert body_of("<School><SchoolId>\n  1\n</SchoolId></School>") == {"schoolId": "\n  1\n"}


def test_an_empty_element_is_ignored(body_of: Read) -> None:
    assert body_of("<School><SchoolId>1</SchoolId><WebSite/><GradeLevel> </GradeLevel></School>") == {"schoolId": "1"}


def test_an_unknown_element_is_named_with_its_line(problem_of: Callable[[str], UnreadableDocument]) -> None:
    assert problem_of("<School>\n<Nickname>x</Nickname></School>") == UnreadableDocument(4, "unknown element Nickname")


def test_an_element_below_a_value_is_unknown(problem_of: Callable[[str], UnreadableDocument]) -> None:
    assert problem_of("<School><SchoolId><B/></SchoolId></School>") == UnreadableDocument(3, "unknown element B")


def test_an_unknown_document_is_named(problem_of: Callable[[str], UnreadableDocument]) -> None:
    assert problem_of("<Teapot/>") == UnknownElement(3, "unknown element Teapot", "Teapot")


def test_an_abstract_entity_is_no_document(problem_of: Callable[[str], UnreadableDocument]) -> None:
    assert problem_of("<EducationOrganization/>").reason == "unknown element EducationOrganization"


def test_a_single_value_may_not_be_repeated(problem_of: Callable[[str], UnreadableDocument]) -> None:
    problem = problem_of("<School><SchoolId>1</SchoolId>\n<SchoolId>2</SchoolId></School>")

    assert problem == UnreadableDocument(4, "SchoolId may stand here only once")


def test_a_reference_without_identity_is_refused(problem_of: Callable[[str], UnreadableDocument]) -> None:
    problem = problem_of("<Location><SchoolReference/></Location>")

    assert problem.reason == "SchoolReference has no identity, look-up or ref"


def test_a_reference_accepts_the_identity_of_its_target_only(problem_of: Callable[[str], UnreadableDocument]) -> None:
    problem = problem_of(
        "<Location><SchoolReference><StaffIdentity/></SchoolReference></Location>",
    )

    assert problem.reason == "unknown element StaffIdentity; SchoolReference has no identity, look-up or ref"


def test_all_problems_of_a_document_are_reported_together(problem_of: Callable[[str], UnreadableDocument]) -> None:
    problem = problem_of("<School><A/>\n<B/></School>")

    assert problem == UnreadableDocument(3, "unknown element A; unknown element B (line 4)")
