"""Logging in to the admin in a browser: with an authenticator, and by an OpenID provider."""

from base64 import b32decode
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice
from pytest_django import Settings
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from edfi_api.site.sign_in.configuration import authentication_backends
from tests.support.oidc.provider import Settings as Provided
from tests.support.oidc.provider import rsa_key, running_provider, web_application
from tests.tools.browser.conftest import Browse
from tests.tools.browser.windows import DESKTOP, PHONE, click, complaints, log_out, overhang, shown

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"


def give_password(window: WebDriver, server: str) -> None:
    window.get(f"{server}/admin/auth/user/")
    shown(window, "#id_username").send_keys("olga")
    shown(window, "#id_password").send_keys(PASSWORD)
    click(window, "#login-form [type=submit]")


def give(window: WebDriver, code: str) -> None:
    shown(window, "#id_code").send_keys(code)
    click(window, "#code-form [type=submit]")


def test_a_second_factor_is_set_up_and_used(browser: Browse, live_server: Any, settings: Settings) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "SECOND_FACTOR": "required"}
    User.objects.create_superuser("olga", password=PASSWORD)
    window = browser(*PHONE)

    give_password(window, live_server.url)
    key = b32decode(shown(window, "#key").text.replace(" ", ""))
    picture = shown(window, "#content img")
    assert picture.size["width"] == picture.size["height"] >= 150
    assert (overhang(window), complaints(window)) == (0, [])
    give(window, "000000")
    assert "The code is wrong" in shown(window, ".errorlist").text
    give(window, f"{totp(key):06}")
    codes = [each.text for each in shown(window, "#recovery-codes").find_elements(By.TAG_NAME, "code")]
    assert len(codes) == 10
    assert (overhang(window), complaints(window)) == (0, [])
    click(window, "#continue")
    shown(window, "#result_list, .paginator")
    assert window.current_url == f"{live_server.url}/admin/auth/user/"
    log_out(window)

    TOTPDevice.objects.update(last_t=0)
    give_password(window, live_server.url)
    give(window, f"{totp(key):06}")
    log_out(window)

    give_password(window, live_server.url)
    give(window, codes[0])
    assert "9 recovery codes left" in shown(window, ".messagelist").text
    window.get(f"{live_server.url}/admin/")
    click(window, "#user-button")
    click(window, "a[href='/admin/second-factor/']")
    assert "9 recovery codes" in shown(window, "#content").text
    assert (overhang(window), complaints(window)) == (0, [])


def test_a_person_logs_in_and_out_by_the_provider(
    browser: Browse, live_server: Any, settings: Settings, tmp_path: Path
) -> None:
    window = browser(*DESKTOP)
    client = web_application(
        "meadowlark-admin",
        f"{live_server.url}/admin/login/provider/callback/",
        post_logout_redirect_uris=[f"{live_server.url}/admin/login/"],
    )
    people = {
        "maria": {"preferred_username": "maria", "given_name": "Maria", "groups": ["edfi-data"]},
        "ken": {"preferred_username": "ken", "groups": ["football"]},
    }
    with running_provider(tmp_path, Provided(keys=[rsa_key("one")], clients=[client], people=people)) as provider:
        settings.EDFI_API = {
            **settings.EDFI_API,
            "SIGN_IN_ISSUER": provider.issuer,
            "SIGN_IN_CLIENT_ID": "meadowlark-admin",
            "SIGN_IN_CLIENT_SECRET": "of-tests",
            "SIGN_IN_NAME": "Lake County",
            "SIGN_IN_SCOPES": "openid profile email groups",
            "SIGN_IN_GROUPS": (("edfi-data", "steward"),),
        }
        settings.AUTHENTICATION_BACKENDS = authentication_backends(settings.EDFI_API)

        log_in_at_provider(window, live_server.url, "maria")
        assert "MARIA" in shown(window, "#user-button").text.upper()
        assert window.current_url == f"{live_server.url}/admin/validation/validationrule/"
        assert [each for each in complaints(window) if each.startswith(live_server.url)] == []

        log_out(window)
        click(window, "#provider-logout")
        click(window, "[name=logout], button[type=submit]")
        assert shown(window, "#provider-login").text == "Log in with Lake County"

        log_in_at_provider(window, live_server.url, "ken")
        assert "none of your groups may use this site" in shown(window, ".errornote").text
        assert overhang(window) == 0


def log_in_at_provider(window: WebDriver, server: str, person: str) -> None:
    """Through the pages of login and consent."""
    window.get(f"{server}/admin/validation/validationrule/")
    click(window, "#provider-login a")
    shown(window, "[name=login]").send_keys(person)
    shown(window, "[name=password]").send_keys("any")
    click(window, "[type=submit]")
    click(window, "form [type=submit]")
