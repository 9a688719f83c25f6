"""Metadata over HTTP: open to everyone, read only. The routes of all of it, including those of the older official
server, on which client generators depend.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.cache import patch_vary_headers
from rest_framework.request import Request

from edfi_api.common import addresses
from edfi_api.common.addresses import below, fixed_path, root_of
from edfi_api.common.conf import api_settings
from edfi_api.common.contributions import contributions
from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.served import Compilation, current_compilation
from edfi_api.model.surface.load_order import load_steps
from edfi_api.model.surface.resource import ProjectFacts, Surface
from edfi_api.version import VERSION
from edfi_api.web.metadata.discovery import (
    ALL_SPECIFICATION,
    PROFILES,
    addresses_of,
    discovery_document,
    metadata_index,
    specifications,
    tenant_of,
)
from edfi_api.web.metadata.fixed_documents import DOCUMENTS, graphml
from edfi_api.web.metadata.openapi import all_document, descriptors_document, resources_document
from edfi_api.web.metadata.profile_openapi import ProfilePublications
from edfi_api.web.metadata.publication import COMPLETE_ADDRESS, GRAPHML, Document, Publications, Publish, respond
from edfi_api.web.metadata.xsd import XsdDocuments, xsd_projects
from edfi_api.web.viewsets.edfi_view import OpenView, UnknownResourceView
from edfi_api.web.viewsets.responses import html_page

_HTML = "text/html"
# The ODS/API has this address.
_COMPOSITES = "composites"
_OLDER = "metadata/data/v3"


class PublishedView(OpenView):
    """Answers with a published document."""

    publish: Publish = None  # type: ignore[assignment]  # Given by the route.

    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.respond_with(self.publish)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(response, ["Accept-Encoding"])
        return response

    def respond_with(self, publish: Publish) -> HttpResponse:
        request = self.request._request
        return respond(request, publish(), addresses_of(request))


class DiscoveryView(PublishedView):
    """The discovery document, or for people a page with links: the type that the client prefers, by default JSON."""

    surface: Surface = None  # type: ignore[assignment]  # Given by the route.

    def get(self, request: Request, **kwargs: str) -> HttpResponse:
        response = self._home() if self._prefers_a_page() else super().get(request)
        patch_vary_headers(response, ["Accept"])
        return response

    def _prefers_a_page(self) -> bool:
        return self.request._request.get_preferred_type(["application/json", _HTML]) == _HTML

    def _home(self) -> HttpResponse:
        request = self.request._request
        urls = addresses_of(request)
        context = {
            "projects": [self._counted(project) for project in self.surface.projects],
            "specifications": specifications(self.surface, urls.root),
            "token_url": f"{urls.root}/{addresses.OAUTH}",
            "data_url": f"{urls.complete}/{addresses.DATA}",
            "has_metrics": api_settings.METRICS,
            "version": VERSION,
        }
        return html_page(request, "edfi_api/home.html", context)

    def _counted(self, project: ProjectFacts) -> dict[str, Any]:
        resources = [each for each in self.surface.resources if each.name.project == project.name]
        descriptors = sum(each.is_descriptor for each in resources)
        return {"project": project, "resources": len(resources) - descriptors, "descriptors": descriptors}


class DocsView(OpenView):
    """Swagger UI over all specifications."""

    surface: Surface = None  # type: ignore[assignment]  # Given by the route.
    profiles: ProfilePublications = None  # type: ignore[assignment]  # Given by the route.

    def get(self, request: Request, **kwargs: str) -> HttpResponse:
        found = specifications(self.surface, root_of(request._request), self.profiles.names(None))
        listed = [{"name": _title(each), "url": each["endpointUri"]} for each in found]
        if api_settings.MANAGEMENT_PATH:
            address = f"{root_of(request._request)}/{api_settings.MANAGEMENT_PATH}/{addresses.SPECIFICATIONS}"
            listed.append({"name": "Management API", "url": address})
        key, _, secret = api_settings.DOCS_CLIENT.partition(":")
        context = {"specifications": listed, "client": {"key": key, "secret": secret} if secret else None}
        return html_page(request._request, "edfi_api/docs.html", context)


def _title(specification: dict[str, str]) -> str:
    """Swagger UI needs names that are unique, and a profile can be called like an ordinary document."""
    name = specification["name"]
    return f"Profile {name}" if specification["prefix"] == PROFILES else name


class DependenciesView(PublishedView):
    """The dependency order as JSON, or as GraphML if accepted."""

    publish_graph: Publish = None  # type: ignore[assignment]  # Given by the route.

    def get(self, request: Request, **kwargs: str) -> HttpResponse:
        wants_graph = GRAPHML in request.headers.get("Accept", "").lower()
        return self.respond_with(self.publish_graph if wants_graph else self.publish)


class XsdFilesView(PublishedView):
    """The URLs of the XML schemas of one project; an unknown project is answered with `unknown_section`."""

    lists: Mapping[str, Publish] = {}

    def get(self, request: Request, name: str, **kwargs: str) -> HttpResponse:
        published = self.lists.get(name.lower())
        return self.respond_with(published) if published else unknown_section(request._request)


class XsdFileView(PublishedView):
    """One XML schema; an unknown one is answered with `unknown_section`."""

    documents: XsdDocuments = None  # type: ignore[assignment]  # Given by the route.

    def get(self, request: Request, name: str, file: str, **kwargs: str) -> HttpResponse:
        found = self.documents.file(name, file)
        if found is None:
            return unknown_section(request._request)
        return respond(request._request, found, addresses_of(request._request))


class SpecificationsView(PublishedView):
    """The list of all specifications, with those of the tenant's profiles."""

    profiles: ProfilePublications = None  # type: ignore[assignment]  # Given by the route.

    def get(self, request: Request, **kwargs: str) -> HttpResponse:
        return self.respond_with(lambda: self.profiles.list(tenant_of(request._request)))


