"""Sandboxes: what is in one, that repeating changes nothing, and that a failure leaves nothing half."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.utils import timezone

from edfi_api.common.one_process import exclusively, wait_for_lock
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.security.models import ApiClient, Application, Vendor
from edfi_api.core.security.requests.authentication import client_of_token
from edfi_api.features.sandboxes import creating, databases
from edfi_api.features.sandboxes.models import Sandbox
from tests.conftest import ApiTestClient, http
from tests.features.sandboxes.conftest import create

STUDENT = {"studentUniqueId": "1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
ROWS = (DataStore, Vendor, Application, ApiClient, Sandbox)


pytestmark = pytest.mark.usefixtures("sandboxes")


def api_of(made: dict[str, str]) -> ApiTestClient:
    form = {"grant_type": "client_credentials", "client_id": made["key"], "client_secret": made["secret"]}
    return ApiTestClient(http().post("/oauth/token", form, content_type="application/json").json()["access_token"])


def numbers(api: ApiTestClient, *endpoints: str) -> list[int]:
    answers = [api.get(f"/{each}?limit=0&totalCount=true") for each in endpoints]
    assert {answer.status_code for answer in answers} == {200}, answers[0].content
    return [int(answer["Total-Count"]) for answer in answers]


def database_names() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname ~ '^meadowlark_sandbox_|_unfinished$'")
        return [name for (name,) in cursor]


def rows() -> list[int]:
    return [model.objects.count() for model in ROWS]


def test_a_sandbox_from_its_creation_to_its_end(capsys):
    before = rows()
    made = create("lark", "--shape", "sis", "--expires", "30d")
    api = api_of(made)
    organizations = ("stateEducationAgencies", "localEducationAgencies", "schools", "students")

    assert numbers(api, *organizations) == [1, 1, 3, 0]
    assert {each["nameOfInstitution"] for each in api.get("/schools").json()} == {
        "Finch Elementary School",
        "Creekside Middle School",
        "Lark Meadow High School",
    }
    assert made["link"].startswith("http://127.0.0.1:8000/secret#")
    own = api.get("/submissions/v1/sandbox").json()
    assert own == {
        "name": "lark",
        "shape": "sis",
        "isPopulated": False,
        "educationOrganizationIds": [77, 770000],
        "expiresAt": own["expiresAt"],
        "resets": 0,
    }
    assert own["expiresAt"].startswith(f"{timezone.now() + timedelta(days=30):%Y-%m-%d}")

    # Repeated, nothing changes, and the secret is not shown again.
    again = create("lark", "--shape", "sis")
    assert (again["key"], again["secret"], again["expiresAt"]) == (made["key"], None, made["expiresAt"])
    with pytest.raises(CommandError, match="already, of the shape sis"):
        create("lark", "--shape", "warehouse")
    assert api.post("/students", STUDENT).status_code == 201

    # The vendor resets it, and gets another token with the same secret.
    assert api.request("post", "/submissions/v1/sandbox/reset").status_code == 204
    client_of_token.cache_clear()  # Until then it is remembered for some seconds.
    assert api.get("/students").status_code == 401
    api = api_of(made)
    assert numbers(api, "schools") == [3]
    assert api.post("/students", STUDENT).status_code == 201
    assert api.get("/submissions/v1/sandbox").json()["resets"] == 1
    assert len(database_names()) == 1
    call_command("list_sandboxes")
    assert "lark  sis  organizations" in capsys.readouterr().out

    ApiClient.objects.filter(client_id=made["key"]).update(expires_at=timezone.now() - timedelta(days=8))
    call_command("housekeeping")
    assert (rows(), database_names()) == (before, [])
    call_command("drop_sandbox", "lark", "--yes", "lark")
    assert "There is no sandbox lark." in capsys.readouterr().out


def test_two_sandboxes_with_students_do_not_see_each_other():
    lark, finch = (api_of(create(name, "--shape", shape)) for name, shape in (("lark", "assessment"), ("finch", "sis")))

    assert numbers(lark, "students") == [30]
    assert finch.post("/students", STUDENT).status_code == 201
    assert numbers(lark, "students") == [30]
    assert lark.post("/students", STUDENT).status_code == 403


def failing(*_: object, **__: object) -> None:
    raise DatabaseError("out of luck")


STEPS = {
    "making the database": (databases, "create_from_template"),
    "making the data store": (creating, "create_data_store"),
    "making the client": (creating, "create_application"),
    "making the link to the secret": (creating, "make_link"),
    "noting the sandbox": (creating.audit, "log_change"),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_creation_that_fails_names_its_step_and_leaves_nothing(step, monkeypatch):
    before = rows()
    module, name = STEPS[step]
    original = getattr(module, name)

    def fails(*given: object, **options: object) -> object:
        # Of the audit log, only the last line.
        if module is creating.audit and given[0] != "sandbox created":
            return original(*given, **options)
        return failing()

    with monkeypatch.context() as patched:
        patched.setattr(module, name, fails)
        with pytest.raises(CommandError, match=f"There is no sandbox lark. It failed at {step}: out of luck"):
            create()

    assert (rows(), database_names()) == (before, [])
    assert numbers(api_of(create()), "schools") == [3]


def test_of_two_that_make_one_sandbox_the_second_one_ends_before_it_drops_anything():
    before = rows()
    being_made = "It failed at checking what is wanted: a sandbox lark is being made"
    with exclusively("sandbox lark", "default", wait_for_lock), pytest.raises(CommandError, match=being_made):
        create()

    assert rows() == before
    assert numbers(api_of(create()), "schools") == [3]


def test_documents_that_are_refused_fail_the_creation(monkeypatch):
    monkeypatch.setattr("edfi_api.features.sandboxes.databases.variant", lambda *_, **__: "refused")
    monkeypatch.setattr(
        "edfi_api.features.sandboxes.databases.organizations",
        lambda bodies, *_, **__: {
            next(each.name for each in bodies.surface.resources if each.endpoint == "students"): [{"firstName": "Mae"}]
        },
    )

    with pytest.raises(CommandError, match="It failed at loading the documents: 1 were refused"):
        create()

    assert database_names() == []


@pytest.mark.parametrize("failing_name", ["set_connection", "create_from_template"])
def test_a_reset_that_fails_leaves_everything_as_it_was(failing_name, monkeypatch):
    made = create()
    api = api_of(made)
    api.post("/students", STUDENT)
    monkeypatch.setattr(creating if failing_name == "set_connection" else databases, failing_name, failing)

    with pytest.raises(CommandError, match=r"It failed at .*: out of luck"):
        call_command("reset_sandbox", "lark")

    assert api.post("/students", STUDENT).status_code == 200
    assert len(database_names()) == 1


@pytest.mark.parametrize("failing_name", ["remove_data_store", "drop_database"])
def test_a_removal_that_fails_leaves_everything_as_it_was(failing_name, monkeypatch):
    api = api_of(create())
    before = rows()
    with monkeypatch.context() as patched:
        patched.setattr(creating if failing_name == "remove_data_store" else databases, failing_name, failing)
        with pytest.raises(CommandError, match=r"It failed at .*: out of luck"):
            call_command("drop_sandbox", "lark", "--yes", "lark")

    assert rows() == before
    assert numbers(api, "schools") == [3]


def test_a_name_that_no_database_can_have_is_refused():
    for name in ("Lark", "a" * 25, "lark_1"):
        with pytest.raises(CommandError, match="A name consists of up to 24 lower-case letters"):
            create(name)


def test_other_clients_have_no_sandbox(api):
    assert api.get("/submissions/v1/sandbox").status_code == 404
    assert api.request("post", "/submissions/v1/sandbox/reset").status_code == 404


def test_a_sandbox_is_a_choice_of_the_page_that_gives_a_vendor_access(admin_client):
    page = "/admin/security/vendor/onboarding/"
    form = {"vendor_name": "Lakeside SIS", "application": "lark", "sandbox": "sis", "days": "30"}

    refused = admin_client.post(page, form | {"application": "Lark!"})
    assert "A name consists of up to 24 lower-case letters" in refused.content.decode()
    assert not Vendor.objects.filter(name="Lakeside SIS").exists()

    shown = admin_client.post(page, form)

    sandbox = Sandbox.objects.get(name="lark")
    assert sandbox.client.application.vendor.name == "Lakeside SIS"
    assert sandbox.client.created_by == "admin:admin"
    text = shown.content.decode()
    secret = shown.context["credentials"].secret
    assert secret in text
    assert "/secret#" in text
    assert numbers(api_of({"key": sandbox.client.client_id, "secret": secret}), "schools") == [3]
    call_command("drop_sandbox", "lark", "--yes", "lark")
    assert Vendor.objects.filter(name="Lakeside SIS").exists()


def test_a_server_with_qualifiers_has_the_sandbox_at_the_school_year(settings):
    settings.EDFI_API = settings.EDFI_API | {"ROUTE_QUALIFIERS": ("districtId", "schoolYear")}

    made = create("lark", "--shape", "sis", "--context", "schoolYear=2031")
    other = create("finch", "--shape", "sis")

    assert made["address"] == "http://127.0.0.1:8000/lark/2031"
    assert other["address"].startswith("http://127.0.0.1:8000/finch/20")
    with pytest.raises(CommandError, match="MEADOWLARK_ROUTE_QUALIFIERS does not name: year"):
        create("third", "--shape", "sis", "--context", "year=2031")
