"""Logging in by a real OpenID provider."""

import html
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from edfi_api.site.sign_in.configuration import authentication_backends
from edfi_api.site.sign_in.models import AdminIdentity
from tests.site.sign_in.conftest import PASSWORD, Configure
from tests.support.below_a_path import HEADERS, ROOT, serve_below_a_path
from tests.support.logs import Log
from tests.support.oidc.provider import Provider, rsa_key, running_provider, web_application
from tests.support.oidc.provider import Settings as Provided

pytestmark = pytest.mark.django_db

START = "/admin/login/provider/"
CALLBACK = "http://testserver/admin/login/provider/callback/"
PEOPLE = {
    "maria": {
        "preferred_username": "maria",
        "given_name": "Maria",
        "family_name": "Ortiz",
        "email": "maria@example.org",
        "groups": ["edfi-data", "football"],
    },
    "ken": {"preferred_username": "ken", "groups": ["football"]},
    "root": {"preferred_username": "root", "groups": ["edfi-all"]},
    "s/p ace": {"preferred_username": "s/p ace", "groups": ["edfi-data"]},
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    provided = Provided(
        keys=[rsa_key("one")],
        clients=[
            web_application(
                "meadowlark-admin",
                CALLBACK,
                f"{ROOT}/admin/login/provider/callback/",
                post_logout_redirect_uris=["http://testserver/admin/login/", f"{ROOT}/admin/login/"],
            )
        ],
        people=PEOPLE,
    )
    with running_provider(tmp_path_factory.mktemp("provider"), provided) as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, configure: Configure, settings: Settings) -> Provider:
    configure(
        SIGN_IN_ISSUER=running.issuer,
        SIGN_IN_CLIENT_ID="meadowlark-admin",
        SIGN_IN_CLIENT_SECRET="of-tests",
        SIGN_IN_NAME="Lake County",
        SIGN_IN_SCOPES="openid profile email groups",
        SIGN_IN_GROUPS=(("edfi-data", "steward"), ("edfi-ops", "operator"), ("edfi-data", "gone")),
    )
    settings.AUTHENTICATION_BACKENDS = authentication_backends(settings.EDFI_API)
    return running


def authorized(address: str, login: str) -> str:
    """Logs a person in on the pages of the provider; returns the address that it leads back to."""
    with httpx.Client() as browser:
        response = browser.get(address)
        for form in ({"prompt": "login", "login": login, "password": "any"}, {"prompt": "consent"}):
            page = response.headers["location"]
            response = browser.post(httpx.URL(address).join(page), data=form)
            response = browser.get(httpx.URL(address).join(response.headers["location"]))
    return response.headers["location"]


def log_in(client: Client, login: str, target: str = "") -> HttpResponse:
    start = client.get(START, {"next": target} if target else {})
    assert start.status_code == 302, start.content
    return client.get(authorized(start["Location"], login).removeprefix("http://testserver"))


def is_logged_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def groups_of(user: str) -> set[str]:
    return set(User.objects.get(username=user).groups.values_list("name", flat=True))


def test_a_person_gets_a_user_with_the_groups_of_the_claim(client: Client, provider: Provider, log: Log) -> None:
    answer = log_in(client, "maria", "/admin/validation/validationrule/")

    assert (answer.status_code, answer["Location"]) == (302, "/admin/validation/validationrule/")
    assert is_logged_in(client)
    user = User.objects.get()
    assert (user.username, user.first_name, user.last_name, user.email) == (
        "maria",
        "Maria",
        "Ortiz",
        "maria@example.org",
    )
    assert (user.is_staff, user.is_superuser, user.has_usable_password()) == (True, False, False)
    assert groups_of("maria") == {"steward"}
    assert list(AdminIdentity.objects.values_list("user__username", "issuer", "subject")) == [
        ("maria", provider.issuer, "maria")
    ]
    assert [line["event"] for line in log.audit] == ["admin user created", "admin rights changed", "admin login"]
    assert (log.audit[1]["before"], log.audit[1]["after"]) == ("none", "steward")
    assert {name: log.audit[2][name] for name in ("by", "issuer", "subject", "address")} == {
        "by": "admin:maria",
        "issuer": provider.issuer,
        "subject": "maria",
        "address": "127.0.0.1",
    }
    assert "of-tests" not in log.text


