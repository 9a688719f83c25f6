"""Attempts to get access or information without authorization fail."""

import gzip
import json
import time
from datetime import timedelta
from io import StringIO
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.contrib.admin import autodiscover, site
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken

from edfi_api.core.models import Document
from edfi_api.core.security.clients import create_client, recognise_client
from edfi_api.core.security.models import ApiClient, Application, Vendor
from edfi_api.core.security.requests.authentication import client_of_token
from tests.conftest import ApiTestClient, http, new_token
from tests.core.security.conftest import basic
from tests.support.factories import DocumentFactory

pytestmark = pytest.mark.django_db
NOWHERE = "00000000-0000-4000-8000-000000000000"
ROUTES = [
    ("get", "/data/ed-fi/students"),
    ("post", "/data/ed-fi/students"),
    ("get", f"/data/ed-fi/students/{NOWHERE}"),
    ("put", f"/data/ed-fi/students/{NOWHERE}"),
    ("delete", f"/data/ed-fi/students/{NOWHERE}"),
    ("get", "/data/ed-fi/students/partitions"),
    ("get", "/data/ed-fi/students/deletes"),
    ("get", "/data/ed-fi/students/keyChanges"),
    ("get", "/data/ed-fi/nothing-here"),
    ("patch", "/data/ed-fi/students"),
    ("options", "/data/ed-fi/students"),
    ("head", "/data/ed-fi/students"),
    ("head", f"/data/ed-fi/students/{NOWHERE}"),
    ("head", "/data/ed-fi/students/deletes"),
    ("head", "/changeQueries/v1/availableChangeVersions"),
    ("head", f"/relations/v1/ed-fi/students/{NOWHERE}"),
    ("get", "/data/v3/ed-fi/students"),
    ("get", "/DATA/ED-FI/STUDENTS/"),
    ("get", "/changeQueries/v1/availableChangeVersions"),
    ("get", f"/relations/v1/ed-fi/students/{NOWHERE}"),
    ("post", "/oauth/token_info"),
]
# Fragments of table names, PostgreSQL's messages and tracebacks, which no answer may contain.
LEAKS = ("psycopg", "Traceback", "SELECT ", "syntax error", "security_", "oauth2_provider", "edfi_api/", "/usr/", "pg_")


@pytest.fixture
def token() -> str:
    return new_token("victim", "EdFiSandbox", key="victim-key")


def tampered(token: str) -> list[str]:
    other = "A" if token[5] != "A" else "B"
    return [
        token[:5] + other + token[6:],
        token.swapcase(),
        token[:-1],
        token + "A",
        token + "=",
        f"{token}.{token}",
        token.encode().hex(),
        "null",
        "*",
        "' OR '1'='1",
        "../../etc/passwd",
    ]


def assert_is_refused(response: HttpResponse) -> None:
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    assert_discloses_nothing(response)


def assert_discloses_nothing(response: HttpResponse, sent: str = "") -> None:
    """Values that the caller sent may be repeated."""
    text = response.content.decode(errors="replace")
    text = text.replace(sent, "") if sent else text
    assert [leak for leak in LEAKS if leak in text] == []
    assert "Server" not in response.headers
    assert "X-Powered-By" not in response.headers


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_is_accessible_without_a_valid_token(method: str, path: str, token: str) -> None:
    assert_is_refused(getattr(http(), method)(path))
    for wrong in tampered(token):
        assert_is_refused(getattr(http(), method)(path, headers={"Authorization": f"Bearer {wrong}"}))


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_unknown_and_known_paths_are_indistinguishable_without_a_token(method: str, path: str) -> None:
    here, nowhere = (getattr(http(), method)(each) for each in (path, "/data/unknown-project/anything"))

    assert here.status_code == nowhere.status_code == 401
    if method not in ("head", "post"):
        assert here.json() | {"correlationId": ""} == nowhere.json() | {"correlationId": ""}


def expired(_: str) -> None:
    AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))


def revoked(_: str) -> None:
    AccessToken.objects.all().delete()


def of_a_disabled_client(_: str) -> None:
    call_command("disable_api_client", "victim", stdout=StringIO())


