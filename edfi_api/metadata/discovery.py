"""What clients read first: which standard is served, in which version, and where everything is. See
meadowlark/docs/contract.md#discovery-and-metadata.

The members are those of both official servers together, since clients look for one or the other.
"""

from typing import Any

from edfi_api import addresses
from edfi_api.surface.resource import ProjectFacts, Surface

# Clients decide by this what the server can do: from 7.3 on they page by cursor.
ODS_VERSION = "7.3"
_BUILD = "7.3.0.0"
_SUITE = "3"
_APPLICATION = "Ed-Fi API"
_INFORMATIONAL_VERSION = "Meadowlark"


def discovery_document(surface: Surface, root: str) -> dict[str, Any]:
    """The answer to a request for `root` itself."""
    return {
        "version": ODS_VERSION,
        "informationalVersion": _INFORMATIONAL_VERSION,
        "suite": _SUITE,
        "build": _BUILD,
        "applicationName": _APPLICATION,
        "dataModels": [
            {"name": project.name, "version": project.version, "informationalVersion": _informational_version(project)}
            for project in sorted(surface.projects, key=lambda project: project.name)
        ],
        "urls": {
            "dependencies": f"{root}/{addresses.DEPENDENCIES}",
            "openApiMetadata": f"{root}/{addresses.SPECIFICATIONS}",
            "oauth": f"{root}/{addresses.OAUTH}",
            "tokenInfo": f"{root}/{addresses.INTROSPECTION}",
            "oauthTokenIntrospection": f"{root}/{addresses.INTROSPECTION}",
            "dataManagementApi": f"{root}/{addresses.DATA}",
            "changeQueries": f"{root}/{addresses.CHANGE_QUERIES}/",
            "xsdMetadata": f"{root}/{addresses.XSD}",
        },
    }


def _informational_version(project: ProjectFacts) -> str:
    """The description of the project's package; name and version where it has none."""
    title = project.name if project.is_extension else f"The {project.name} Data Standard"
    return project.description or f"{title} v{project.version}"


def metadata_index(surface: Surface, root: str) -> dict[str, str]:
    """What metadata there is."""
    return {
        "dependencies": f"{root}/{addresses.DEPENDENCIES}",
        "specifications": f"{root}/{addresses.SPECIFICATIONS}",
        "xsdMetadata": f"{root}/{addresses.XSD}",
    }


def specifications(surface: Surface, root: str) -> list[dict[str, str]]:
    """The OpenAPI documents; clients look for the names `Resources` and `Descriptors`."""
    found = (
        ("Resources", addresses.RESOURCES_SPECIFICATION, ""),
        ("Descriptors", addresses.DESCRIPTORS_SPECIFICATION, ""),
        ("Change-Queries", addresses.CHANGE_QUERIES_SPECIFICATION, "Other"),
        ("Relations", addresses.RELATIONS_SPECIFICATION, "Other"),
        ("Discovery", addresses.DISCOVERY_SPECIFICATION, "Other"),
    )
    return [{"name": name, "endpointUri": f"{root}/{address}", "prefix": prefix} for name, address, prefix in found]