def test_the_request_has_state_nonce_and_a_pkce_challenge(client: Client, provider: Provider) -> None:
    parameters = [dict(parse_qsl(urlsplit(client.get(START)["Location"]).query)) for _ in range(2)]

    assert {name: parameters[0][name] for name in ("response_type", "client_id", "redirect_uri", "scope")} == {
        "response_type": "code",
        "client_id": "meadowlark-admin",
        "redirect_uri": CALLBACK,
        "scope": "openid profile email groups",
    }
    assert parameters[0]["code_challenge_method"] == "S256"
    for name in ("state", "nonce", "code_challenge"):
        assert len(parameters[0][name]) >= 32
        assert parameters[0][name] != parameters[1][name]


def test_behind_a_proxy_the_way_back_is_the_public_address(
    client: Client, provider: Provider, settings: Settings
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.USE_X_FORWARDED_HOST = True
    settings.ALLOWED_HOSTS = ["edfi.example.org"]
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "edfi.example.org"}

    location = client.get(START, headers=headers)["Location"]

    assert parse_qs(urlsplit(location).query)["redirect_uri"] == [
        "https://edfi.example.org/admin/login/provider/callback/"
    ]


@pytest.mark.parametrize("before", ["", "/edfi"], ids=["removed", "handed over"])
def test_below_a_path_a_login_begins_and_ends_there(provider: Provider, settings: Settings, before: str) -> None:
    serve_below_a_path(settings)
    browser = Client(headers=HEADERS)
    target = "/edfi/admin/validation/validationrule/"

    page = browser.get(f"{before}/admin/login/", {"next": target}).content.decode()
    start = browser.get(before + START, {"next": target})
    back = authorized(start["Location"], "maria")
    answer = browser.get(before + back.removeprefix(ROOT))
    admin = browser.get(f"{before}/admin/")
    again = browser.get(before + back.removeprefix(ROOT))
    logout = browser.post(f"{before}/admin/logout/").content.decode()

    assert 'href="/edfi/admin/login/provider/?next=%2Fedfi%2Fadmin%2Fvalidation%2Fvalidationrule%2F"' in page
    assert back.startswith(f"{ROOT}/admin/login/provider/callback/?")
    assert (answer.status_code, answer["Location"]) == (302, target)
    assert answer.cookies["sessionid"]["path"] == "/edfi/"
    assert (admin.status_code, User.objects.get().username) == (200, "maria")
    assert (again.status_code, 'href="/edfi/admin/login/"' in again.content.decode()) == (400, True)
    assert "post_logout_redirect_uri=https%3A%2F%2Fsis.example%2Fedfi%2Fadmin%2Flogin%2F" in logout
    assert httpx.get(logout_address(logout)).status_code == 200


def logout_address(page: str) -> str:
    """The address at the provider, which refuses one that it does not know to lead back to."""
    [address] = re.findall(r'href="(http://127[^"]+)"', page)
    return html.unescape(address)


def test_a_person_without_a_group_gets_a_page_and_no_session(client: Client, provider: Provider, log: Log) -> None:
    answer = log_in(client, "ken")

    assert answer.status_code == 403
    assert "none of your groups may use this site" in answer.content.decode()
    assert not is_logged_in(client)
    assert User.objects.count() == 0
    assert (log.audit[-1]["event"], log.audit[-1]["reason"]) == ("denied", "login by provider: no group")


def test_groups_are_those_of_the_latest_claim(client: Client, provider: Provider, log: Log) -> None:
    log_in(client, "maria")
    maria = User.objects.get()
    maria.groups.add(Group.objects.get(name="auditor"))
    other = Client()
    try:
        provider.restart(people=PEOPLE | {"maria": PEOPLE["maria"] | {"groups": ["edfi-ops"]}})
        log_in(other, "maria")
        assert groups_of("maria") == {"operator"}
        assert (log.audit[-2]["before"], log.audit[-2]["after"]) == ("auditor, steward", "operator")
        assert is_logged_in(client)

        provider.restart(people=PEOPLE | {"maria": PEOPLE["maria"] | {"groups": []}})
        answer = log_in(Client(), "maria")
    finally:
        provider.restart(people=PEOPLE)

    assert answer.status_code == 403
    assert groups_of("maria") == set()
    assert User.objects.get().is_staff is False
    assert not is_logged_in(client)
    assert not is_logged_in(other)