def of_an_inactive_client(_: str) -> None:
    ApiClient.objects.update(is_active=False)


def of_an_expired_client(_: str) -> None:
    ApiClient.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def of_a_client_with_a_new_secret(_: str) -> None:
    call_command("rotate_secret", "victim", stdout=StringIO())


@pytest.mark.parametrize(
    "end",
    [
        expired,
        revoked,
        of_a_disabled_client,
        of_an_inactive_client,
        of_an_expired_client,
        of_a_client_with_a_new_secret,
    ],
)
def test_a_token_is_invalid_after_its_client_or_secret(end: Any, token: str) -> None:
    """Immediately in this test; a server that has cached the token may accept it for TOKEN_CACHE_SECONDS."""
    assert ApiTestClient(token).get("/students").status_code == 200

    end(token)
    client_of_token.cache_clear()

    for method, path in ROUTES:
        assert_is_refused(getattr(http(), method)(path, headers={"Authorization": f"Bearer {token}"}))


def test_a_disabled_or_expired_client_gets_no_token(client: Client) -> None:
    made = create_client("victim", "EdFiSandbox")
    form = {"grant_type": "client_credentials"}
    header = {"Authorization": basic(f"{made.key}:{made.secret}")}
    for end in (of_an_inactive_client, of_an_expired_client):
        ApiClient.objects.update(is_active=True, expires_at=None)
        end("")
        response = client.post("/oauth/token", form, content_type="application/json", headers=header)
        assert (response.status_code, response.json()["error"]) == (401, "invalid_client")


def test_a_token_is_read_from_the_authorization_header_only(token: str) -> None:
    for response in (
        http().get(f"/data/ed-fi/students?access_token={token}"),
        http().get(f"/data/ed-fi/students?Authorization=Bearer%20{token}"),
        http().post("/data/ed-fi/students", f"access_token={token}", content_type="application/x-www-form-urlencoded"),
        http().get("/data/ed-fi/students", headers={"X-Authorization": f"Bearer {token}"}),
        http().get("/data/ed-fi/students", headers={"Cookie": f"access_token={token}; sessionid={token}"}),
        http().get("/data/ed-fi/students", headers={"Proxy-Authorization": f"Bearer {token}"}),
        http().get("/data/ed-fi/students", headers={"X-Forwarded-User": "victim", "X-Remote-User": "victim"}),
        http().get("/data/ed-fi/students", headers={"X-Original-URL": "/health", "X-Rewrite-URL": "/health"}),
        http().post("/data/ed-fi/students", headers={"X-HTTP-Method-Override": "GET"}),
    ):
        assert_is_refused(response)


def test_a_session_of_the_admin_gives_no_access_to_data(admin_client: Client) -> None:
    assert admin_client.get("/admin/").status_code == 200
    assert_is_refused(admin_client.get("/data/ed-fi/students"))


def test_no_header_changes_the_action_of_a_request(documents: DocumentFactory, resource_named: Any) -> None:
    """Authorization depends on the method of the request, not on headers."""
    api = ApiTestClient(new_token("Roster", "RosterVendor"))
    resource = resource_named("Student")
    body = documents.minimal_body(resource)
    for header in ("HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_X_HTTP_METHOD", "HTTP_X_METHOD_OVERRIDE"):
        assert api.post("/students", body, **{header: "GET"}).status_code == 403
        assert api.delete(f"/students/{NOWHERE}", **{header: "GET"}).status_code == 403
    assert api.post("/students?_method=GET", body).status_code in (400, 403)
    assert not Document.objects.filter(resource_type__name="Student").exists()


SQL_TRICKS = [
    "' OR 1=1 --",
    "1; DROP TABLE document; --",
    "%' UNION SELECT client_secret FROM security_apiclient --",
    "$1",
    "%s",
    "%(id)s",
    "{}",
    "\\",
    "'||pg_sleep(5)||'",
    "1 OR 1=1",
    "null",
    "[]",
    '{"$ne": null}',
    '{"@>": {}}',
    "$.**",
    "../../oauth/token",
    "1e400",
    "-0",
    "9" * 400,
    "\u202e",
    "\x00",
]


