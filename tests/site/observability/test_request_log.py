"""Each refused request is logged in one line without values of the request; other requests only by setting."""

import logging

import pytest
from django.db import OperationalError, connection
from django.test import Client

from edfi_api.core.security.clients import create_client
from tests.conftest import ApiTestClient, http, item_path, new_token
from tests.support.factories import STUDENT
from tests.support.logs import Log

URN = "urn:ed-fi:api:"
SOME_ID = "0198b4f3-3c5e-7000-8000-0123456789ab"
PERSON = {"studentUniqueId": "Zebulon-1", "firstName": "Zebulon", "lastSurname": "Quill", "birthDate": "2010-02-03"}


@pytest.fixture
def client_api(db) -> ApiTestClient:
    return ApiTestClient(new_token("SIS", key="sis-key"))


def only(log: Log) -> dict[str, object]:
    """The only line about a request, without members that differ between runs."""
    [line] = log.requests
    assert isinstance(line.pop("milliseconds"), float)
    assert line.pop("time")
    assert "Zebulon" not in str(line)
    assert line.pop("message").startswith("status=")
    del line["logger"], line["level"]
    return line


INVALID = "bad-request:data-validation-failed"
REFUSED = {
    "validation": ("post", "/students", PERSON | {"birthDate": "Zebulon"}, 400, INVALID),
    "item validation": ("put", f"/students/{SOME_ID}", PERSON, 400, INVALID),
    "unknown field": ("get", "/students?Zebulon=1", None, 400, "bad-request"),
    "no json": ("post", "/students", "Zebulon", 400, INVALID),
    "method": ("delete", "/students", None, 405, "method-not-allowed"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_refused_request_is_logged_in_one_line(client_api, log, case):
    method, path, body, status, problem = case

    answer = client_api.request(method, path, body, HTTP_CORRELATIONID="case-7")

    assert answer.json()["correlationId"] == "case-7"
    assert only(log) == {
        "correlation_id": "case-7",
        "status": status,
        "problem": URN + problem,
        "method": method.upper(),
        "resource": "/ed-fi/students",
        "client": "sis-key",
    }


def test_the_line_of_a_conflict_has_the_referrers(client_api, log, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    school = client_api.get("/schools").json()[0]["id"]
    association = client_api.get("/studentSchoolAssociations").json()[0]["id"]

    response = client_api.delete(f"/schools/{school}", HTTP_CORRELATIONID="case-8")

    assert response.status_code == 409
    assert only(log) == {
        "correlation_id": "case-8",
        "status": 409,
        "problem": "urn:ed-fi:api:data-conflict:dependent-item-exists",
        "method": "DELETE",
        "resource": "/ed-fi/schools",
        "client": "sis-key",
        "referrers": f"Ed-Fi.StudentSchoolAssociation {association}",
    }


def test_a_missing_item_is_logged(client_api, log):
    client_api.get(f"/students/{SOME_ID}", HTTP_CORRELATIONID="case-9")

    line = only(log)
    assert (line["status"], line["resource"], line["client"]) == (404, "/ed-fi/students", "sis-key")


UNAUTHENTICATED = "security:authentication"
OUTSIDE = {
    "no token": ("get", "/data/ed-fi/students?lastSurname=Zebulon", 401, UNAUTHENTICATED, "/ed-fi/students"),
    "unknown resource": ("get", "/data/ed-fi/Zebulon", 401, UNAUTHENTICATED, "other"),
    "unknown path": ("get", "/Zebulon?firstName=Zebulon", 404, "not-found", "other"),
    "method": ("post", "/health?firstName=Zebulon", 405, "method-not-allowed", "health"),
    "form of the admin": ("post", "/admin/login/?next=Zebulon", 403, None, "admin:login"),
}


@pytest.mark.parametrize("case", OUTSIDE.values(), ids=OUTSIDE)
def test_a_refusal_outside_of_viewsets_is_logged_in_one_line(db, log, case):
    method, path, status, problem, resource = case

    answer = Client(enforce_csrf_checks=True).generic(method.upper(), path, headers={"correlationid": "case-1"})

    expected = {"correlation_id": "case-1", "status": status, "method": method.upper(), "resource": resource}
    assert answer.status_code == status
    assert only(log) == expected | ({"problem": URN + problem} if problem else {})


@pytest.mark.parametrize("path", ["/metadata", "/data/ed-fi/students"])
def test_an_unknown_host_is_logged_in_one_line(client, log, path):
    client.get(path, headers={"Host": "zebulon.example"})

    line = only(log)
    assert (line["status"], line["problem"]) == (400, URN + "bad-request")
    assert "zebulon" not in log.text


def test_a_too_large_body_is_logged_in_one_line(client_api, log, settings):
    settings.EDFI_API = settings.EDFI_API | {"MAX_BODY_BYTES": 10}

    client_api.post("/students", PERSON)

    line = only(log)
    assert (line["status"], line["problem"], line["client"]) == (413, URN + "content-too-large", "sis-key")


TOKENS = {
    "wrong secret": ({"client_id": "sis-key", "client_secret": "Zebulon"}, 401, "invalid_client", "sis-key"),
    "unknown key": ({"client_id": "Zebulon", "client_secret": "Zebulon"}, 401, "invalid_client", "unknown"),
    "grant": ({"grant_type": "Zebulon", "client_id": "a", "client_secret": "b"}, 400, "unsupported_grant_type", None),
    "nothing": ({}, 401, "invalid_request", None),
}


@pytest.mark.parametrize("case", TOKENS.values(), ids=TOKENS)
def test_a_refused_token_request_is_logged_with_the_oauth_error_code(db, log, case):
    form, status, problem, key = case
    create_client("SIS", "EdFiSandbox", key="sis-key")
    form = {"grant_type": "client_credentials"} | form

    response = Client().post("/oauth/token", form, content_type="application/json")

    line = only(log)
    assert (response.status_code, line["status"]) == (status, status)
    assert (line["problem"], line["resource"], line.get("client")) == (problem, "oauth-token", key)
    assert line["correlation_id"] == response["correlationid"]


def test_an_invalid_scope_is_logged_with_the_client(db, log):
    made = create_client("SIS", "EdFiSandbox", key="sis-key")
    form = {"grant_type": "client_credentials", "client_id": made.key, "client_secret": made.secret, "scope": "7"}

    assert Client().post("/oauth/token", form, content_type="application/json").status_code == 400

    line = only(log)
    assert (line["status"], line["problem"], line["client"]) == (400, "invalid_scope", "sis-key")


def test_a_rate_limited_client_is_logged(db, log, settings):
    settings.EDFI_API = settings.EDFI_API | {"TOKENS_PER_MINUTE": 1}
    made = create_client("SIS", "EdFiSandbox", key="sis-key")
    form = {"grant_type": "client_credentials", "client_id": made.key, "client_secret": made.secret}

    statuses = [Client().post("/oauth/token", form, content_type="application/json").status_code for _ in range(3)]

    assert statuses == [200, 429, 429]
    assert [(line["problem"], line["client"]) for line in log.requests] == [(URN + "too-many-requests", "sis-key")] * 2
    assert log.audit[-1]["client"] == "sis-key"


def test_a_failed_request_is_logged_as_an_error(client_api, log):
    def refuse(*_: object) -> None:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(refuse):
        response = http().get("/health", headers={"correlationid": "case-5"})

    assert response.status_code == 503
    [line] = log.requests
    assert (line["level"], line["status"], line["resource"]) == ("ERROR", 503, "health")


def test_a_bug_is_logged_as_an_error_beside_its_traceback(client_api, log):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE document RENAME TO misplaced")

    client_api.get("/students?lastSurname=Zebulon", HTTP_CORRELATIONID="case-6")

    [line] = log.requests
    assert line["level"] == "ERROR"
    assert (line["status"], line["problem"], line["correlation_id"]) == (500, "urn:ed-fi:api:system", "case-6")
    assert "Zebulon" not in str(line)


def test_a_successful_request_is_not_logged(client_api, log):
    client_api.post("/students", STUDENT)
    client_api.get("/students")

    assert log.requests == []


def test_every_request_is_logged_by_setting(client_api, log, settings):
    settings.EDFI_API = settings.EDFI_API | {"LOG_REQUESTS": True}

    client_api.get("/students?lastSurname=Zebulon", HTTP_CORRELATIONID="case-2")

    assert only(log) == {
        "correlation_id": "case-2",
        "status": 200,
        "method": "GET",
        "resource": "/ed-fi/students",
        "client": "sis-key",
    }


def test_the_level_of_refusals_is_logged_by_default(client_api, log):
    client_api.post("/students", {})

    assert log.requests[0]["level"] == "INFO"
    assert logging.getLogger("meadowlark.requests").isEnabledFor(logging.INFO)


@pytest.fixture
def answers(client_api):
    """Answers of every kind."""
    headers = {"HTTP_CORRELATIONID": "case-3"}
    created = client_api.post("/students", STUDENT, **headers)
    item = item_path(created)
    found = client_api.get(item, **headers)
    yield [
        created,
        found,
        client_api.get(item, HTTP_IF_NONE_MATCH=found["ETag"], **headers),
        client_api.get("/students", **headers),
        client_api.delete(item, **headers),
        client_api.get(item, **headers),
        client_api.get("/unheardOf", **headers),
        client_api.post("/students", {}, **headers),
        *(
            http().get(path, **headers)
            for path in ("/", "/health", "/metadata/dependencies", "/admin/", "/static/none", "/none", "/oauth/token")
        ),
        http().post("/oauth/token", {}, content_type="application/json", **headers),
        http().get("/", HTTP_HOST="evil.example", **headers),
    ]


def test_every_answer_has_the_correlation_id(answers):
    assert [answer.status_code for answer in answers[:6]] == [201, 200, 304, 200, 204, 404]
    assert {answer["correlationid"] for answer in answers} == {"case-3"}


def test_a_preflight_has_the_correlation_id_and_allows_and_exposes_the_header(settings):
    settings.CORS_ALLOWED_ORIGINS = ["https://sis.example"]
    settings.MIDDLEWARE = [*settings.MIDDLEWARE[:2], "corsheaders.middleware.CorsMiddleware", *settings.MIDDLEWARE[2:]]
    headers = {"Origin": "https://sis.example", "Access-Control-Request-Method": "GET", "correlationid": "case-4"}

    preflight = Client().options("/data/ed-fi/students", headers=headers)
    answer = Client().get("/", headers={"Origin": "https://sis.example"})

    assert preflight["correlationid"] == "case-4"
    assert "correlationid" in preflight["Access-Control-Allow-Headers"]
    assert "correlationid" in answer["Access-Control-Expose-Headers"]


def test_a_request_without_correlation_id_gets_one(client):
    first, second = client.get("/")["correlationid"], client.get("/")["correlationid"]

    assert len(first) == len(second) == 32
    assert first != second


@pytest.mark.parametrize(
    ("sent", "returned"),
    [
        ("a b\tc", "abc"),
        ('x" event="forged', "xeventforged"),
        ("caf\u00e9", "caf"),
        ("1" * 5000, "1" * 128),
        ("run:7.b_c-d", "run:7.b_c-d"),
    ],
)
def test_unsafe_characters_of_a_correlation_id_are_removed(client, log, sent, returned):
    answer = client.get("/none", headers={"correlationid": sent})

    assert answer["correlationid"] == answer.json()["correlationId"] == returned
    assert log.requests[0]["correlation_id"] == returned


def test_the_header_has_the_configured_name(client, settings):
    settings.EDFI_API = settings.EDFI_API | {"CORRELATION_HEADER": "X-Request-ID"}

    answer = client.get("/", headers={"X-Request-ID": "case-5"})

    assert answer["X-Request-ID"] == "case-5"
    assert "correlationid" not in answer


@pytest.mark.parametrize("token", ["unknown", None])
def test_more_parameters_than_are_read_are_no_traceback(
    api_without_check: ApiTestClient, log: Log, token: str | None
) -> None:
    many = "&".join(f"p{number}=x" for number in range(1_001))
    client = ApiTestClient(token or api_without_check.token)

    refused = client.get(f"/students?{many}")

    assert refused.status_code == (401 if token else 400)
    assert "Traceback" not in log.text