def test_a_claim_makes_superusers_only_by_setting(client: Client, provider: Provider, configure: Configure) -> None:
    assert log_in(client, "root").status_code == 403
    configure(SIGN_IN_SUPERUSERS=("edfi-all",))
    assert log_in(client, "root").status_code == 302
    assert User.objects.get().is_superuser is True

    configure(SIGN_IN_SUPERUSERS=(), SIGN_IN_GROUPS=(("edfi-all", "auditor"),))
    log_in(client, "root")

    assert User.objects.get().is_superuser is False
    assert groups_of("root") == {"auditor"}


def test_a_local_user_of_the_same_name_and_address_is_somebody_else(client: Client, provider: Provider) -> None:
    local = User.objects.create_superuser("Maria", email="maria@example.org", password=PASSWORD)

    log_in(client, "maria")
    log_in(Client(), "maria")

    made = User.objects.exclude(pk=local.pk).get()
    assert made.username.startswith("maria-") and len(made.username) == len("maria-") + 8
    assert client.session["_auth_user_id"] == str(made.pk)
    assert made.is_superuser is False
    local.refresh_from_db()
    assert (local.is_superuser, local.check_password(PASSWORD)) == (True, True)


def test_a_superuser_links_a_person_to_a_user(client: Client, provider: Provider, olga: User, log: Log) -> None:
    client.force_login(olga, "django.contrib.auth.backends.ModelBackend")
    paul = User.objects.create_user("paul")
    form = {"user": paul.pk, "issuer": provider.issuer, "subject": "maria"}
    assert client.post("/admin/sign_in/adminidentity/add/", form).status_code == 302
    again = client.post("/admin/sign_in/adminidentity/add/", form | {"user": olga.pk})
    assert "already exists" in again.content.decode()

    log_in(client, "maria")

    assert client.session["_auth_user_id"] == str(paul.pk)
    assert groups_of("paul") == {"steward"}


def test_names_have_only_characters_of_user_names(client: Client, provider: Provider) -> None:
    log_in(client, "s/p ace")

    assert User.objects.get().username == "s_p_ace"


def test_a_deactivated_user_stays_out(client: Client, provider: Provider) -> None:
    log_in(client, "maria")
    User.objects.update(is_active=False)

    answer = log_in(Client(), "maria")

    assert (answer.status_code, "deactivated" in answer.content.decode()) == (403, True)
    assert not is_logged_in(client)


def test_who_refuses_at_the_provider_is_not_logged_in(client: Client, provider: Provider, log: Log) -> None:
    state = parse_qs(urlsplit(client.get(START)["Location"]).query)["state"][0]

    answer = client.get(f"{START}callback/", {"error": "access_denied", "state": state})

    assert (answer.status_code, "did not log you in" in answer.content.decode()) == (403, True)
    assert log.audit[-1]["reason"] == "login by provider: provider: access_denied"


@pytest.mark.parametrize(
    "query", [{}, {"code": "x"}, {"state": "x"}, {"code": "x", "state": "x"}, {"error": "access_denied"}]
)
def test_a_login_that_was_not_begun_here_is_refused(
    client: Client, provider: Provider, query: dict[str, str], olga: User
) -> None:
    client.force_login(olga, "django.contrib.auth.backends.ModelBackend")
    fresh = client.get(f"{START}callback/", query)
    client.get(START)
    begun = client.get(f"{START}callback/", query)

    assert (fresh.status_code, begun.status_code) == (400, 400)
    # A link on another site must not end a session.
    assert client.session["_auth_user_id"] == str(olga.pk)


def test_errors_of_the_provider_are_not_repeated(client: Client, provider: Provider, log: Log) -> None:
    state = parse_qs(urlsplit(client.get(START)["Location"]).query)["state"][0]

    answer = client.get(f"{START}callback/", {"error": "<script>\x1b[31m", "state": state})

    assert answer.status_code == 403
    assert b"<script>\x1b" not in answer.content
    assert log.audit[-1]["reason"] == "login by provider: provider: error"


