"""The discovery document: the standard, its version, and the URLs of everything else. See
meadowlark/docs/reference/contract.md#discovery-and-metadata.

It has the members of both official servers, since clients depend on either.
"""

from collections.abc import Iterable
from typing import Any

from edfi_api import addresses
from edfi_api.conf import api_settings
from edfi_api.model.surface.resource import ProjectFacts, Surface
from edfi_api.version import VERSION

# Clients derive the server's features from it: from 7.3 on, cursor paging.
ODS_VERSION = "7.3"
# The prefix of specifications of profiles.
PROFILES = "Profiles"
_BUILD = "7.3.0.0"
_SUITE = "3"
_APPLICATION = "Ed-Fi API"
_INFORMATIONAL_VERSION = f"Meadowlark {VERSION}"


def discovery_document(surface: Surface, root: str) -> dict[str, Any]:
    """The document at `root` itself."""
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
            **({"submissions": f"{root}/{addresses.SUBMISSIONS}"} if api_settings.WRITE_RECORDER else {}),
            "validation": f"{root}/{addresses.VALIDATION}",
            **({"batchApi": f"{root}/{addresses.BATCH}"} if api_settings.BATCH else {}),
        },
    }


def _informational_version(project: ProjectFacts) -> str:
    """The description of the project's package, or its name and version."""
    title = project.name if project.is_extension else f"The {project.name} Data Standard"
    return project.description or f"{title} v{project.version}"


def metadata_index(surface: Surface, root: str) -> dict[str, str]:
    """The URLs of the metadata."""
    return {
        "dependencies": f"{root}/{addresses.DEPENDENCIES}",
        "specifications": f"{root}/{addresses.SPECIFICATIONS}",
        "xsdMetadata": f"{root}/{addresses.XSD}",
    }


def specifications(surface: Surface, root: str, profiles: Iterable[str] = ()) -> list[dict[str, str]]:
    """The list of OpenAPI documents; clients depend on the names `Resources` and `Descriptors`."""
    batch = [("Batch", addresses.BATCH_SPECIFICATION, "Other")] if api_settings.BATCH else []
    submissions = [("Submissions", addresses.SUBMISSIONS_SPECIFICATION, "Other")] if api_settings.WRITE_RECORDER else []
    found = [
        ("Resources", addresses.RESOURCES_SPECIFICATION, ""),
        ("Descriptors", addresses.DESCRIPTORS_SPECIFICATION, ""),
        ("Change-Queries", addresses.CHANGE_QUERIES_SPECIFICATION, "Other"),
        *batch,
        ("Relations", addresses.RELATIONS_SPECIFICATION, "Other"),
        ("History", addresses.HISTORY_SPECIFICATION, "Other"),
        *submissions,
        ("Validation", addresses.VALIDATION_SPECIFICATION, "Other"),
        ("Discovery", addresses.DISCOVERY_SPECIFICATION, "Other"),
        *((name, addresses.PROFILE_SPECIFICATION.replace("<name>", name), PROFILES) for name in profiles),
    ]
    return [{"name": name, "endpointUri": f"{root}/{address}", "prefix": prefix} for name, address, prefix in found]
