"""The management API below the path of a proxy."""

import re

import pytest
from pytest_django import Settings

from tests.features.management_api.managing import APPLICATION, VENDOR, Managing, created_id
from tests.support.below_a_path import HEADERS, ROOT, serve_below_a_path

BASE = f"{ROOT}/config"


@pytest.mark.parametrize("before", ["", "/edfi"], ids=["removed", "handed over"])
def test_every_address_has_the_path(management: Managing, settings: Settings, before: str) -> None:
    serve_below_a_path(settings)
    below = Managing(management.token, f"{before}/config", HEADERS)
    information = below.get("").json()
    specification = below.get("/metadata/specifications").json()
    configuration = below.get("/.well-known/openid-configuration").json()
    vendor = below.post("/v3/vendors", VENDOR)
    application = below.post("/v3/applications", APPLICATION | {"vendorId": created_id(vendor)})
    of_version_2 = below.post("/v2/vendors", VENDOR | {"company": "Hillside"})
    introspected = below.form("/connect/introspect", token=management.token)

    assert information["urls"]["openApiMetadata"] == f"{BASE}/metadata/specifications"
    assert [server["url"] for server in specification["servers"]] == [BASE]
    [scheme] = specification["components"]["securitySchemes"].values()
    assert scheme["flows"]["clientCredentials"]["tokenUrl"] == f"{BASE}/connect/token"
    assert configuration["issuer"] == BASE
    assert {
        value.startswith(f"{BASE}/") for name, value in configuration.items() if name.endswith(("_endpoint", "_uri"))
    } == {True}
    assert re.fullmatch(rf"{BASE}/v3/vendors/\d+", vendor.headers["Location"])
    assert re.fullmatch(rf"{BASE}/v3/applications/\d+", application.headers["Location"])
    assert re.fullmatch(rf"{BASE}/v2/vendors/\d+", of_version_2.headers["Location"])
    assert introspected.json()["iss"] == BASE
    # A created item is found at its address, as the proxy asks for it.
    path = vendor.headers["Location"].removeprefix(BASE)
    assert below.get(path).json()["company"] == "Lakeside"
