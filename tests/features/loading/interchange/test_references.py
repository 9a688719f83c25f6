"""References by an `id` of the same file, and by look-up of a document."""

from tests.features.loading.interchange.conftest import Loader, Stored, Write
from tests.features.loading.interchange.documents import (
    SCHOOL_DESCRIPTORS,
    descriptor,
    interchange,
    location,
    school,
    school_reference,
    student,
    uri,
)

BY_REF = '<SchoolReference ref="S1"/>'


def look_up(*criteria: str) -> str:
    return f"<SchoolReference><SchoolLookup>{''.join(criteria)}</SchoolLookup></SchoolReference>"


def test_a_ref_leads_to_the_document_with_that_id(loader: Loader, stored: Stored) -> None:
    loader.documents(SCHOOL_DESCRIPTORS, school(1, attributes='id="S1"'), location("A", BY_REF))

    assert stored("Location") == [{"classroomIdentificationCode": "A", "schoolReference": {"schoolId": 1}}]


def test_a_ref_may_precede_its_id(loader: Loader) -> None:
    loader.documents(location("A", BY_REF), SCHOOL_DESCRIPTORS, school(1, attributes='id="S1"'))

    assert loader.refused == []


def test_a_ref_through_a_ref(loader: Loader, stored: Stored) -> None:
    section_location = '<LocationReference ref="L1"/>'
    loader.documents(
        SCHOOL_DESCRIPTORS,
        f"<Section><SectionIdentifier>X</SectionIdentifier>{section_location}</Section>",
        location("A", BY_REF, attributes='id="L1"'),
        school(1, attributes='id="S1"'),
    )

    # The section is refused only because it has no course offering, not because of its location.
    assert loader.reasons == ["$.courseOfferingReference: courseOfferingReference is required."]
    assert len(stored("Location")) == 1


def test_a_reference_below_the_root_defines_an_id_and_is_no_document(loader: Loader, stored: Stored) -> None:
    template = school_reference(1).replace("<SchoolReference>", '<SchoolReference id="S1">')

    result = loader.documents(SCHOOL_DESCRIPTORS, school(1), template, location("A", BY_REF))

    assert stored("Location")[0]["schoolReference"] == {"schoolId": 1}
    assert result.total("inserted") == 4
    assert loader.refused == []


def test_a_reference_inside_a_document_can_define_an_id(loader: Loader, stored: Stored) -> None:
    first = location("A", school_reference(1).replace("<SchoolReference>", '<SchoolReference id="S1">'))

    loader.documents(SCHOOL_DESCRIPTORS, school(1), first, location("B", BY_REF))

    assert [body["schoolReference"] for body in stored("Location")] == [{"schoolId": 1}, {"schoolId": 1}]


def test_a_school_can_be_referenced_as_an_education_organization(loader: Loader, stored: Stored) -> None:
    loader.documents(
        SCHOOL_DESCRIPTORS + descriptor("ProgramType", "Band"),
        school(1, attributes='id="S1"'),
        '<Program><ProgramName>P</ProgramName><EducationOrganizationReference ref="S1"/>'
        f"<ProgramType>{uri('ProgramType', 'Band')}</ProgramType></Program>",
    )

    assert stored("Program")[0]["educationOrganizationReference"] == {"educationOrganizationId": 1}


def test_an_unknown_id_is_refused_with_the_line_of_the_reference(loader: Loader) -> None:
    loader.documents("<Location>", BY_REF, "</Location>")

    assert [(refused.line, refused.reason) for refused in loader.refused] == [
        (4, "nothing in the file has the id 'S1'")
    ]


def test_the_scope_of_an_id_is_its_file(loader: Loader, write: Write) -> None:
    schools = write(interchange(SCHOOL_DESCRIPTORS, school(1, attributes='id="S1"')), "A.xml")
    locations = write(interchange(location("A", BY_REF)), "B.xml")

    loader.files(schools, locations)

    assert loader.reasons == ["nothing in the file has the id 'S1'"]


