"""Discovery and OpenAPI documents of a server whose addresses have a context."""

import pytest

from tests.conftest import http

ROOT = "http://testserver"


@pytest.fixture
def stores(configured, make_store, store_databases):
    configured("districtId", "schoolYear")
    for district, year in (("Lakeside", "2026"), ("grand", "2027"), ("LAKESIDE", "2027")):
        make_store(f"{district} {year}", connection="dbname=x", districtId=district, schoolYear=year)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/", "/{districtId}/{schoolYear}"),
        ("", "/{districtId}/{schoolYear}"),
        ("/LakeSide", "/LakeSide/{schoolYear}"),
        ("/LakeSide/", "/LakeSide/{schoolYear}"),
        ("/LakeSide/2027", "/LakeSide/2027"),
        ("/no%20district/1999/", "/no%20district/1999"),
    ],
)
def test_missing_segments_are_placeholders(stores, path, shown):
    urls = http().get(path).json()["urls"]

    assert urls["dataManagementApi"] == f"{ROOT}{shown}/data"
    assert urls["oauth"] == f"{ROOT}{shown}/oauth/token"
    assert urls["changeQueries"] == f"{ROOT}{shown}/changeQueries/v1/"


@pytest.mark.parametrize("specification", ["resources", "descriptors", "relations"])
def test_the_server_has_a_variable_for_each_qualifier(stores, specification):
    document = http().get(f"/metadata/specifications/{specification}-spec.json").json()

    [server] = document["servers"]
    assert server["url"].startswith(ROOT + "/{districtId}/{schoolYear}/")
    assert server["variables"] == {
        "districtId": {"default": "grand", "description": "District Id", "enum": ["grand", "Lakeside"]},
        "schoolYear": {"default": "2027", "description": "School Year", "enum": ["2027", "2026"]},
    }
    flow = document["components"]["securitySchemes"]["oauth2_client_credentials"]["flows"]["clientCredentials"]
    assert flow["tokenUrl"] == f"{ROOT}/oauth/token"


def test_a_segment_of_the_address_is_the_default(stores):
    document = http().get("/grand/2026/metadata/changequeries/v1/swagger.json").json()

    [server] = document["servers"]
    assert server["url"] == ROOT + "/{districtId}/{schoolYear}/changeQueries/v1"
    assert {name: each["default"] for name, each in server["variables"].items()} == {
        "districtId": "grand",
        "schoolYear": "2026",
    }
    flow = document["components"]["securitySchemes"]["oauth2_client_credentials"]["flows"]["clientCredentials"]
    assert flow["tokenUrl"] == f"{ROOT}/grand/2026/oauth/token"


def test_a_new_data_store_is_in_the_list_and_changes_the_tag(stores, make_store):
    path = "/metadata/specifications/relations-spec.json"
    before = http().get(path, HTTP_ACCEPT_ENCODING="gzip")
    make_store("new", connection="dbname=x", districtId="new", schoolYear="2028")
    from edfi_api.core.data_stores.routing_cache import routing_cache  # noqa: PLC0415

    routing_cache()._checked_at -= 11  # As if the time had passed.

    after = http().get(path)

    assert after["ETag"] != before["ETag"]
    assert after.json()["servers"][0]["variables"]["schoolYear"]["enum"] == ["2028", "2027", "2026"]


def test_compressed_documents_have_the_same_urls(stores):
    import gzip  # noqa: PLC0415

    path = "/grand/metadata/specifications/relations-spec.json"
    compressed = http().get(path, HTTP_ACCEPT_ENCODING="gzip")

    assert gzip.decompress(compressed.content) == http().get(path).content


def test_without_data_stores_a_variable_has_an_empty_default(configured, db):
    configured("schoolYear")

    [server] = http().get("/metadata/specifications/relations-spec.json").json()["servers"]

    assert server["variables"] == {"schoolYear": {"default": "", "description": "School Year"}}


def test_a_token_is_issued_at_any_depth(stores, db):
    from edfi_api.core.security.clients import create_client  # noqa: PLC0415

    credentials = create_client("tests", "EdFiSandbox")
    form = {"grant_type": "client_credentials", "client_id": credentials.key, "client_secret": credentials.secret}

    for context in ("", "/grand", "/grand/2027"):
        answer = http().post(f"{context}/oauth/token", form, content_type="application/json")
        assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/health/live", "/metrics", "/docs"])
def test_paths_without_a_context(stores, path):
    assert http().get(path).status_code == 200


def test_a_path_without_a_fixed_word_that_is_too_long_is_unknown(stores):
    assert http().get("/grand/2027/unknown").status_code == 404


@pytest.mark.parametrize("path", ["/metadata", "/metadata/xsd", "/metadata/dependencies", "/metadata/specifications"])
def test_metadata_has_the_segments_of_its_own_address(stores, path):
    text = http().get(f"/grand/2027{path}").content.decode()

    assert "{schoolYear}" not in text
    if path != "/metadata/dependencies":
        assert f"{ROOT}/grand/2027/metadata/" in text
