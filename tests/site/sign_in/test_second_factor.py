"""Logging in by password and a code: setting up, giving codes, recovery codes, and a reset on the server."""

import re
from base64 import b32decode
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from tests.site.sign_in.conftest import PASSWORD, Configure
from tests.support.logs import Log

pytestmark = pytest.mark.django_db

LOGIN, CODE, SET_UP, OWN = "/admin/login/", "/admin/login/code/", "/admin/login/set-up/", "/admin/second-factor/"


@pytest.fixture
def required(configure: Configure) -> None:
    configure(SECOND_FACTOR="required", LOGINS_PER_MINUTE=0)


def give_password(client: Client, user: str = "olga", **form: str) -> HttpResponse:
    return client.post(LOGIN, {"username": user, "password": PASSWORD, **form})


def give(client: Client, code: str, path: str = CODE) -> HttpResponse:
    return client.post(path, {"code": code})


def is_logged_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def set_up(client: Client) -> tuple[bytes, list[str]]:
    """Sets up an authenticator after the password; its key, and the recovery codes."""
    page = client.get(SET_UP).content.decode()
    [shown] = re.findall(r'<code id="key">([A-Z2-7 ]+)</code>', page)
    key = b32decode(shown.replace(" ", ""))
    answer = give(client, f"{totp(key):06}", SET_UP)
    assert answer.status_code == 200
    return key, re.findall(r"<li><code>([a-z2-7-]+)</code>", answer.content.decode())


def confirm_password(client: Client, password: str = PASSWORD) -> HttpResponse:
    """Gives the password again, to set up an authenticator."""
    return client.post(SET_UP, {"password": password})


def change_own(client: Client, code: str, change: str, password: str = PASSWORD) -> HttpResponse:
    """Replaces the recovery codes, or removes the authenticator."""
    return client.post(OWN, {"password": password, "code": code, change: "1"})


@pytest.fixture
def enrolled(required: None, olga: User) -> tuple[bytes, list[str]]:
    """Olga has an authenticator, with which she logged in some time ago."""
    client = Client()
    give_password(client)
    found = set_up(client)
    TOTPDevice.objects.update(last_t=0)
    return found


def code_of(enrolled: tuple[bytes, list[str]]) -> str:
    return f"{totp(enrolled[0]):06}"


def test_without_the_setting_there_is_a_password_and_nothing_else(client: Client, olga: User) -> None:
    page = client.get(LOGIN)
    answer = give_password(client)

    assert {template.name for template in page.templates} & {"admin/login.html", "sign_in/login.html"} == {
        "admin/login.html"
    }
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert "second-factor" not in client.get("/admin/").content.decode()
    assert [client.get(path).status_code for path in (OWN, CODE, SET_UP)] == [404, 302, 302]


def test_a_user_without_an_authenticator_sets_one_up(client: Client, required: None, olga: User, log: Log) -> None:
    answer = give_password(client, next="/admin/auth/user/")
    assert (answer.status_code, answer["Location"]) == (302, SET_UP)
    assert not is_logged_in(client)

    wrong = give(client, "000000", SET_UP)
    assert "The code is wrong, or was used before." in wrong.content.decode()
    assert not is_logged_in(client)
    assert TOTPDevice.objects.count() == 0

    _, codes = set_up(client)

    assert is_logged_in(client)
    assert len(codes) == len(set(codes)) == 10
    assert all(re.fullmatch(r"[a-z2-7]{4}(-[a-z2-7]{4}){3}", code) for code in codes)
    assert [line["event"] for line in log.audit] == ["denied", "second factor set up", "admin login"]
    assert [line["reason"] for line in log.audit if line["event"] == "denied"] == ["second factor"]
    assert log.audit[-1]["by"] == "admin:olga"
    assert log.audit[-1]["second_factor"] == "authenticator"


def test_a_password_alone_is_not_enough(client: Client, enrolled: tuple[bytes, list[str]]) -> None:
    answer = give_password(client)

    assert (answer.status_code, answer["Location"]) == (302, CODE)
    assert "_auth_user_id" not in client.session
    for path in ("/admin/", "/admin/auth/user/", "/admin/password_change/", OWN):
        refused = client.get(path)
        assert (refused.status_code, refused["Location"].partition("?")[0]) == (302, LOGIN)


def test_password_and_code_lead_to_the_requested_page(client: Client, enrolled: tuple[bytes, list[str]]) -> None:
    give_password(client, next="/admin/auth/user/")

    answer = give(client, f" {code_of(enrolled)[:3]} {code_of(enrolled)[3:]} ")

    assert (answer.status_code, answer["Location"]) == (302, "/admin/auth/user/")
    assert is_logged_in(client)


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_a_login_does_not_lead_to_other_sites(
    client: Client, enrolled: tuple[bytes, list[str]], elsewhere: str
) -> None:
    give_password(client, next=elsewhere)

    assert give(client, code_of(enrolled))["Location"] == "/admin/"