def test_an_id_of_something_else_is_refused(loader: Loader) -> None:
    loader.documents(student("1").replace("<Student>", '<Student id="S1">'), location("A", BY_REF))

    assert loader.reasons == ["the id 'S1' is not of a School but of a Student"]


def test_cyclic_ids_are_refused(loader: Loader) -> None:
    loader.documents(
        '<Location><SchoolReference id="S1" ref="S2"/></Location>',
        '<Location><SchoolReference id="S2" ref="S1"/></Location>',
    )

    assert loader.reasons == ["nothing in the file has the id 'S2'", "nothing in the file has the id 'S1'"]


def test_an_id_can_be_given_once(loader: Loader) -> None:
    loader.documents(SCHOOL_DESCRIPTORS, school(1, attributes='id="S1"'), school(2, attributes='id="S1"'))

    assert [str(refused).partition(": ")[2] for refused in loader.refused] == [
        "School: the id 'S1' is given to something else before"
    ]


def test_a_look_up_leads_to_the_document_with_all_its_values(loader: Loader, stored: Stored) -> None:
    named = look_up(
        "<NameOfInstitution>School 2</NameOfInstitution>",
        f"<GradeLevel>{uri('GradeLevel', 'Ninth grade')}</GradeLevel>",
    )

    loader.documents(SCHOOL_DESCRIPTORS, school(1), school(2), location("A", named))

    assert stored("Location")[0]["schoolReference"] == {"schoolId": 2}


def test_values_of_a_look_up_are_coerced(loader: Loader, stored: Stored) -> None:
    loader.documents(SCHOOL_DESCRIPTORS, school(1), location("A", look_up("<SchoolId>01</SchoolId>")))

    assert stored("Location")[0]["schoolReference"] == {"schoolId": 1}


def test_an_identity_takes_precedence_over_a_look_up(loader: Loader, stored: Stored) -> None:
    both = (
        "<SchoolReference><SchoolLookup><NameOfInstitution>School 2</NameOfInstitution></SchoolLookup>"
        "<SchoolIdentity><SchoolId>1</SchoolId></SchoolIdentity></SchoolReference>"
    )

    loader.documents(SCHOOL_DESCRIPTORS, school(1), school(2), location("A", both))

    assert stored("Location")[0]["schoolReference"] == {"schoolId": 1}


def test_a_look_up_by_members_of_the_superclass_finds_subclasses(loader: Loader, stored: Stored) -> None:
    loader.documents(
        SCHOOL_DESCRIPTORS + descriptor("ProgramType", "Band"),
        school(1),
        school(2),
        "<Program><ProgramName>P</ProgramName><EducationOrganizationReference><EducationOrganizationLookup>"
        "<EducationOrganizationId>2</EducationOrganizationId><NameOfInstitution>School 2</NameOfInstitution>"
        "</EducationOrganizationLookup></EducationOrganizationReference>"
        f"<ProgramType>{uri('ProgramType', 'Band')}</ProgramType></Program>",
    )

    assert stored("Program")[0]["educationOrganizationReference"] == {"educationOrganizationId": 2}


def test_a_look_up_must_match_one_document(loader: Loader) -> None:
    nowhere = look_up("<NameOfInstitution>Nowhere</NameOfInstitution>")
    everywhere = look_up(f"<GradeLevel>{uri('GradeLevel', 'Ninth grade')}</GradeLevel>")

    loader.documents(SCHOOL_DESCRIPTORS, school(1), school(2), location("A", nowhere), location("B", everywhere))

    assert loader.reasons == ["the School look-up matches no document", "the School look-up matches several documents"]


def test_an_empty_look_up_is_refused(loader: Loader) -> None:
    loader.documents(SCHOOL_DESCRIPTORS, school(1), location("A", look_up()))

    assert loader.reasons == ["SchoolLookup has no values to look up"]
