"""The resources of validation, as far as authorization needs them: the names of their claims, and the securable
elements of results. Their documents are rows of our tables, not stored documents."""

from edfi_api.model.surface.resource import (
    JsonPath,
    NamedPath,
    Resource,
    ResourceKind,
    ResourceName,
    SecurableElements,
)

PROJECT, ENDPOINT = "EdFiXValidations", "ed-fi-x-validations"

_ORGANIZATION = JsonPath(("educationOrganizationReference", "educationOrganizationId"))


def _resource(name: str, endpoint: str, elements: SecurableElements) -> Resource:
    return Resource(
        name=ResourceName(PROJECT, name),
        project_endpoint=ENDPOINT,
        endpoint=endpoint,
        kind=ResourceKind.ENTITY,
        json_schema={},
        identity=(),
        securable_elements=elements,
    )


RULE = _resource("ValidationRule", "validationRules", SecurableElements())
RUN = _resource("ValidationRun", "validationRuns", SecurableElements())
RESULT = _resource(
    "ValidationResult",
    "validationResults",
    SecurableElements(
        namespace=(JsonPath(("namespace",)),),
        education_organization=(NamedPath("EducationOrganizationId", _ORGANIZATION),),
        student=(JsonPath(("studentReference", "studentUniqueId")),),
        staff=(JsonPath(("staffReference", "staffUniqueId")),),
    ),
)