def test_the_way_back_works_once_and_in_one_browser(client: Client, provider: Provider) -> None:
    back = authorized(client.get(START)["Location"], "maria").removeprefix("http://testserver")

    assert Client().get(back).status_code == 400
    assert client.get(back).status_code == 302
    assert client.get(back).status_code == 400


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "/\\evil.example"])
def test_a_login_does_not_lead_to_other_sites(client: Client, provider: Provider, target: str) -> None:
    assert log_in(client, "maria", target)["Location"] == "/admin/"


def test_a_login_begins_a_new_session(client: Client, provider: Provider, olga: User) -> None:
    client.force_login(olga, "django.contrib.auth.backends.ModelBackend")
    client.get(START)
    before = client.session.session_key

    log_in(client, "maria")

    assert client.session.session_key != before
    assert not Session.objects.filter(pk=before).exists()
    assert client.session.get_expiry_age() > 11 * 3600


def test_the_login_page_links_to_the_provider(client: Client, provider: Provider, configure: Configure) -> None:
    page = client.get("/admin/login/?next=/admin/auth/user/%3Fq%3D1%26p%3D2").content.decode()
    configure(PASSWORD_LOGIN=False)
    only_provider = client.get("/admin/login/").content.decode()
    configure(BREAK_GLASS_USERS=("olga",))
    break_glass = client.get("/admin/login/").content.decode()

    assert 'href="/admin/login/provider/?next=%2Fadmin%2Fauth%2Fuser%2F%3Fq%3D1%26p%3D2"' in page
    assert "Log in with Lake County" in page
    assert ['id="id_password"' in each for each in (page, only_provider, break_glass)] == [True, False, True]
    assert "Passwords are only for break-glass accounts." in break_glass


def test_after_a_logout_there_is_a_link_to_that_of_the_provider(client: Client, provider: Provider) -> None:
    log_in(client, "maria")

    page = client.post("/admin/logout/").content.decode()

    assert not is_logged_in(client)
    assert (
        f'href="{provider.issuer}/session/end?client_id=meadowlark-admin&amp;post_logout_redirect_uri='
        'http%3A%2F%2Ftestserver%2Fadmin%2Flogin%2F"' in page
    )


def test_without_the_setting_sessions_by_the_provider_end(
    client: Client, provider: Provider, configure: Configure, settings: Settings
) -> None:
    log_in(client, "maria")
    configure(SIGN_IN_ISSUER="")
    settings.AUTHENTICATION_BACKENDS = authentication_backends(settings.EDFI_API)

    assert not is_logged_in(client)
    assert [client.get(path).status_code for path in (START, f"{START}callback/?code=x&state=x")] == [404, 404]
    assert "login/provider" not in client.get("/admin/login/").content.decode()


def test_the_second_factor_is_that_of_the_provider(client: Client, provider: Provider, configure: Configure) -> None:
    configure(SECOND_FACTOR="required")

    assert log_in(client, "maria")["Location"] == "/admin/"
    assert is_logged_in(client)
    assert client.get("/admin/second-factor/").status_code == 404


def test_passwords_work_beside_the_provider(client: Client, provider: Provider, olga: User) -> None:
    answer = client.post("/admin/login/", {"username": "olga", "password": PASSWORD})

    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert is_logged_in(client)


def test_logins_by_the_provider_are_limited(client: Client, provider: Provider, configure: Configure) -> None:
    configure(PROVIDER_LOGINS_PER_MINUTE=2)

    answers = [client.get(START) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert "Too many attempts to log in." in answers[2].content.decode()


def test_checks_name_groups_that_do_not_exist(provider: Provider, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("check", databases=["default"])

    assert "MEADOWLARK_SIGN_IN_GROUPS names groups that do not exist: gone." in capsys.readouterr().err


def test_a_session_by_the_provider_cannot_set_up_an_authenticator(
    client: Client, provider: Provider, olga: User, configure: Configure
) -> None:
    configure(SECOND_FACTOR="optional")
    AdminIdentity.objects.create(user=olga, issuer=provider.issuer, subject="maria")
    log_in(client, "maria")
    assert client.session["_auth_user_id"] == str(olga.pk)

    pages = [client.get("/admin/login/set-up/"), client.post("/admin/login/set-up/", {"password": PASSWORD})]

    assert [(page.status_code, page["Location"]) for page in pages] == [(302, "/admin/login/")] * 2
    assert client.post("/admin/second-factor/", {"password": PASSWORD, "code": "000000"}).status_code == 404
    assert is_logged_in(client)