@pytest.mark.parametrize("trick", SQL_TRICKS)
def test_parameters_are_only_values(trick: str, token: str, documents: DocumentFactory, resource_named: Any) -> None:
    documents.store(resource_named("StudentSchoolAssociation"))
    before = Document.objects.count()
    api = ApiTestClient(token)
    names = [field.name for field in resource_named("StudentSchoolAssociation").query_fields]
    paging = [
        "limit",
        "offset",
        "totalCount",
        "pageToken",
        "pageSize",
        "minChangeVersion",
        "maxChangeVersion",
        "number",
    ]

    for name in (*names, *paging, "id", trick):
        for path in ("/studentSchoolAssociations", "/studentSchoolAssociations/partitions"):
            response = api.request("get", path, QUERY_STRING=urlencode({name: trick}))
            assert response.status_code in (200, 400)
            assert_discloses_nothing(response, trick)
            if response.status_code == 200 and name in names:
                assert response.json() in ([], {"pageTokens": []}) or "partitions" in path or trick == "-0"
    for name in ("limit", "offset", "minChangeVersion", "maxChangeVersion", "pageToken", trick):
        for path in ("deletes", "keyChanges"):
            response = api.request("get", f"/studentSchoolAssociations/{path}", QUERY_STRING=urlencode({name: trick}))
            assert response.status_code in (200, 400)
            assert_discloses_nothing(response, trick)
    assert Document.objects.count() == before


@pytest.mark.parametrize("trick", SQL_TRICKS)
def test_members_headers_and_paths_are_only_values(
    trick: str, token: str, documents: DocumentFactory, resource_named: Any
) -> None:
    api = ApiTestClient(token)
    resource = resource_named("Student")
    body = documents.minimal_body(resource)
    clients = ApiClient.objects.count()

    for response in (
        api.post("/students", body | {"studentUniqueId": trick}),
        api.post("/students", body | {trick: trick, "firstName": trick}),
        api.post("/students", body | {"id": trick}),
        api.put(f"/students/{NOWHERE}", body | {"id": trick}),
        api.get(f"/students/{quote(trick, safe='')}"),
        api.delete(f"/students/{quote(trick, safe='')}"),
        api.get(f"/{quote(trick, safe='')}"),
        api.get("/students", HTTP_IF_NONE_MATCH=trick.replace("\x00", "")),
        api.get("/students", HTTP_CORRELATIONID=trick.replace("\x00", "")),
        api.delete(f"/students/{NOWHERE}", HTTP_IF_MATCH=trick.replace("\x00", "")),
        http().post("/oauth/token_info", {"token": trick}, headers={"Authorization": f"Bearer {token}"}),
    ):
        assert response.status_code < 500
        assert_discloses_nothing(response, trick)
    assert ApiClient.objects.count() == clients
    assert {"document", "security_apiclient"} <= set(connection.introspection.table_names())


FORM = {"grant_type": "client_credentials", "client_id": "victim-key", "client_secret": "wrong", "scope": "1"}