class ProfileSpecificationView(PublishedView):
    """The OpenAPI document of a profile; an unknown one is answered with `unknown_section`."""

    profiles: ProfilePublications = None  # type: ignore[assignment]  # Given by the route.

    def get(self, request: Request, name: str, **kwargs: str) -> HttpResponse:
        found = self.profiles.of(name, tenant_of(request._request))
        if found is None:
            return unknown_section(request._request)
        return respond(request._request, found, addresses_of(request._request))


def unknown_section(request: HttpRequest, **kwargs: str) -> HttpResponse:
    """The answer of Ed-Fi's servers for metadata that does not exist. Raises Http404 if that is a problem: as for the
    ODS/API, and for composites, since a hint says what replaces them."""
    if OdsCompatibility.OPENAPI.applies or _COMPOSITES in request.path.lower().split("/"):
        raise Http404
    return HttpResponse("Invalid resource path", status=404, content_type="text/plain; charset=utf-8")


def metadata_routes(compilation: Compilation, standard: Path) -> list[URLPattern]:
    """The routes of all metadata about a surface and its XML schemas. `standard` is where its descriptor values are."""
    surface = compilation.surface
    for with_resources in contributions("published_resources"):
        surface = with_resources(surface)
    resources, descriptors, both = (
        partial(document, standard=standard) for document in (resources_document, descriptors_document, all_document)
    )
    publications = Publications(surface)
    xsd_documents = XsdDocuments(compilation.surface, compilation.schema_files)
    xsd_lists = {name: publications.of(document) for name, document in xsd_documents.lists().items()}
    profiles = ProfilePublications(compilation.surface, standard)
    profile = ProfileSpecificationView.as_view(profiles=profiles)
    listed = SpecificationsView.as_view(profiles=profiles)
    discovery = DiscoveryView.as_view(
        publish=publications.of(discovery_document, address=COMPLETE_ADDRESS), surface=surface
    )
    dependencies = DependenciesView.as_view(
        publish=publications.of(lambda surface, _: load_steps(surface)),
        publish_graph=publications.of(lambda surface, _: graphml(surface), bytes, GRAPHML),
    )

    def published(address: str, document: Document, name: str) -> URLPattern:
        return fixed_path(address, PublishedView.as_view(publish=publications.of(document)), name)

    index = published(addresses.METADATA, metadata_index, "metadata")
    like_ods = []
    if OdsCompatibility.OPENAPI.applies:
        index = fixed_path(addresses.METADATA, listed, "metadata")
        composites = below("composites", UnknownResourceView.as_view(), "composites")
        like_ods = [published(ALL_SPECIFICATION, both, "all-specification"), composites]
    submissions = [
        published(addresses.SUBMISSIONS_SPECIFICATION, DOCUMENTS["submissions"], "submissions-specification"),
    ]
    batch = [published(addresses.BATCH_SPECIFICATION, DOCUMENTS["batch"], "batch-specification")]
    return [
        *(batch if api_settings.BATCH else ()),
        *(submissions if api_settings.WRITE_RECORDER else ()),
        fixed_path(addresses.DISCOVERY, discovery, "discovery"),
        fixed_path("docs", DocsView.as_view(surface=surface, profiles=profiles), "docs"),
        # The older server's list has a trailing slash, the newer server's index has none.
        fixed_path(f"{addresses.METADATA}/", listed, "older-specifications"),
        index,
        *like_ods,
        fixed_path(addresses.SPECIFICATIONS, listed, "specifications"),
        published(addresses.RESOURCES_SPECIFICATION, resources, "resources-specification"),
        published(addresses.DESCRIPTORS_SPECIFICATION, descriptors, "descriptors-specification"),
        published(addresses.CHANGE_QUERIES_SPECIFICATION, DOCUMENTS["change_queries"], "change-queries-specification"),
        published(addresses.RELATIONS_SPECIFICATION, DOCUMENTS["relations"], "relations-specification"),
        published(addresses.HISTORY_SPECIFICATION, DOCUMENTS["history"], "history-specification"),
        published(addresses.VALIDATION_SPECIFICATION, DOCUMENTS["validation"], "validation-specification"),
        published(addresses.DISCOVERY_SPECIFICATION, DOCUMENTS["discovery"], "discovery-specification"),
        fixed_path(addresses.PROFILE_SPECIFICATION, profile, "profile-specification"),
        fixed_path(f"{_OLDER}/profiles/<name>/swagger.json", profile, "older-profile-specification"),
        published(f"{_OLDER}/resources/swagger.json", resources, "older-resources-specification"),
        published(f"{_OLDER}/descriptors/swagger.json", descriptors, "older-descriptors-specification"),
        fixed_path(addresses.DEPENDENCIES, dependencies, "dependencies"),
        fixed_path(f"{_OLDER}/dependencies", dependencies, "older-dependencies"),
        published(addresses.XSD, xsd_projects, "xsd"),
        fixed_path(f"{addresses.XSD}/<name>/files", XsdFilesView.as_view(lists=xsd_lists), "xsd-files"),
        fixed_path(f"{addresses.XSD}/<name>/<file>", XsdFileView.as_view(documents=xsd_documents), "xsd-file"),
        below(addresses.METADATA, unknown_section, "unknown-metadata"),
    ]


urlpatterns = metadata_routes(current_compilation(), api_settings.data_standard)
