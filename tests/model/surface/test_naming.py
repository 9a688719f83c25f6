"""Conversion of single names."""

import pytest

from edfi_api.model.surface.naming import (
    endpoint_name,
    extension_key,
    is_descriptor_name,
    joined_without_overlap,
    lower_camel,
    plural,
    singular,
    url_segment,
    with_prefix,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("School", "school"),
        ("school", "school"),
        ("GPA", "gpa"),
        ("URIs", "uris"),
        ("IEP", "iep"),
        ("ID", "id"),
        ("EPPProgramPathway", "eppProgramPathway"),
        ("IDEAPart", "ideaPart"),
        ("URLAddress", "urlAddress"),
        ("HasHVACSystem", "hasHVACSystem"),
        ("LocalIDEACode", "localIDEACode"),
        ("CumulativeGPA", "cumulativeGPA"),
    ],
)
def test_only_a_leading_acronym_is_lowered(name: str, expected: str) -> None:
    assert lower_camel(name) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("staff", "staffs"),
        ("person", "people"),
        ("status", "statuses"),
        ("address", "addresses"),
        ("bus", "buses"),
        ("survey", "surveys"),
        ("localEducationAgency", "localEducationAgencies"),
        ("analysis", "analyses"),
        ("leave", "leaves"),
        ("index", "indices"),
        ("matrix", "matrices"),
        ("studentHealth", "studentHealths"),
        ("health", "health"),
        ("Information", "Information"),
        ("StudentInformation", "StudentInformations"),
        ("Accommodation", "Accommodations"),
        ("credits", "credits"),
        ("AdditionalCredits", "AdditionalCredits"),
        ("EducationalAlias", "EducationalAliases"),
        ("Media", "Media"),
        ("Beta", "Beta"),
        ("Criteria", "Criteria"),
        ("IEP", "IEPs"),
        ("life", "lives"),
        ("Feedback", "Feedbacks"),
        ("series", "series"),
        ("class", "classes"),
        ("crisisEvent", "crisisEvents"),
        ("GPA", "GPAs"),
        ("sex", "sexes"),
        ("diagnosis", "diagnoses"),
        ("populationServed", "populationServeds"),
    ],
)
def test_plurals_are_those_of_the_official_tools(word: str, expected: str) -> None:
    assert plural(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("AdditionalCredits", "AdditionalCredit"),
        ("Responses", "Response"),
        ("Criteria", "Criterion"),
        ("evaluationCriteria", "evaluationCriterium"),
        ("data", "datum"),
        ("analyses", "analyasis"),
        ("HolderAlias", "HolderAlias"),
        ("Address", "Address"),
        ("School", "School"),
        ("categories", "category"),
        ("leaves", "leave"),
        ("indices", "index"),
        ("people", "person"),
        ("homework", "homework"),
    ],
)
def test_singulars_are_those_of_the_official_tools(word: str, expected: str) -> None:
    assert singular(word) == expected


@pytest.mark.parametrize(
    ("project", "expected"),
    [
        ("Ed-Fi", "ed-fi"),
        ("TPDM", "tpdm"),
        ("Sample", "sample"),
        ("SampleStudentTranscript", "sample-student-transcript"),
        ("EdFiXFinance", "ed-fi-x-finance"),
        ("ABCorp", "ab-corp"),
        ("GrandBend", "grand-bend"),
        ("TX", "TX"),
        ("A1", "a1"),
        ("Region4", "region"),
        ("State2Data", "state-data"),
    ],
)
def test_a_project_name_becomes_a_url_segment(project: str, expected: str) -> None:
    assert url_segment(project) == expected


def test_the_extension_key_is_the_lowered_name_and_not_the_url_segment() -> None:
    assert extension_key("GrandBend") == "grandbend"


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("Person", "people"),
        ("Staff", "staffs"),
        ("StudentSchoolAssociation", "studentSchoolAssociations"),
        ("EPPProgramPathwayDescriptor", "eppProgramPathwayDescriptors"),
        ("StudentCTEProgramAssociation", "studentCTEProgramAssociations"),
    ],
)
def test_an_endpoint_is_the_plural_of_its_resource(resource: str, expected: str) -> None:
    assert endpoint_name(resource) == expected


def test_a_prefix_is_not_repeated() -> None:
    assert with_prefix("Program", "ProgramName") == "ProgramName"
    assert with_prefix("Program", "EducationOrganizationId") == "ProgramEducationOrganizationId"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("Program", "ProgramName"), "ProgramName"),
        (("NextSchool", "SchoolId"), "NextSchoolId"),
        (("GradingPeriod", "PeriodSequence"), "GradingPeriodSequence"),
        (("Assignment", "SchoolId"), "AssignmentSchoolId"),
    ],
)
def test_query_names_drop_any_overlap(parts: tuple[str, ...], expected: str) -> None:
    assert joined_without_overlap(parts) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SexDescriptor", True),
        ("gradeLevelDescriptor", True),
        ("$.gradeLevels[*].gradeLevelDescriptor", True),
        ("DescriptorMapping", False),
        ("descriptor", False),
    ],
)
def test_descriptors_and_members_with_one_are_recognised_by_their_suffix(name: str, expected: bool) -> None:
    assert is_descriptor_name(name) is expected