@pytest.mark.parametrize("trick", SQL_TRICKS)
def test_fields_of_the_token_endpoint_are_only_values(trick: str) -> None:
    made = create_client("victim", "EdFiSandbox", key="victim-key")
    right = {"client_secret": made.secret}
    for form in (
        *(FORM | {name: trick} for name in (*FORM, trick)),
        FORM | right | {"scope": trick},
        FORM | right | {"grant_type": trick},
        dict.fromkeys(FORM, trick),
    ):
        for sent, content_type in (
            (urlencode(form), "application/x-www-form-urlencoded"),
            (json.dumps(form), "application/json"),
            (json.dumps({name: {"$ne": value} for name, value in form.items()}), "application/json"),
        ):
            response = http().post("/oauth/token", sent, content_type)
            assert response.status_code in (400, 401)
            assert_discloses_nothing(response, trick)
        header = {"Authorization": basic(f"{form['client_id']}:{form['client_secret']}")}
        response = http().post(
            "/oauth/token", "grant_type=client_credentials", content_type=content_type, headers=header
        )
        assert response.status_code in (400, 401)
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize("trick", SQL_TRICKS)
def test_parameters_outside_the_data_routes_are_only_values(
    trick: str, token: str, documents: DocumentFactory, resource_named: Any
) -> None:
    documents.store(resource_named("Student"))
    student = Document.objects.get(resource_type__name="Student").document_uuid
    names = ["direction", "order", "include", "resource", "pageSize", "pageToken", "number", "type", "url", trick]
    places = [
        f"/relations/v1/ed-fi/students/{student}",
        "/relations/v1/{trick}/{trick}/{trick}",
        "/changeQueries/v1/availableChangeVersions",
        "/changeQueries/v1/{trick}",
        "/metadata/{trick}",
        "/metadata/xsd/{trick}/files",
        "/metadata/xsd/ed-fi/{trick}",
        "/metadata/data/v3/dependencies",
        "/docs",
        "/health",
        "/metrics",
        "/static/{trick}",
        "/{trick}",
    ]
    for place in places:
        path = place.replace("{trick}", quote(trick, safe=""))
        for query in (dict.fromkeys(names, trick), {trick: trick}):
            headers = {"Authorization": f"Bearer {token}", "Accept": trick.replace("\x00", "")}
            response = http().get(path, QUERY_STRING=urlencode(query), headers=headers)
            assert response.status_code < 500, place
            if response.status_code >= 400:
                assert_discloses_nothing(response, trick)


@pytest.mark.parametrize("trick", ["' OR 1=1 --", pytest.param("9" * 400, marks=pytest.mark.long), "\x00"])
def test_parameters_of_the_admin_are_only_values(
    trick: str, admin_client: Client, documents: DocumentFactory, resource_named: Any
) -> None:
    """A user of its pages cannot read more by their parameters."""
    documents.store(resource_named("Student"))
    admin_client.raise_request_exception = False
    before = Document.objects.count()
    autodiscover()
    for model, admin in site._registry.items():
        place = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        for name in ("q", "o", *(each for each in admin.list_filter if isinstance(each, str))):
            assert admin_client.get(place, QUERY_STRING=urlencode({name: trick})).status_code < 500, (place, name)
        assert admin_client.get(f"{place}{quote(trick, safe='')}/change/").status_code in (302, 400, 403, 404), place
        for action in ("delete_selected", *admin.actions):
            answer = admin_client.post(place, {"action": action, "_selected_action": trick})
            assert answer.status_code in (200, 302, 400, 403), (place, action)
    parameters = {"term": trick, "app_label": "security", "model_name": "grant", "field_name": "claim_set"}
    assert admin_client.get("/admin/autocomplete/", parameters).status_code in (200, 400)
    for form in ({"username": trick, "password": trick}, {"next": trick}, {}):
        assert Client(raise_request_exception=False).post("/admin/login/", form).status_code == 200
    assert Document.objects.count() == before


def test_malformed_forms_of_the_admin_are_refused() -> None:
    for content_type in ("multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=é"):
        answer = Client(raise_request_exception=False).post("/admin/login/", b"--", content_type=content_type)
        assert answer.status_code == 400
        assert answer["Content-Type"] == "application/problem+json"


def test_the_hash_of_a_secret_cannot_be_guessed_by_prefix(admin_client: Client) -> None:
    create_client("victim", "EdFiSandbox")

    for lookup in ("client_secret__startswith", "client_secret", "client_secret__regex"):
        answer = admin_client.get("/admin/security/apiclient/", {lookup: "x"})
        assert answer.status_code == 400
    assert admin_client.get("/admin/security/apiclient/", {"is_active__exact": "1"}).status_code == 200


def test_a_client_cannot_extend_its_own_permissions(token: str) -> None:
    """Its permissions are in tables that no route writes."""
    vendor = ApiTestClient(new_token("Roster", "RosterVendor"))
    before = (Application.objects.count(), Vendor.objects.count())

    assert vendor.post("/students", {"claimSet": "FullAccess"}).status_code == 400
    for path in ("/oauth/clients", "/oauth/applications/", "/oauth/register", "/oauth/authorize", "/o/token"):
        assert http().post(path, {"claimSet": "FullAccess"}).status_code == 404
    form = {"grant_type": "client_credentials", "scope": "FullAccess", "claim_set": "FullAccess"}
    assert http().post("/oauth/token", form).status_code in (400, 401)
    assert (Application.objects.count(), Vendor.objects.count()) == before


