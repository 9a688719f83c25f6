"""The discovery document, the index of the metadata, and the home page."""

import pytest
from django.test import Client

from edfi_api.web.metadata.discovery import discovery_document
from tests.model.surface.models import SurfaceOf

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def get(path: str, **headers: str):
    return Client().get(path, headers=headers)


VERSIONS = {"3.3.1-b": "3.3.1-b", "4.0": "4.0.0", "5.2": "5.2.0", "6.1": "6.1.0"}


def test_discovery_has_the_members_of_both_official_servers(standard: str, settings) -> None:
    settings.EDFI_API = settings.EDFI_API | {"WRITE_RECORDER": ""}
    document = get("/").json()

    assert document["suite"] == "3"
    assert document["applicationName"] == "Ed-Fi API"
    assert document["dataModels"][0]["name"] == "Ed-Fi"
    assert document["dataModels"][0]["version"] == VERSIONS[standard]
    assert document["dataModels"][0]["informationalVersion"] == f"The Ed-Fi Data Standard v{VERSIONS[standard]}"
    assert document["urls"] == {
        "dependencies": "http://testserver/metadata/dependencies",
        "openApiMetadata": "http://testserver/metadata/specifications",
        "oauth": "http://testserver/oauth/token",
        "tokenInfo": "http://testserver/oauth/token_info",
        "oauthTokenIntrospection": "http://testserver/oauth/token_info",
        "dataManagementApi": "http://testserver/data",
        "changeQueries": "http://testserver/changeQueries/v1/",
        "xsdMetadata": "http://testserver/metadata/xsd",
        "validation": "http://testserver/validation/v1",
        "batchApi": "http://testserver/batch",
    }


def test_a_project_without_description_is_described_by_name_and_version(surface_of: SurfaceOf) -> None:
    core = "Domain Entity Pier\n  string PierCode is part of identity\n"
    extension = "Domain Entity Boat\n  string BoatCode is part of identity\n"
    surface = surface_of(core, "6.1.0", Sample=extension)

    models = discovery_document(surface, "http://testserver")["dataModels"]

    assert [model["informationalVersion"] for model in models] == ["The Ed-Fi Data Standard v6.1.0", "Sample v1.0.0"]


def test_the_version_announces_cursor_paging() -> None:
    """Clients use it from version 7.3 on."""
    assert get("/").json()["version"] == "7.3"


def test_addresses_are_those_of_the_forwarded_request(settings) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.USE_X_FORWARDED_HOST = True
    settings.ALLOWED_HOSTS = ["api.example.org"]
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "api.example.org"}

    response = Client().get("/", headers=forwarded, SCRIPT_NAME="/edfi")

    assert response.json()["urls"]["oauth"] == "https://api.example.org/edfi/oauth/token"


@pytest.mark.parametrize("path", ["/metadata", "/Metadata", "/METADATA"])
def test_the_index_lists_the_metadata(path: str) -> None:
    assert get(path).json() == {
        "dependencies": "http://testserver/metadata/dependencies",
        "specifications": "http://testserver/metadata/specifications",
        "xsdMetadata": "http://testserver/metadata/xsd",
    }


@pytest.mark.parametrize("path", ["/metadata/", "/metadata/specifications", "/metadata/specifications/"])
def test_specifications_are_listed_at_the_addresses_of_both_servers(db: None, path: str) -> None:
    assert get(path).json() == [
        {
            "name": "Resources",
            "endpointUri": "http://testserver/metadata/specifications/resources-spec.json",
            "prefix": "",
        },
        {
            "name": "Descriptors",
            "endpointUri": "http://testserver/metadata/specifications/descriptors-spec.json",
            "prefix": "",
        },
        {
            "name": "Change-Queries",
            "endpointUri": "http://testserver/metadata/changequeries/v1/swagger.json",
            "prefix": "Other",
        },
        {
            "name": "Batch",
            "endpointUri": "http://testserver/metadata/specifications/batch-spec.json",
            "prefix": "Other",
        },
        {
            "name": "Relations",
            "endpointUri": "http://testserver/metadata/specifications/relations-spec.json",
            "prefix": "Other",
        },
        {
            "name": "History",
            "endpointUri": "http://testserver/metadata/specifications/history-spec.json",
            "prefix": "Other",
        },
        {
            "name": "Validation",
            "endpointUri": "http://testserver/metadata/specifications/validation-spec.json",
            "prefix": "Other",
        },
        {
            "name": "Discovery",
            "endpointUri": "http://testserver/metadata/specifications/discovery-spec.json",
            "prefix": "Other",
        },
    ]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("/metadata/data/v3/resources/swagger.json", "/metadata/specifications/resources-spec.json"),
        ("/metadata/Data/V3/descriptors/swagger.json", "/metadata/specifications/descriptors-spec.json"),
        ("/metadata/data/v3/dependencies", "/metadata/dependencies"),
    ],
)
def test_the_addresses_of_the_ods_serve_the_same_documents(older: str, newer: str) -> None:
    response = get(older)

    assert response.status_code == 200
    assert response.content == get(newer).content


