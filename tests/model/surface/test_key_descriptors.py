"""Descriptors inside reference objects, as part of the key of the target."""

from edfi_api.model.surface.resource import JsonPath, ResourceName


def key_descriptors(resource):
    return {str(entry.path): entry.target.resource for entry in resource.key_descriptors}


def test_a_descriptor_in_the_key_of_the_target_is_found_in_the_reference(resource_named):
    assert key_descriptors(resource_named("StudentProgramAssociation")) == {
        "$.programReference.programTypeDescriptor": "ProgramTypeDescriptor"
    }


def test_descriptors_are_found_through_references_of_the_target(resource_named):
    found = key_descriptors(resource_named("ReportCard"))

    assert found["$.grades[*].gradeReference.gradingPeriodDescriptor"] == "GradingPeriodDescriptor"
    assert found["$.grades[*].gradeReference.gradeTypeDescriptor"] == "GradeTypeDescriptor"


def test_a_key_descriptor_is_no_reference_of_the_document(resource_named):
    resource = resource_named("StudentProgramAssociation")
    path = JsonPath.parse("$.programReference.programTypeDescriptor")

    assert path not in {entry.path for entry in resource.descriptors}
    assert ResourceName("Ed-Fi", "ProgramTypeDescriptor") not in {entry.target for entry in resource.references}
