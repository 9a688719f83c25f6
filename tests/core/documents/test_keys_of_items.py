"""An item of a collection without a member of its key is refused, also where Ed-Fi's compiler makes it optional."""

import pytest

from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.model.surface.resource import ResourceName
from tests.support.factories import STUDENT
from tests.support.serving import OTHERS_MARKED, served

WITHOUT_KEY = {
    "$.identificationDocuments[0].identificationDocumentUseDescriptor": [
        "identificationDocumentUseDescriptor is required."
    ],
    "$.identificationDocuments[0].personalInformationVerificationDescriptor": [
        "personalInformationVerificationDescriptor is required."
    ],
}
CORE = """
Domain Entity Student
  string StudentCode is part of identity
"""
EXTENSION = """
Domain Entity EdFi.Student additions
  choice Shelter is optional
Choice Shelter
  common Night is optional collection
  bool HasHome is optional
Common Night
  date Began is part of identity
  string Place is part of identity
  string Remark is optional
"""


def found_in(resource, body):
    with pytest.raises(DataValidationFailed) as failed:
        DocumentValidator(resource).validate(body, lambda _: {})
    return {each.path: each.message for each in failed.value.violations}


def test_a_collection_below_an_optional_inline_common(api):
    response = api.post("/students", STUDENT | {"identificationDocuments": [{"documentTitle": "x"}]})

    assert response.status_code == 400
    assert response.json()["validationErrors"] == WITHOUT_KEY


@pytest.mark.parametrize("standard", OTHERS_MARKED)
def test_every_member_of_the_key_of_an_item_is_required_by_the_published_schema(standard):
    optional = []
    for resource in served(standard).surface.resources:
        for rule in resource.array_uniqueness:
            for path in rule.item_paths:
                schema = resource.json_schema
                for step in (*rule.array.steps, "[*]"):
                    schema = schema["items"] if step == "[*]" else schema["properties"][step]
                for step in path.steps:
                    if step not in schema.get("required", ()):
                        optional.append(f"{resource.name.resource} {rule.array} {path}")
                    schema = schema["properties"][step]

    assert optional == []


def test_a_collection_of_an_optional_choice_of_an_extension(surface_of):
    student = surface_of(CORE, Sample=EXTENSION).by_name[ResourceName("Ed-Fi", "Student")]
    body = {"studentCode": "1", "_ext": {"sample": {"nights": [{"remark": "x"}]}}}

    assert found_in(student, body) == {
        "$._ext.sample.nights[0].began": "began is required.",
        "$._ext.sample.nights[0].place": "place is required.",
    }