@pytest.mark.parametrize("path", ["/metadata/nothing", "/metadata/xsd/none/files", "/metadata/xsd/ed-fi/Core.xsd"])
def test_an_unknown_section_is_a_404_in_plain_text(path: str) -> None:
    response = get(path)

    assert response.status_code == 404
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content == b"Invalid resource path"


def test_xsd_lists_the_projects(standard: str) -> None:
    [project] = get("/metadata/xsd").json()

    assert project == {
        "description": "Core schema (Ed-Fi) files for the data model",
        "name": "ed-fi",
        "version": VERSIONS[standard],
        "files": "http://testserver/metadata/xsd/ed-fi/files",
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods_than_get_are_refused(method: str) -> None:
    response = Client().generic(method, "/metadata")

    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD"
    assert response.json()["errors"] == [f"The endpoint of the request does not support the '{method}' method."]


def test_a_browser_gets_a_page_with_links(db: None) -> None:
    response = get("/", Accept=BROWSER)

    assert response["Content-Type"] == "text/html; charset=utf-8"
    page = response.content.decode()
    for address in ("/docs", "/admin/", "/metadata", "/health"):
        assert f'<a href="{address}">' in page
        assert get(address, Accept=BROWSER).status_code in (200, 302)


def test_the_docs_page_lists_every_specification_and_loads_only_served_files(db: None) -> None:
    page = get("/docs", Accept=BROWSER).content.decode()

    assert "http://testserver/metadata/specifications/resources-spec.json" in page
    for asset in ("edfi_api/docs.js", "drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"):
        assert f'src="/static/{asset}"' in page
        assert get(f"/static/{asset}").status_code == 200


def test_the_home_page_shows_the_standard_and_links(standard: str) -> None:
    page = " ".join(get("/", Accept=BROWSER).content.decode().split())

    counts = {
        "3.3.1-b": "114 resources, 183 descriptors",
        "4.0": "125 resources, 189 descriptors",
        "5.2": "138 resources, 211 descriptors",
        "6.1": "192 resources, 280 descriptors",
    }
    assert f"Ed-Fi {VERSIONS[standard]}: {counts[standard]}" in page
    for address in ("/docs", "/admin/", "/health", "/metrics", "/metadata", "/metadata/dependencies", "/metadata/xsd"):
        assert f'href="{address}"' in page
    assert 'href="http://testserver/metadata/specifications/resources-spec.json"' in page


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (BROWSER, "text/html; charset=utf-8"),
        ("text/html", "text/html; charset=utf-8"),
        ("application/json", "application/json; charset=utf-8"),
        ("*/*", "application/json; charset=utf-8"),
        ("application/json, text/plain, */*", "application/json; charset=utf-8"),
        ("application/json, text/html;q=0.5", "application/json; charset=utf-8"),
        ("", "application/json; charset=utf-8"),
        ("nonsense", "application/json; charset=utf-8"),
        ("image/png", "application/json; charset=utf-8"),
    ],
)
def test_the_accept_header_selects_page_or_document(accept: str, content_type: str) -> None:
    response = get("/", Accept=accept)

    assert response.status_code == 200
    assert response["Content-Type"] == content_type
    assert "Accept" in [name.strip() for name in response["Vary"].split(",")]


def test_without_an_accept_header_the_document_is_served() -> None:
    assert get("/")["Content-Type"] == "application/json; charset=utf-8"