def test_a_code_is_accepted_once(client: Client, enrolled: tuple[bytes, list[str]]) -> None:
    code = code_of(enrolled)
    give_password(client)
    assert give(client, code).status_code == 302
    other = Client()
    give_password(other)

    assert give(other, code).status_code == 200
    assert not is_logged_in(other)


def test_wrong_codes_slow_down_further_ones(
    client: Client, enrolled: tuple[bytes, list[str]], log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_password(client)
    stopped = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: stopped)
    for _ in range(3):
        TOTPDevice.objects.update(throttling_failure_timestamp=None)
        give(client, "000000")

    page = give(client, code_of(enrolled)).content.decode()

    assert "The code is wrong, or was used before. Try again in 4 seconds." in page
    assert not is_logged_in(client)
    assert {(line["reason"], line["user"], line["address"]) for line in log.audit} == {
        ("second factor", "olga", "127.0.0.1")
    }
    monkeypatch.setattr(timezone, "now", lambda: stopped + timedelta(seconds=4))
    assert give(client, code_of(enrolled)).status_code == 302


@pytest.mark.parametrize("code", ["", "1" * 41, "12345", "\0", "\u00b2" * 6, "\u0660" * 6, "1e5", "-00001"])
def test_bad_codes_are_refused(client: Client, enrolled: tuple[bytes, list[str]], code: str) -> None:
    give_password(client)

    assert give(client, code).status_code == 200
    assert not is_logged_in(client)


def test_a_recovery_code_logs_in_once(client: Client, enrolled: tuple[bytes, list[str]], log: Log) -> None:
    code = enrolled[1][3]
    give_password(client)

    answer = client.post(CODE, {"code": code.upper().replace("-", " ")}, follow=True)

    assert "You have 9 recovery codes left." in answer.content.decode()
    assert is_logged_in(client)
    assert log.audit[-1]["second_factor"] == "recovery code"
    other = Client()
    give_password(other)
    assert give(other, code).status_code == 200
    assert not is_logged_in(other)


def test_recovery_codes_are_stored_as_hashes(enrolled: tuple[bytes, list[str]], log: Log) -> None:
    stored = set(StaticToken.objects.values_list("token", flat=True))

    assert len(stored) == 10
    assert stored.isdisjoint({code.replace("-", "") for code in enrolled[1]})
    assert not any(code in log.text for code in enrolled[1])


def test_of_two_concurrent_logins_one_gets_the_recovery_code(
    transactional_db: None, required: None, olga: User
) -> None:
    first = Client()
    give_password(first)
    _, codes = set_up(first)
    clients = [Client() for _ in range(4)]
    for each in clients:
        give_password(each)

    def attempt(client: Client) -> int:
        try:
            return give(client, codes[0]).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(attempt, clients))

    assert statuses == [200, 200, 200, 302]


def test_who_knows_the_password_cannot_add_an_authenticator(client: Client, enrolled: tuple[bytes, list[str]]) -> None:
    give_password(client)

    assert client.get(SET_UP)["Location"] == CODE
    assert give(client, "000000", SET_UP)["Location"] == CODE
    assert TOTPDevice.objects.count() == 1


def test_each_set_up_has_a_key_of_its_own(required: None, olga: User) -> None:
    """With a shared key, a thief of the password could read the key that the user confirms later."""
    clients = Client(), Client()
    for each in clients:
        give_password(each)

    keys = {re.findall(r'<code id="key">(.*?)</code>', each.get(SET_UP).content.decode())[0] for each in clients}

    assert len(keys) == 2
    assert all(len(key.replace(" ", "")) == 32 for key in keys)


def test_a_login_ends_after_ten_minutes_without_a_code(client: Client, enrolled: tuple[bytes, list[str]]) -> None:
    give_password(client)
    session = client.session
    assert 590 < session.get_expiry_age() <= 600
    session["pending_login"] = {**session["pending_login"], "until": session["pending_login"]["until"] - 600}
    session.save()

    assert give(client, code_of(enrolled))["Location"] == LOGIN
    assert not is_logged_in(client)


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": False}, {"password": "!"}])
def test_a_changed_user_logs_in_from_the_beginning(
    client: Client, enrolled: tuple[bytes, list[str]], change: dict[str, object]
) -> None:
    give_password(client)
    User.objects.update(**change)

    assert give(client, code_of(enrolled))["Location"] == LOGIN


