"""The routes of all metadata, including those of the older official server, on which client generators depend."""

from functools import partial
from pathlib import Path

from django.urls import URLPattern

from edfi_api import addresses
from edfi_api.addresses import below, fixed_path
from edfi_api.api.metadata.dependencies import graphml, load_steps
from edfi_api.api.metadata.discovery import discovery_document, metadata_index
from edfi_api.api.metadata.fixed_documents import DOCUMENTS
from edfi_api.api.metadata.openapi import descriptors_document, resources_document
from edfi_api.api.metadata.profile_publications import ProfilePublications
from edfi_api.api.metadata.publication import COMPLETE_ADDRESS, GRAPHML, Document, Publications
from edfi_api.api.metadata.views import (
    DependenciesView,
    DiscoveryView,
    DocsView,
    ProfileSpecificationView,
    PublishedView,
    SpecificationsView,
    XsdFilesView,
    XsdFileView,
    unknown_section,
)
from edfi_api.api.metadata.xsd import XsdDocuments, xsd_projects
from edfi_api.compilation import Compilation
from edfi_api.conf import api_settings
from edfi_api.startup import current_compilation
from edfi_api.validation.extension_model import published_surface

_OLDER = "metadata/data/v3"


def metadata_routes(compilation: Compilation, standard: Path) -> list[URLPattern]:
    """The routes of all metadata about a surface and its XML schemas. `standard` is where its descriptor values are."""
    surface = published_surface(compilation.surface)
    resources, descriptors = (
        partial(document, standard=standard) for document in (resources_document, descriptors_document)
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
        publish=publications.of(load_steps), publish_graph=publications.of(graphml, bytes, GRAPHML)
    )

    def published(address: str, document: Document, name: str) -> URLPattern:
        return fixed_path(address, PublishedView.as_view(publish=publications.of(document)), name)

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
        published(addresses.METADATA, metadata_index, "metadata"),
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
