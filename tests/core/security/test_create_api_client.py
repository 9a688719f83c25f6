"""`manage.py create_api_client` and the other commands for API clients."""

import json
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from edfi_api.core.security.clients import create_client, recognise_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient, Application, Vendor
from tests.support.management_commands import printed

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    return printed("create_api_client", *arguments).out


def run_for_json(*arguments: str) -> dict[str, str | None]:
    return json.loads(run(*arguments, "--format", "json"))


def test_the_printed_key_and_secret_belong_to_the_new_client() -> None:
    made = run_for_json(
        "Lakeside SIS",
        "--claim-set=SISVendor",
        "--education-organization-id=255901",
        "--education-organization-id=255902",
        "--namespace-prefix=uri://ed-fi.org",
        "--namespace-prefix=uri://lakeside.example",
    )

    client = recognise_client(Credentials(made["key"], made["secret"]))
    assert list(made) == ["name", "key", "secret"]
    assert client.name == made["name"] == "Lakeside SIS"
    assert client.application.claim_set.name == "SISVendor"
    assert client.application.education_organization_ids == [255901, 255902]
    assert client.application.vendor.namespace_prefixes == ["uri://ed-fi.org", "uri://lakeside.example"]


def test_the_claim_set_is_named_in_any_case() -> None:
    run("Demo", "--claim-set=sisVENDOR")

    application = Application.objects.get()
    assert application.claim_set_name == application.claim_set.name == "SISVendor"


def test_key_and_secret_are_printed_on_separate_lines() -> None:
    lines = run("Demo", "--claim-set=EdFiSandbox", "--key=demo-key").splitlines()

    secret = lines[2].removeprefix("secret").strip()
    assert lines[:2] == ["API client  Demo", "key         demo-key"]
    assert recognise_client(Credentials("demo-key", secret)).name == "Demo"


def test_a_name_that_is_taken_is_refused_with_the_key_of_its_client() -> None:
    run("Demo", "--claim-set=EdFiSandbox", "--key=demo-key")

    with pytest.raises(CommandError, match='There is an API client "Demo" already; its key is demo-key'):
        run("Demo", "--claim-set=SISVendor")
    assert ApiClient.objects.get().application.claim_set.name == "EdFiSandbox"


def test_keep_does_not_change_an_existing_client() -> None:
    first = run_for_json("Demo", "--claim-set=EdFiSandbox")

    second = run_for_json("Demo", "--claim-set=SISVendor", "--if-exists=keep")

    assert second == {"name": "Demo", "key": first["key"], "secret": None}
    assert recognise_client(Credentials(first["key"], first["secret"])).application.claim_set.name == "EdFiSandbox"


def test_new_secret_replaces_the_secret_of_an_existing_client() -> None:
    first = run_for_json("Demo", "--claim-set=EdFiSandbox")

    second = run_for_json("Demo", "--claim-set=EdFiSandbox", "--if-exists=new-secret")

    assert second["key"] == first["key"]
    assert recognise_client(Credentials(first["key"], first["secret"])) is None
    assert recognise_client(Credentials(second["key"], second["secret"])).name == "Demo"


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(CommandError) as refusal:
        run(
            "x" * 256,
            "--claim-set=",
            "--key=two words",
            "--education-organization-id=99999999999999999999",
            "--namespace-prefix=",
        )

    output = str(refusal.value)
    assert "name: Ensure this value has at most 255 characters" in output
    assert "claim set: This field cannot be blank." in output
    assert "key: A key consists of letters, digits, dots, underscores, tildes and hyphens." in output
    assert "education organization ids: Item 1 in the array did not validate" in output
    assert "namespace prefixes: Item 1 in the array did not validate" in output
    assert not ApiClient.objects.exists()


def test_an_organization_id_that_is_no_number_is_refused() -> None:
    with pytest.raises(CommandError, match="invalid int value: 'Lakeside'"):
        run("Demo", "--claim-set=EdFiSandbox", "--education-organization-id=Lakeside")


def test_a_claim_set_is_required() -> None:
    with pytest.raises(CommandError, match="--claim-set"):
        run("Demo")


def test_a_key_that_is_taken_is_refused() -> None:
    run("Demo", "--claim-set=EdFiSandbox", "--key=demo-key")

    with pytest.raises(CommandError, match="key: API client with this Key already exists"):
        run("Other", "--claim-set=EdFiSandbox", "--key=demo-key")


def test_create_client_reports_the_invalid_fields() -> None:
    with pytest.raises(ValidationError) as refusal:
        create_client("", "")

    assert set(refusal.value.message_dict) == {"name", "claim_set"}


def test_an_unknown_claim_set_is_refused_with_a_list_of_existing_ones() -> None:
    with pytest.raises(CommandError, match=r'claim set: There is no claim set "Sandbox"; there are: .*EdFiSandbox, '):
        run("Demo", "--claim-set=Sandbox")
    assert not Vendor.objects.exists()


def test_a_vendor_has_many_applications_and_one_set_of_prefixes() -> None:
    run("One", "--claim-set=SISVendor", "--vendor=Lakeside", "--namespace-prefix=uri://lakeside.example")
    run("Other", "--claim-set=RosterVendor", "--vendor=Lakeside")

    vendor = Vendor.objects.get()
    assert [application.name for application in vendor.applications.all()] == ["One", "Other"]
    with pytest.raises(CommandError, match='namespace prefixes: The vendor "Lakeside" has others'):
        run("Third", "--claim-set=SISVendor", "--vendor=Lakeside", "--namespace-prefix=uri://ed-fi.org")