@pytest.mark.parametrize("path", ["/", "/docs", "/metadata", "/data/ed-fi/students", "/admin/login/"])
def test_no_address_is_built_from_a_host_outside_allowed_hosts(path: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/html"}
    assert http().get(path, headers=headers | {"Host": "evil.example"}).status_code == 400
    for name in ("X-Forwarded-Host", "X-Host", "Forwarded", "X-Forwarded-Server", "X-Original-Host"):
        answer = http().get(
            path, headers=headers | {name: "host=evil.example" if name == "Forwarded" else "evil.example"}
        )
        assert answer.status_code == 200
        assert b"evil" not in answer.content
        assert "evil" not in str(answer.headers)


def test_the_location_of_a_document_has_the_host_of_the_server(
    token: str, documents: DocumentFactory, resource_named: Any
) -> None:
    api, body = ApiTestClient(token), documents.minimal_body(resource_named("Student"))
    evil = {
        "HTTP_X_FORWARDED_HOST": "evil.example",
        "HTTP_X_FORWARDED_PROTO": "gopher",
        "HTTP_X_FORWARDED_PREFIX": "/x",
    }

    assert api.post("/students", body, **evil)["Location"].startswith("http://testserver/data/ed-fi/students/")


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_the_login_does_not_redirect_to_other_sites(target: str) -> None:
    get_user_model().objects.create_superuser("operator", password="correct horse battery")
    form = {"username": "operator", "password": "correct horse battery", "next": target}

    answer = Client().post(f"/admin/login/?next={quote(target)}", form)

    assert (answer.status_code, answer["Location"].startswith("/admin/")) == (302, True)


def test_the_admin_refuses_cross_site_requests() -> None:
    made = create_client("victim", "EdFiSandbox")
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(get_user_model().objects.create_superuser("operator"))
    victim = ApiClient.objects.get(client_id=made.key)
    places = {
        f"security/apiclient/{victim.pk}/rotate-secret/": {},
        "security/apiclient/": {"action": "disable", "_selected_action": [victim.pk]},
        "security/apiclient/add/": {"name": "mine", "application": victim.application_id, "is_active": "on"},
        "auth/user/add/": {"username": "mine", "password1": "correct horse battery"},
        "logout/": {},
    }

    for place, form in places.items():
        for headers in ({}, {"Origin": "https://evil.example"}, {"Referer": "https://evil.example/"}):
            assert browser.post(f"/admin/{place}", form, headers=headers).status_code == 403
    browser.get(f"/admin/security/apiclient/{victim.pk}/rotate-secret/")

    victim.refresh_from_db()
    assert victim.is_active
    assert recognise_client(made) == victim
    assert ApiClient.objects.count() == get_user_model().objects.count() == 1


@pytest.mark.parametrize(
    ("encoding", "status"), [("gzip", 413), ("deflate", 400), ("br", 415), ("zstd", 415), ("gzip, gzip", 400)]
)
def test_compressed_bodies_are_not_decompressed_beyond_the_limit(encoding: str, status: int, token: str) -> None:
    bomb = gzip.compress(b'{"studentUniqueId": "' + b" " * 50_000_000 + b'"}')
    start = time.process_time()

    answers = [
        ApiTestClient(token).request("post", "/students", bomb, HTTP_CONTENT_ENCODING=encoding),
        http().post("/oauth/token", bomb[:10_000], "application/json", headers={"Content-Encoding": encoding}),
    ]

    assert [answer.status_code for answer in answers] == [status, status]
    assert time.process_time() - start < 1


def test_wrong_key_and_wrong_secret_get_the_same_answer(client: Client) -> None:
    made = create_client("victim", "EdFiSandbox")
    form = {"grant_type": "client_credentials"}

    answers = [
        client.post(
            "/oauth/token", form, "application/json", headers={"Authorization": basic(pair), "correlationid": "1"}
        )
        for pair in (f"{made.key}:wrong", "nobody:wrong")
    ]

    first, second = ((answer.status_code, answer.content, dict(answer.headers)) for answer in answers)
    assert first == second
