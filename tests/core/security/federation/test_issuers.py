"""The file of identity providers: what may stand in it, and what is reported of one that is wrong."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from edfi_api.core.security.issuers import issuers
from tests.core.security.federation.identity_provider import write_issuers

GOOD = {"issuer": "https://login.example.org/realms/edfi", "audience": "edfi"}


def findings(settings: Settings, path: str, **others: Any) -> list[tuple[str, str]]:
    """Return the findings of `manage.py check`."""
    settings.EDFI_API = {**settings.EDFI_API, "OIDC_ISSUERS": path, **others}
    found = run_checks(tags=["security"], include_deployment_checks=True)
    return [(each.id, each.msg) for each in found if each.id.startswith("security.E") or each.id == "security.W007"]


def test_defaults(settings: Settings, tmp_path: Path) -> None:
    assert findings(settings, write_issuers(tmp_path / "issuers.json", GOOD)) == []

    [issuer] = issuers().values()
    assert issuer.algorithms == ("RS256",)
    assert issuer.types == ("at+jwt", "JWT", None)
    assert (issuer.skew, issuer.max_lifetime, issuer.use) == (30, 3600, ("data",))
    assert issuer.claims.mode == "registered"
    assert issuer.metadata_address == "https://login.example.org/realms/edfi/.well-known/openid-configuration"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"issuer": None}, "Expected `str`, got `null` - at `$[0].issuer`"),
        ({"issuer": "http://login.example.org"}, "not an address with https"),
        ({"issuer": "login.example.org"}, "not an address with https"),
        ({"metadata": "http://login.example.org/meta"}, "not an address with https"),
        ({"jwks_uri": "file:///keys.json"}, "not an address with https"),
        ({"metadata": "https://a.example.org", "jwks_uri": "https://a.example.org"}, "two ways to the same keys"),
        ({"audience": []}, "length >= 1"),
        ({"audience": ""}, "length >= 1"),
        ({"algorithms": ["HS256"]}, "Invalid enum value 'HS256' - at `$[0].algorithms[0]`"),
        ({"algorithms": ["none"]}, "Invalid enum value 'none'"),
        ({"algorithms": []}, "length >= 1"),
        ({"skew": 121}, "Expected `int` <= 120"),
        ({"skew": -1}, "Expected `int` >= 0"),
        ({"max_lifetime": 0}, "Expected `int` >= 1"),
        ({"audiences": "edfi"}, "unknown field `audiences`"),
        ({"claims": {"role": "x"}}, "unknown field `role`"),
        ({"claims": {"mode": "both"}}, "Invalid enum value 'both'"),
        ({"claims": {"client": "a..b"}}, "'a..b' is not a path of a claim"),
        ({"claims": {"allowed": {"educationOrganizations": [0]}}}, "Expected `int` >= 1"),
        ({"use": []}, "length >= 1"),
        ({"use": ["all"]}, "Invalid enum value 'all'"),
        ({"tenant": "lakeside", "use": ["data", "management"]}, "cannot be for management"),
    ],
)
def test_a_wrong_member(settings: Settings, tmp_path: Path, members: dict[str, Any], message: str) -> None:
    path = write_issuers(tmp_path / "issuers.json", GOOD | members)

    [(id_, text)] = findings(settings, path)

    assert id_ == "security.E001"
    assert text.startswith(f"MEADOWLARK_OIDC_ISSUERS: {path}: ")
    assert message in text


def test_an_audience_is_required(settings: Settings, tmp_path: Path) -> None:
    path = write_issuers(tmp_path / "issuers.json", {"issuer": GOOD["issuer"]})

    assert "missing required field `audience`" in findings(settings, path)[0][1]


def test_an_issuer_twice(settings: Settings, tmp_path: Path) -> None:
    path = write_issuers(tmp_path / "issuers.json", GOOD, GOOD)

    assert findings(settings, path) == [("security.E001", f"MEADOWLARK_OIDC_ISSUERS: {path} has an issuer twice.")]


def test_a_file_that_is_not_there(settings: Settings, tmp_path: Path) -> None:
    path = f"{tmp_path}/none.json"

    assert findings(settings, path) == [
        ("security.E001", f"MEADOWLARK_OIDC_ISSUERS: {path} cannot be read: No such file or directory.")
    ]


def test_a_file_that_is_no_json(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "issuers.json"
    path.write_text("issuer: https://login.example.org")

    assert "JSON is malformed" in findings(settings, str(path))[0][1]


def test_tenants_of_a_server_without_and_with_them(settings: Settings, tmp_path: Path) -> None:
    of_tenant = write_issuers(tmp_path / "one.json", GOOD | {"tenant": "lakeside"})
    of_none = write_issuers(tmp_path / "two.json", GOOD | {"claims": {"mode": "claims"}})

    assert "has a tenant, and the server has none" in findings(settings, of_tenant)[0][1]
    assert findings(settings, of_tenant, MULTI_TENANCY=True) == []
    assert "has no tenant" in findings(settings, of_none, MULTI_TENANCY=True)[0][1]


def test_an_issuer_that_may_grant_everything_is_a_warning(settings: Settings, tmp_path: Path) -> None:
    bounded = {"mode": "claims", "allowed": {"claimSets": ["SISVendor"]}}
    open_ = write_issuers(tmp_path / "one.json", GOOD | {"claims": {"mode": "claims"}})

    assert findings(settings, open_) == [
        ("security.W007", f"May grant every claim set, FullAccess too: {GOOD['issuer']}")
    ]
    assert findings(settings, write_issuers(tmp_path / "two.json", GOOD | {"claims": bounded})) == []


def test_a_server_with_a_wrong_file_does_not_start(tmp_path: Path) -> None:
    path = write_issuers(tmp_path / "issuers.json", GOOD | {"skew": 1000})

    started = subprocess.run(
        [sys.executable, "-c", "import meadowlark.wsgi"],
        env=os.environ | {"MEADOWLARK_OIDC_ISSUERS": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert started.returncode == 1
    assert started.stderr.endswith(f"MEADOWLARK_OIDC_ISSUERS: {path}: Expected `int` <= 120 - at `$[0].skew`\n")
