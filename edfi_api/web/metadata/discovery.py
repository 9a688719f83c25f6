"""The discovery document: the standard, its version, and the URLs of everything else. See
meadowlark/docs/reference/contract.md#discovery-and-metadata.

It has the members of both official servers, since clients depend on either. Where the addresses of a server have a
context, there are URLs with the segments that a client sent, and with placeholders, which the variables of OpenAPI
describe.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from django.http import HttpRequest

from edfi_api.common import addresses
from edfi_api.common.addresses import base_of, context_segments, root_of
from edfi_api.common.conf import api_settings
from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.model.surface.resource import ProjectFacts, Surface
from edfi_api.version import VERSION
from edfi_api.web.metadata.publication import Addresses

# Clients derive the server's features from it: from 7.3 on, cursor paging.
ODS_VERSION = "7.3"
# The prefix of specifications of profiles.
PROFILES = "Profiles"
ALL_SPECIFICATION = "metadata/data/v3/swagger.json"
_BUILD = "7.3.0.0"
_SUITE = "3"
_APPLICATION = "Ed-Fi API"
_INFORMATIONAL_VERSION = f"Meadowlark {VERSION}"
_TENANT = "tenant"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


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
    # The ODS/API has resources and descriptors together, too: Ed-Fi's SDK generator looks for that name.
    both = [("All", ALL_SPECIFICATION, "")] if OdsCompatibility.OPENAPI.applies else []
    found = [
        *both,
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


def addresses_of(request: HttpRequest) -> Addresses:
    """Return the addresses of the server for an answer to this request."""
    root = root_of(request)
    names = [*([_TENANT] if api_settings.MULTI_TENANCY else []), *api_settings.ROUTE_QUALIFIERS]
    if not names:
        return Addresses.without_context(root)
    segments = context_segments(request)
    complete = root + _placeholders(names[len(segments) :])
    variables = {
        name: _variable(name, segments[number : number + 1], _values(request, name))
        for number, name in enumerate(names)
    }
    return Addresses(root, complete, base_of(request) + _placeholders(names), orjson.dumps(variables).decode())


def tenant_of(request: HttpRequest) -> int | None:
    """The id of the tenant in the address; None if it has none."""
    segments = context_segments(request)
    if not api_settings.MULTI_TENANCY or not segments:
        return None
    found = routing_cache().table().tenants.get(segments[0].casefold())
    return None if found is None else found.id


def _placeholders(names: Iterable[str]) -> str:
    return "".join(f"/{{{name}}}" for name in names)


def _values(request: HttpRequest, name: str) -> tuple[str, ...]:
    """The values of a segment that may be shown: with tenants only those of the tenant in the address."""
    tenant = tenant_of(request)
    if name == _TENANT:
        return context_segments(request)[:1]
    if api_settings.MULTI_TENANCY and tenant is None:
        return ()
    return routing_cache().table().values.get((tenant, name.casefold()), ())


def _variable(name: str, segment: Sequence[str], values: Sequence[str]) -> dict[str, object]:
    """Describe a variable of a server for OpenAPI 3.0. `enum` must not be empty there."""
    default = next(iter((*segment, *values)), "")
    variable: dict[str, object] = {"default": default, "description": in_words(name)}
    if values:
        variable["enum"] = list(values) if default in values else [default, *values]
    return variable


def in_words(name: str) -> str:
    """`School Year` for `schoolYear`."""
    return " ".join(word[:1].upper() + word[1:] for word in _WORD.findall(name))