def test_sessions_from_before_the_setting_end(client: Client, olga: User, configure: Configure) -> None:
    give_password(client)
    assert is_logged_in(client)

    configure(SECOND_FACTOR="required")

    assert not is_logged_in(client)


def test_an_optional_second_factor_is_needed_only_after_setting_it_up(
    client: Client, olga: User, configure: Configure
) -> None:
    configure(SECOND_FACTOR="optional")
    assert give_password(client)["Location"] == "/admin/"
    assert f'href="{OWN}"' in client.get("/admin/").content.decode()
    assert client.get(OWN)["Location"] == SET_UP

    confirm_password(client)
    set_up(client)

    assert is_logged_in(client)
    other = Client()
    assert give_password(other)["Location"] == CODE
    assert not is_logged_in(other)


def test_a_session_without_the_password_cannot_set_up_an_authenticator(
    client: Client, olga: User, configure: Configure, log: Log
) -> None:
    configure(SECOND_FACTOR="optional", LOGINS_PER_MINUTE=0)
    give_password(client)

    page = client.get(SET_UP).content.decode()
    without = give(client, "000000", SET_UP)
    wrong = confirm_password(client, "wrong")

    assert "Enter your password again." in page
    assert 'id="key"' not in page
    assert "second_factor_key" not in client.session
    assert without.status_code == wrong.status_code == 200
    assert "The password is wrong." in wrong.content.decode()
    assert (log.audit[-1]["event"], log.audit[-1]["reason"], log.audit[-1]["user"]) == (
        "denied",
        "login failed",
        "olga",
    )
    assert TOTPDevice.objects.count() == 0
    assert is_logged_in(client)


def test_the_key_is_shown_to_a_new_session_only(client: Client, olga: User, configure: Configure) -> None:
    """A thief of the session would otherwise read the key that its owner confirms."""
    configure(SECOND_FACTOR="optional", LOGINS_PER_MINUTE=0)
    give_password(client)
    thief = Client()
    thief.cookies["sessionid"] = client.cookies["sessionid"].value
    assert is_logged_in(thief)

    answer = confirm_password(client)

    assert (answer.status_code, answer["Location"]) == (302, SET_UP)
    assert thief.get(SET_UP)["Location"] == LOGIN
    assert not is_logged_in(thief)
    set_up(client)
    assert is_logged_in(client)
    assert thief.get(SET_UP)["Location"] == LOGIN


def test_passwords_are_guessed_within_the_limits_of_logins(client: Client, olga: User, configure: Configure) -> None:
    configure(SECOND_FACTOR="optional", LOGINS_PER_MINUTE=3)
    give_password(client)

    pages = [confirm_password(client, "wrong").content.decode() for _ in range(3)]

    assert ["Too many attempts to log in." in page for page in pages] == [False, False, True]
    assert "Too many attempts to log in." in confirm_password(client).content.decode()


@pytest.mark.parametrize("change", ["replace", "remove"])
def test_changes_of_a_second_factor_need_the_password_and_a_code(
    client: Client, enrolled: tuple[bytes, list[str]], change: str
) -> None:
    give_password(client)
    give(client, enrolled[1][0])
    code = code_of(enrolled)

    without = client.post(OWN, {"code": code, change: "1"})
    wrong = change_own(client, code, change, password="wrong")

    assert without.status_code == wrong.status_code == 200
    assert "The password is wrong." in wrong.content.decode()
    assert (TOTPDevice.objects.count(), StaticToken.objects.count()) == (1, 9)
    # A code beside a wrong password is not used up.
    change_own(client, code, change)
    assert StaticToken.objects.count() == {"replace": 10, "remove": 0}[change]


def test_an_authenticator_is_replaced_with_the_password(
    client: Client, enrolled: tuple[bytes, list[str]], configure: Configure
) -> None:
    configure(SECOND_FACTOR="optional")
    give_password(client)
    give(client, enrolled[1][0])
    assert client.get(SET_UP)["Location"] == OWN
    assert confirm_password(client)["Location"] == OWN

    change_own(client, code_of(enrolled), "remove")
    assert is_logged_in(client)
    assert "Enter your password again." in client.get(SET_UP).content.decode()
    confirm_password(client)
    key, _ = set_up(client)

    assert key != enrolled[0]
    assert is_logged_in(client)


def test_new_recovery_codes_replace_the_old_ones(client: Client, enrolled: tuple[bytes, list[str]], log: Log) -> None:
    give_password(client)
    give(client, enrolled[1][0])
    assert "9 recovery codes" in client.get(OWN).content.decode()

    refused = change_own(client, "aaaa-aaaa-aaaa-aaaa", "replace").content.decode()
    answer = change_own(client, code_of(enrolled), "replace").content.decode()

    assert "The code is wrong" in refused
    codes = re.findall(r"<li><code>([a-z2-7-]+)</code>", answer)
    assert len(codes) == 10
    assert set(codes).isdisjoint(enrolled[1])
    assert (log.audit[-1]["event"], log.audit[-1]["by"]) == ("recovery codes replaced", "admin:olga")
    other = Client()
    give_password(other)
    assert give(other, enrolled[1][1]).status_code == 200
    assert give(other, codes[0]).status_code == 200  # It has to wait after a wrong one.