def test_a_client_may_join_an_application() -> None:
    run("One", "--claim-set=SISVendor", "--education-organization-id=255901")

    second = run_for_json("Second", "--application=One")

    client = recognise_client(Credentials(second["key"], second["secret"]))
    assert client.application == Application.objects.get(name="One")
    with pytest.raises(CommandError, match="What the client of an --application may do is said there"):
        run("Third", "--application=One", "--claim-set=SISVendor")
    with pytest.raises(CommandError, match='There is no application "Nowhere"'):
        run("Third", "--application=Nowhere")


def test_a_client_may_expire() -> None:
    ended = run_for_json("Ended", "--claim-set=SISVendor", "--expires=2020-01-01")
    ending = run_for_json("Ending", "--claim-set=SISVendor", "--expires=2999-01-01T12:00+02:00")

    assert recognise_client(Credentials(ended["key"], ended["secret"])) is None
    assert recognise_client(Credentials(ending["key"], ending["secret"])).name == "Ending"


def test_a_secret_is_rotated_by_name_or_key() -> None:
    first = run_for_json("Demo", "--claim-set=EdFiSandbox", "--key=demo-key")

    for named in ("Demo", "demo-key"):
        out = StringIO()
        call_command("rotate_secret", named, stdout=out)
        key, secret = (line.split()[1] for line in out.getvalue().splitlines())
        assert recognise_client(Credentials(key, secret)).name == "Demo"
    assert recognise_client(Credentials(first["key"], first["secret"])) is None
    with pytest.raises(CommandError, match='There is no API client with the name or key "nobody"'):
        call_command("rotate_secret", "nobody")


def test_a_disabled_client_is_not_recognised() -> None:
    made = run_for_json("Demo", "--claim-set=EdFiSandbox")

    call_command("disable_api_client", "Demo", stdout=StringIO())

    assert recognise_client(Credentials(made["key"], made["secret"])) is None


def test_clients_are_listed() -> None:
    run("Demo", "--claim-set=EdFiSandbox", "--key=demo-key", "--namespace-prefix=uri://ed-fi.org")
    run("Old", "--claim-set=SISVendor", "--education-organization-id=255901", "--expires=2020-01-01")
    text, data = StringIO(), StringIO()
    call_command("list_api_clients", stdout=text)
    call_command("list_api_clients", "--format=json", stdout=data)

    heading, demo, old = text.getvalue().splitlines()
    assert heading.split() == list(json.loads(data.getvalue())[0])
    of_demo = ["Demo", "demo-key", "active", "-", "Demo", "Demo", "EdFiSandbox", "-", "uri://ed-fi.org", "-", "-"]
    assert demo.split() == of_demo
    assert old.split()[2:] == ["expired", "2020-01-01T00:00+00:00", "Old", "Old", "SISVendor", "255901", "-", "-", "-"]


def test_credentials_do_not_show_the_secret_when_printed() -> None:
    credentials = create_client("Demo", "EdFiSandbox")

    assert credentials.secret not in repr(credentials)


UNPRINTABLE = "has characters that cannot be printed"
NOT_A_LINE = "name: A name is one line without control characters, and not blank"
NOT_A_PREFIX = "namespace prefixes: Item 1 in the array did not validate"


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("Lakeside\nSIS", UNPRINTABLE),
        ("Lakeside\x1b[2J", UNPRINTABLE),
        ("Lakeside\u2028SIS", NOT_A_LINE),
        ("   ", NOT_A_LINE),
    ],
)
def test_a_name_is_one_line(name: str, refusal: str) -> None:
    with pytest.raises(CommandError, match=refusal):
        run(name, "--claim-set=EdFiSandbox")
    with pytest.raises(CommandError, match=refusal):
        run("Demo", "--claim-set=EdFiSandbox", f"--vendor={name}")
    assert not Vendor.objects.exists()


@pytest.mark.parametrize(
    ("prefix", "refusal"),
    [
        ("", NOT_A_PREFIX),
        (" ", NOT_A_PREFIX),
        ("uri://ed-fi.org ", NOT_A_PREFIX),
        ("\turi://ed-fi.org", UNPRINTABLE),
        ("uri://\ned-fi.org", UNPRINTABLE),
    ],
)
def test_a_namespace_prefix_is_not_blank(prefix: str, refusal: str) -> None:
    with pytest.raises(CommandError, match=refusal):
        run("Demo", "--claim-set=SISVendor", f"--namespace-prefix={prefix}")
    assert not Vendor.objects.exists()


def test_the_database_refuses_a_prefix_that_every_namespace_begins_with() -> None:
    with pytest.raises(IntegrityError, match="vendor_has_no_blank_prefix"), transaction.atomic():
        Vendor.objects.create(name="Lakeside", namespace_prefixes=["uri://ed-fi.org", ""])


def test_the_database_refuses_ids_of_organizations_below_one() -> None:
    run("Demo", "--claim-set=EdFiSandbox", "--education-organization-id=255901")
    demo = Application.objects.get()

    with pytest.raises(IntegrityError, match="education organization id below 1"), transaction.atomic():
        Application.objects.update(education_organization_ids=[255901, 0])
    with pytest.raises(IntegrityError, match="education organization id below 1"), transaction.atomic():
        Application.objects.create(vendor=demo.vendor, name="Other", education_organization_ids=[-1])
