"""Complete loads: order, effects of errors, and repetition."""

from collections.abc import Sequence
from typing import Any

import pytest

from edfi_api.features.loading.exceptions import NothingFound
from edfi_api.features.loading.files import NoSuchPath
from edfi_api.features.loading.interchange.loading import interchange_files
from edfi_api.model.surface.resource import ResourceName
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


def counted(loader_result: Any, resource: str) -> dict[str, int]:
    return dict(loader_result.counts[ResourceName("Ed-Fi", resource)])


def agency(agency_id: int, parent: int | None = None) -> str:
    name = "LocalEducationAgency"
    identity = f"<{name}Identity><{name}Id>{parent}</{name}Id></{name}Identity>"
    category = uri("EducationOrganizationCategory", "School")
    return (
        f"<{name}><NameOfInstitution>A</NameOfInstitution>"
        f"<EducationOrganizationCategory>{category}</EducationOrganizationCategory>"
        f"<{name}Id>{agency_id}</{name}Id>"
        f"{f'<Parent{name}Reference>{identity}</Parent{name}Reference>' if parent else ''}"
        f"<{name}Category>{uri('LocalEducationAgencyCategory', 'Other')}</{name}Category></{name}>"
    )


AGENCY_DESCRIPTORS = SCHOOL_DESCRIPTORS + descriptor("LocalEducationAgencyCategory", "Other")


def test_values_are_coerced_to_their_types(loader: Loader, stored: Stored) -> None:
    loader.documents(
        SCHOOL_DESCRIPTORS,
        school(1),
        student("1", birth_date="2010-05-01").replace(
            "</BirthData>", "<MultipleBirthStatus>1</MultipleBirthStatus></BirthData>"
        ),
        location("A", school_reference(1)).replace(
            "<SchoolReference>", "<MaximumNumberOfSeats>20</MaximumNumberOfSeats><SchoolReference>"
        ),
    )

    assert stored("Student") == [
        {
            "studentUniqueId": "1",
            "firstName": "Ada",
            "lastSurname": "1",
            "birthDate": "2010-05-01",
            "multipleBirthStatus": True,
        }
    ]
    assert stored("Location")[0]["maximumNumberOfSeats"] == 20


def test_targets_are_written_before_referrers_in_any_order_of_the_files(loader: Loader, write: Write) -> None:
    first = write(interchange(location("A", school_reference(1)), school(1)), "A.xml")
    last = write(interchange(SCHOOL_DESCRIPTORS), "Z.xml")

    result = loader.files(first, last)

    assert loader.refused == []
    assert [name.resource for name in result.counts if name] == [
        "EducationOrganizationCategoryDescriptor",
        "GradeLevelDescriptor",
        "School",
        "Location",
    ]


def test_documents_of_one_resource_wait_for_each_other(loader: Loader, stored: Stored) -> None:
    loader.documents(agency(3, parent=2), agency(2, parent=1), agency(1), AGENCY_DESCRIPTORS)

    assert loader.refused == []
    assert [body["localEducationAgencyId"] for body in stored("LocalEducationAgency")] == [1, 2, 3]


def test_deferral_ends_when_no_further_document_can_arrive(loader: Loader, stored: Stored) -> None:
    result = loader.documents(agency(3, parent=2), agency(2, parent=9), agency(1), AGENCY_DESCRIPTORS)

    assert [body["localEducationAgencyId"] for body in stored("LocalEducationAgency")] == [1]
    assert counted(result, "LocalEducationAgency") == {"inserted": 1, "refused": 2}
    assert loader.reasons == [
        "$.parentLocalEducationAgencyReference: The referenced LocalEducationAgency item does not exist. "
        '{"localEducationAgencyId":"9"}',
        "$.parentLocalEducationAgencyReference: The referenced LocalEducationAgency item does not exist. "
        '{"localEducationAgencyId":"2"}',
    ]


def test_documents_with_cyclic_references_are_loaded(loader: Loader, stored: Stored) -> None:
    loader.documents(agency(1, parent=2), agency(2, parent=3), agency(3, parent=1), AGENCY_DESCRIPTORS)

    assert loader.refused == []
    assert [body["localEducationAgencyId"] for body in stored("LocalEducationAgency")] == [1, 2, 3]


