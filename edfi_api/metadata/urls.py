"""The addresses of all metadata, those of the older official server included, which generators of clients know."""

from django.urls import URLPattern

from edfi_api import addresses
from edfi_api.addresses import below, fixed_path
from edfi_api.metadata.change_queries_openapi import change_queries_openapi
from edfi_api.metadata.dependencies import graphml, load_steps
from edfi_api.metadata.discovery import discovery_document, metadata_index, specifications
from edfi_api.metadata.discovery_openapi import discovery_openapi
from edfi_api.metadata.openapi import descriptors_document, resources_document
from edfi_api.metadata.publications import GRAPHML, Document, Publications
from edfi_api.metadata.relations_openapi import relations_openapi
from edfi_api.metadata.views import (
    DependenciesView,
    DiscoveryView,
    DocsView,
    PublishedView,
    XsdFilesView,
    unknown_section,
)
from edfi_api.metadata.xsd import xsd_files, xsd_names, xsd_projects
from edfi_api.startup import current_surface

_OLDER = "metadata/data/v3"

_surface = current_surface()
_publications = Publications(_surface)
_discovery = DiscoveryView.as_view(publish=_publications.of(discovery_document), surface=_surface)
_dependencies = DependenciesView.as_view(
    publish=_publications.of(load_steps), publish_graph=_publications.of(graphml, bytes, GRAPHML)
)
_xsd_files = XsdFilesView.as_view(publish=_publications.of(xsd_files), names=xsd_names(_surface))


def _published(address: str, document: Document, name: str) -> URLPattern:
    return fixed_path(address, PublishedView.as_view(publish=_publications.of(document)), name)


urlpatterns = [
    fixed_path(addresses.DISCOVERY, _discovery, "discovery"),
    fixed_path("docs", DocsView.as_view(surface=_surface), "docs"),
    # With a slash the older server's list, without one the newer server's index.
    _published(f"{addresses.METADATA}/", specifications, "older-specifications"),
    _published(addresses.METADATA, metadata_index, "metadata"),
    _published(addresses.SPECIFICATIONS, specifications, "specifications"),
    _published(addresses.RESOURCES_SPECIFICATION, resources_document, "resources-specification"),
    _published(addresses.DESCRIPTORS_SPECIFICATION, descriptors_document, "descriptors-specification"),
    _published(addresses.CHANGE_QUERIES_SPECIFICATION, change_queries_openapi, "change-queries-specification"),
    _published(addresses.RELATIONS_SPECIFICATION, relations_openapi, "relations-specification"),
    _published(addresses.DISCOVERY_SPECIFICATION, discovery_openapi, "discovery-specification"),
    _published(f"{_OLDER}/resources/swagger.json", resources_document, "older-resources-specification"),
    _published(f"{_OLDER}/descriptors/swagger.json", descriptors_document, "older-descriptors-specification"),
    fixed_path(addresses.DEPENDENCIES, _dependencies, "dependencies"),
    fixed_path(f"{_OLDER}/dependencies", _dependencies, "older-dependencies"),
    _published(addresses.XSD, xsd_projects, "xsd"),
    fixed_path(f"{addresses.XSD}/<name>/files", _xsd_files, "xsd-files"),
    below(addresses.METADATA, unknown_section, "unknown-metadata"),
]
