"""The bundled mappings: every member has a place, and every document that has all members arrives as a valid one."""

import pytest

from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.features.loading.mapping import UnmappedCounts, mapping_named
from edfi_api.features.loading.mapping.files import LeadsElsewhere, UnknownMapping
from edfi_api.model.surface.resource import ResourceKind
from tests.support.factories import STORED_URIS
from tests.support.serving import served

STEPS = ("3.3.1-b..4.0", "4.0..5.2", "5.2..6.1")


@pytest.mark.django_db
@pytest.mark.parametrize("named", [*STEPS, pytest.param("3.3.1-b..6.1", marks=pytest.mark.standards)])
def test_full_documents_of_every_resource_arrive_as_valid_ones(named: str) -> None:
    before, after = (served(standard) for standard in named.split(".."))
    translator, unmapped = mapping_named(named, after.surface), UnmappedCounts()

    refused = {}
    for resource in before.surface.resources:
        if resource.kind is ResourceKind.SCHOOL_YEAR:
            continue
        body = before.documents.full_body(resource)
        for name, translated in translator.translate(resource.name, body, unmapped):
            try:
                after.validators[name].validate(translated, STORED_URIS)
            except DataValidationFailed as error:
                refused[resource.name.resource, name.resource] = str(error)

    assert refused == {}
    assert unmapped.lost


@pytest.mark.parametrize("named", STEPS)
def test_documents_of_required_members_lose_nothing_but_whole_resources(named: str) -> None:
    before, after = (served(standard) for standard in named.split(".."))
    translator, unmapped = mapping_named(named, after.surface), UnmappedCounts()
    for resource in before.surface.resources:
        translator.translate(resource.name, before.documents.minimal_body(resource), unmapped)

    assert {(place.resource, place.path) for place in unmapped.lost if place.path} == LOST[named]
    assert {(place.resource, place.path) for place in unmapped.given} == GIVEN[named]


# The gradebook entry of a student refers to the student, and no longer to the class.
OF_THE_CLASS = ("beginDate", "localCourseCode", "schoolId", "schoolYear", "sectionIdentifier", "sessionName")
LOST = {
    "3.3.1-b..4.0": {
        ("studentGradebookEntries", f"studentSectionAssociationReference.{name}") for name in OF_THE_CLASS
    },
    "4.0..5.2": {("learningObjectives", "objective")},
    "5.2..6.1": set(),
}
GIVEN = {
    "3.3.1-b..4.0": {
        ("gradebookEntries", "gradebookEntryIdentifier"),
        ("gradebookEntries", "namespace"),
        ("gradebookEntries", "sourceSectionIdentifier"),
    },
    "4.0..5.2": {
        ("gradingPeriods", "gradingPeriodName"),
        ("learningObjectives", "description"),
        ("staffSectionAssociations", "beginDate"),
    },
    "5.2..6.1": set(),
}


def test_a_name_is_that_of_a_bundled_mapping_or_chain_or_file() -> None:
    with pytest.raises(UnknownMapping) as unknown:
        mapping_named("5.2..4.0", served("4.0").surface)
    with pytest.raises(LeadsElsewhere) as elsewhere:
        mapping_named("4.0..5.2", served("6.1").surface)

    assert tuple(unknown.value.bundled) == STEPS
    assert (elsewhere.value.to, elsewhere.value.served) == ("5.2", "6.1.0")