def test_a_deferred_document_does_not_replace_a_later_version(loader: Loader, stored: Stored) -> None:
    later = agency(1).replace("<NameOfInstitution>A<", "<NameOfInstitution>Later<")

    loader.documents(agency(1, parent=2), later, agency(2), AGENCY_DESCRIPTORS)

    assert loader.refused == []
    assert {body["localEducationAgencyId"]: body["nameOfInstitution"] for body in stored("LocalEducationAgency")} == {
        1: "Later",
        2: "A",
    }


ANY_ORDER = (
    agency(1, parent=2),
    agency(2, parent=1),
    agency(3, parent=4).replace("<NameOfInstitution>A<", "<NameOfInstitution>Only this<"),
    agency(4),
    agency(5).replace(
        f"<LocalEducationAgencyCategory>{uri('LocalEducationAgencyCategory', 'Other')}",
        "<ParentLocalEducationAgencyReference><LocalEducationAgencyLookup><NameOfInstitution>Only this"
        "</NameOfInstitution></LocalEducationAgencyLookup></ParentLocalEducationAgencyReference>"
        f"<LocalEducationAgencyCategory>{uri('LocalEducationAgencyCategory', 'Other')}",
    ),
    agency(6, parent=5),
    AGENCY_DESCRIPTORS,
)


@pytest.mark.parametrize("order", [range(7), range(6, -1, -1), (4, 2, 6, 0, 5, 1, 3), (5, 4, 3, 2, 1, 0, 6)])
def test_any_order_ends_with_the_same_documents(loader: Loader, stored: Stored, order: Sequence[int]) -> None:
    """Cycles, look-ups and their referrers."""
    loader.documents(*(ANY_ORDER[position] for position in order))

    parents = {
        body["localEducationAgencyId"]: body.get("parentLocalEducationAgencyReference", {}).get(
            "localEducationAgencyId"
        )
        for body in stored("LocalEducationAgency")
    }
    assert loader.refused == []
    assert parents == {1: 2, 2: 1, 3: 4, 4: None, 5: 3, 6: 5}


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_look_up_that_matches_several_documents_is_refused_in_any_order(
    loader: Loader, stored: Stored, is_reversed: bool
) -> None:
    """It would match one while the second is not yet written."""
    named = (
        "<SchoolReference><SchoolLookup><NameOfInstitution>Same</NameOfInstitution></SchoolLookup></SchoolReference>"
    )
    same = [school(number).replace(f">School {number}<", ">Same<") for number in (1, 2)]
    documents = [SCHOOL_DESCRIPTORS, same[0], location("A", named), same[1]]

    loader.documents(*(documents[::-1] if is_reversed else documents))

    assert loader.reasons == ["the School look-up matches several documents"]
    assert stored("Location") == []


@pytest.mark.parametrize("order", [range(7), (4, 2, 6, 0, 5, 1, 3)])
def test_a_dry_run_finds_the_same(loader: Loader, stored: Stored, order: Sequence[int]) -> None:
    """Look-ups find what would have been written, in its last version."""
    documents = [ANY_ORDER[position] for position in order]
    path = loader.write(interchange(*documents))
    other = interchange(agency(4).replace(">A<", ">Only this<"), ANY_ORDER[4].replace(">5<", ">7<"))

    dry = loader.files(path, is_dry_run=True)

    assert stored("LocalEducationAgency") == []
    assert dry.counts == loader.files(path).counts
    assert loader.refused == []
    again = loader.files(loader.write(other), is_dry_run=True)
    assert loader.reasons == ["the LocalEducationAgency look-up matches several documents"]
    assert counted(again, "LocalEducationAgency") == {"updated": 1, "refused": 1}


def test_a_deferred_document_is_refused_with_its_line_if_its_target_is_refused(loader: Loader) -> None:
    loader.documents(SCHOOL_DESCRIPTORS, location("A", school_reference(5)))

    (refused,) = loader.refused
    assert str(refused).endswith(
        'Student.xml:4: Location: $.schoolReference: The referenced School item does not exist. {"schoolId":"5"}'
    )


