"""Settings of logging in that are refused at the start."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from edfi_api.site.sign_in.configuration import authentication_backends
from meadowlark.configuration.environment import read_all

COMPLETE = {
    "MEADOWLARK_SIGN_IN_ISSUER": "https://id.example.org/realms/edfi",
    "MEADOWLARK_SIGN_IN_CLIENT_ID": "meadowlark-admin",
    "MEADOWLARK_SIGN_IN_CLIENT_SECRET": "secret",
    "MEADOWLARK_SIGN_IN_GROUPS": "/edfi/ops=operator, a=b=auditor",
}
BACKENDS = ["django.contrib.auth.backends.ModelBackend", "edfi_api.site.sign_in.backend.ProviderBackend"]


def read(monkeypatch: pytest.MonkeyPatch, **variables: str) -> dict[str, object]:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return read_all()


def test_nothing_is_on_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(monkeypatch)

    assert (found["SIGN_IN_ISSUER"], found["SECOND_FACTOR"], found["PASSWORD_LOGIN"]) == ("", "", True)
    assert authentication_backends(found) == BACKENDS[:1]


def test_a_complete_provider_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(monkeypatch, **COMPLETE)

    assert found["SIGN_IN_GROUPS"] == (("/edfi/ops", "operator"), ("a=b", "auditor"))
    assert authentication_backends(found) == BACKENDS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"MEADOWLARK_SIGN_IN_ISSUER": "http://id.example.org"},
            "MEADOWLARK_SIGN_IN_ISSUER must be an address of HTTPS",
        ),
        ({"MEADOWLARK_SIGN_IN_ISSUER": "id.example.org"}, "MEADOWLARK_SIGN_IN_ISSUER must be an address of HTTPS"),
        ({"MEADOWLARK_SIGN_IN_CLIENT_SECRET": ""}, "also needs MEADOWLARK_SIGN_IN_CLIENT_SECRET"),
        ({"MEADOWLARK_SIGN_IN_GROUPS": ""}, "also needs MEADOWLARK_SIGN_IN_GROUPS"),
        ({"MEADOWLARK_SIGN_IN_GROUPS": "operator"}, "has 'operator'; an entry is VALUE=GROUP"),
        ({"MEADOWLARK_SIGN_IN_GROUPS": "=operator"}, "has '=operator'; an entry is VALUE=GROUP"),
        ({"MEADOWLARK_SIGN_IN_GROUPS_CLAIM": "a..b"}, "MEADOWLARK_SIGN_IN_GROUPS_CLAIM is not a path"),
        ({"MEADOWLARK_SIGN_IN_SCOPES": "profile"}, "MEADOWLARK_SIGN_IN_SCOPES must have openid"),
        ({"MEADOWLARK_SECOND_FACTOR": "yes"}, "MEADOWLARK_SECOND_FACTOR is 'yes'"),
        (
            {"MEADOWLARK_SIGN_IN_ISSUER": "", "MEADOWLARK_PASSWORD_LOGIN": "false"},
            "no login to the admin is possible",
        ),
    ],
)
def test_incomplete_settings_are_refused(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=message):
        authentication_backends(read(monkeypatch, **COMPLETE | changes))