def test_a_user_removes_the_authenticator_with_a_code(
    client: Client, enrolled: tuple[bytes, list[str]], log: Log
) -> None:
    give_password(client)
    give(client, enrolled[1][0])

    change_own(client, code_of(enrolled), "remove")

    assert log.audit[-1]["event"] == "second factor removed"
    assert not is_logged_in(client)
    assert give_password(client)["Location"] == SET_UP


def test_a_reset_on_the_server_lets_a_locked_out_user_in(
    client: Client, enrolled: tuple[bytes, list[str]], log: Log
) -> None:
    give_password(client)
    give(client, code_of(enrolled))
    assert is_logged_in(client)
    printed = StringIO()

    call_command("reset_second_factor", "olga", stdout=printed)

    assert printed.getvalue() == "The second factor of olga is removed.\n"
    assert (log.audit[-1]["event"], log.audit[-1]["user"], log.audit[-1]["by"]) == (
        "second factor reset",
        "olga",
        "command",
    )
    assert not is_logged_in(client)
    assert (TOTPDevice.objects.count(), StaticToken.objects.count()) == (0, 0)
    assert give_password(client)["Location"] == SET_UP
    set_up(client)
    assert is_logged_in(client)


def test_a_reset_says_what_there_is_to_reset(olga: User) -> None:
    printed = StringIO()

    call_command("reset_second_factor", "olga", stdout=printed)

    assert printed.getvalue() == "olga has no second factor.\n"
    with pytest.raises(CommandError, match='There is no user "paul"'):
        call_command("reset_second_factor", "paul")


def test_the_pages_of_devices_show_no_keys(client: Client, olga: User) -> None:
    client.force_login(olga)

    assert client.get("/admin/otp_totp/totpdevice/").status_code == 404
    assert client.get("/admin/otp_static/staticdevice/").status_code == 404


def test_only_break_glass_users_log_in_by_password(client: Client, olga: User, configure: Configure, log: Log) -> None:
    User.objects.create_superuser("paul", password=PASSWORD)
    give_password(client, "paul")
    assert is_logged_in(client)
    configure(PASSWORD_LOGIN=False, BREAK_GLASS_USERS=("olga",))
    assert not is_logged_in(client)

    refused = give_password(client, "paul").content.decode()
    reason = log.audit[-1]["reason"]
    mistyped = client.post(LOGIN, {"username": "paul", "password": "wrong"}).content.decode()

    error = r'<p class="errornote">\s*(.*?)\s*</p>'
    assert re.findall(error, refused) == re.findall(error, mistyped) != []
    assert (reason, log.audit[-1]["reason"]) == ("no password login", "login failed")
    assert give_password(client, "olga")["Location"] == "/admin/"
    assert is_logged_in(client)


def test_the_list_of_users_shows_who_has_an_authenticator(
    client: Client, enrolled: tuple[bytes, list[str]], configure: Configure
) -> None:
    User.objects.create_user("paul")
    give_password(client)
    give(client, code_of(enrolled))

    page = client.get("/admin/auth/user/?o=6").content.decode()
    configure(SECOND_FACTOR="")
    without = client.get("/admin/auth/user/").content.decode()

    assert re.findall(r'/change/[^"]*">(\w+)</a>.*?field-second_factor"><img [^>]*alt="(\w+)"', page) == [
        ("paul", "False"),
        ("olga", "True"),
    ]
    assert "second_factor" not in without


def test_logins_are_counted(client: Client, enrolled: tuple[bytes, list[str]]) -> None:
    def count(way: str, outcome: str) -> float:
        lines = client.get("/metrics").content.decode().splitlines()
        label = f'meadowlark_admin_logins_total{{outcome="{outcome}",way="{way}"}} '
        return next((float(line.removeprefix(label)) for line in lines if line.startswith(label)), 0)

    ways = [("password", "accepted"), ("password", "refused"), ("second factor", "refused")]
    before = [count(*each) for each in ways]
    client.post(LOGIN, {"username": "olga", "password": "wrong"})
    give_password(client)
    give(client, "000000")
    TOTPDevice.objects.update(throttling_failure_timestamp=None)
    give(client, code_of(enrolled))

    assert [count(*each) - earlier for each, earlier in zip(ways, before, strict=True)] == [1, 1, 1]