def test_an_invalid_document_is_refused_with_the_message_of_the_api_and_the_load_continues(
    loader: Loader, stored: Stored
) -> None:
    result = loader.documents(student("1", birth_date="yesterday"), student("2"))

    assert loader.reasons == ["$.birthDate: birthDate should be of type date."]
    assert [body["studentUniqueId"] for body in stored("Student")] == ["2"]
    assert counted(result, "Student") == {"refused": 1, "inserted": 1}


def test_an_unknown_descriptor_value_is_refused(loader: Loader) -> None:
    loader.documents(school(1))

    assert "does not exist." in loader.reasons[0]
    assert "uri://ed-fi.org/gradeleveldescriptor#ninth grade" in loader.reasons[0]


def test_a_document_with_an_unknown_element_is_refused_and_the_load_continues(loader: Loader, stored: Stored) -> None:
    result = loader.documents("<Teapot/>", student("1").replace("<Name>", "<Nickname/><Name>"), student("2"))

    assert [(refused.line, refused.resource and refused.resource.resource) for refused in loader.refused] == [
        (3, None),
        (4, "Student"),
    ]
    assert counted(result, "Student") == {"refused": 1, "inserted": 1}
    assert len(stored("Student")) == 1


def test_a_malformed_file_is_read_up_to_its_error_and_others_completely(
    loader: Loader, write: Write, stored: Stored
) -> None:
    broken = write(interchange(student("1"), "<Student>", student("2")), "A.xml")
    whole = write(interchange(student("3")), "B.xml")

    result = loader.files(broken, whole)

    assert [body["studentUniqueId"] for body in stored("Student")] == ["1", "3"]
    assert [(refused.file, refused.line, refused.reason) for refused in result.unreadable] == [
        (str(broken), 6, "malformed XML: mismatched tag")
    ]


def test_a_second_load_changes_nothing(loader: Loader) -> None:
    everything = (SCHOOL_DESCRIPTORS, school(1), location("A", school_reference(1)), student("1"))
    loader.documents(*everything)

    again = loader.documents(*everything)

    assert (again.total("inserted"), again.total("updated"), again.total("unchanged")) == (0, 0, 5)


def test_another_load_updates_what_differs(loader: Loader, stored: Stored) -> None:
    loader.documents(student("1"), student("2"))

    again = loader.documents(student("1", birth_date="2011-01-01"), student("2"))

    assert counted(again, "Student") == {"updated": 1, "unchanged": 1}
    assert stored("Student")[0]["birthDate"] == "2011-01-01"


def test_a_folder_stands_for_all_xml_files_below_it(write: Write, tmp_path: Any) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.xml", "a.XML", "deep/c.xml", "readme.txt"):
        write("<x/>", name)

    assert [path.name for path in interchange_files([tmp_path, tmp_path / "b.xml"])] == ["a.XML", "b.xml", "c.xml"]


def test_a_path_must_exist(tmp_path: Any) -> None:
    with pytest.raises(NoSuchPath):
        interchange_files([tmp_path / "nowhere"])


def test_there_must_be_something_to_load(tmp_path: Any) -> None:
    with pytest.raises(NothingFound):
        interchange_files([tmp_path])


def test_blanks_count_in_texts_alone(loader: Loader, stored: Stored) -> None:
    """As in requests: a text is trimmed nowhere, and a key with blanks around it refused. Blank elements are absent."""
    refused_school = school(2).replace("<SchoolId>", "<ShortNameOfInstitution>  </ShortNameOfInstitution><SchoolId>")
    loader.documents(
        SCHOOL_DESCRIPTORS,
        school(1).replace(">1<", "> 1\n<").replace(">School 1<", "> School 1 <").replace("#School<", "#School <"),
        refused_school,
        location("A", school_reference(1).replace(">1<", ">1 <")),
        location("B ", school_reference(1)),
    )

    first, second = stored("School")
    assert (first["schoolId"], first["nameOfInstitution"]) == (1, " School 1 ")
    assert "shortNameOfInstitution" not in second
    assert [each["classroomIdentificationCode"] for each in stored("Location")] == ["A"]
    assert loader.reasons == [
        "$.classroomIdentificationCode: classroomIdentificationCode cannot contain leading or trailing spaces."
    ]
