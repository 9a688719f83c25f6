"""Names of resources, domains and services in claim sets. See
meadowlark/docs/design/authorization.md#claim-sets-and-actions.

A claim's name is its URI without the common prefix: `ed-fi/studentSchoolAssociation`,
`domains/people`, `services/identity`.
"""

from functools import cache

from edfi_api.model.surface.naming import lower_camel
from edfi_api.model.surface.resource import Resource

BEGINNING = "http://ed-fi.org/identity/claims/"
DOMAINS = "domains/"
SERVICES = "services/"
# The beginning of the claims of validation, which are no resources with documents.
VALIDATION = "ed-fi-x-validations/"


def claim_name(resource: Resource) -> str:
    """`ed-fi/student` for the resource Student of the core model."""
    return _claim_name(resource.project_endpoint, resource.name.resource)


@cache
def _claim_name(project_endpoint: str, name: str) -> str:
    return f"{project_endpoint}/{lower_camel(name)}"


def claim_uri(name: str) -> str:
    """The URI in full, as messages show it."""
    return BEGINNING + name


def short_name(name: str) -> str:
    """`student` of `ed-fi/student`."""
    return name.rpartition("/")[2]
