"""The command that makes API clients."""

import json
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from edfi_api.security.clients import Credentials, create_client, recognise_client
from edfi_api.security.models import ApiClient

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("create_api_client", *arguments, stdout=out)
    return out.getvalue()


def run_for_json(*arguments: str) -> dict[str, str | None]:
    return json.loads(run(*arguments, "--format", "json"))


def test_the_printed_key_and_secret_belong_to_the_new_client() -> None:
    printed = run_for_json(
        "Lakeside SIS",
        "--claim-set=SISVendor",
        "--education-organization-id=255901",
        "--education-organization-id=255902",
        "--namespace-prefix=uri://ed-fi.org",
        "--namespace-prefix=uri://lakeside.example",
    )

    client = recognise_client(Credentials(printed["key"], printed["secret"]))
    assert list(printed) == ["name", "key", "secret"]
    assert client.name == printed["name"] == "Lakeside SIS"
    assert client.claim_set_name == "SISVendor"
    assert client.education_organization_ids == [255901, 255902]
    assert client.namespace_prefixes == ["uri://ed-fi.org", "uri://lakeside.example"]


def test_the_text_shows_key_and_secret_on_lines_of_their_own() -> None:
    lines = run("Demo", "--claim-set=EdFiSandbox", "--key=demo-key").splitlines()

    secret = lines[2].removeprefix("secret").strip()
    assert lines[:2] == ["API client  Demo", "key         demo-key"]
    assert recognise_client(Credentials("demo-key", secret)).name == "Demo"


def test_a_name_that_is_taken_is_refused_with_the_key_of_its_client() -> None:
    run("Demo", "--claim-set=EdFiSandbox", "--key=demo-key")

    with pytest.raises(CommandError, match='There is an API client "Demo" already; its key is demo-key'):
        run("Demo", "--claim-set=SISVendor")
    assert ApiClient.objects.get().claim_set_name == "EdFiSandbox"


def test_keep_leaves_an_existing_client_as_it_is() -> None:
    first = run_for_json("Demo", "--claim-set=EdFiSandbox")

    second = run_for_json("Demo", "--claim-set=SISVendor", "--if-exists=keep")

    assert second == {"name": "Demo", "key": first["key"], "secret": None}
    assert recognise_client(Credentials(first["key"], first["secret"])).claim_set_name == "EdFiSandbox"


def test_new_secret_replaces_the_secret_of_an_existing_client() -> None:
    first = run_for_json("Demo", "--claim-set=EdFiSandbox")

    second = run_for_json("Demo", "--claim-set=EdFiSandbox", "--if-exists=new-secret")

    assert second["key"] == first["key"]
    assert recognise_client(Credentials(first["key"], first["secret"])) is None
    assert recognise_client(Credentials(second["key"], second["secret"])).name == "Demo"


def test_everything_wrong_is_named_at_once() -> None:
    with pytest.raises(CommandError) as refusal:
        run(
            "x" * 256,
            "--claim-set=",
            "--key=two words",
            "--education-organization-id=99999999999999999999",
            "--namespace-prefix=",
        )

    said = str(refusal.value)
    assert "name: Ensure this value has at most 255 characters" in said
    assert "claim set name: This field cannot be blank." in said
    assert "key: A key consists of letters, digits, dots, underscores, tildes and hyphens." in said
    assert "education organization ids: Item 1 in the array did not validate" in said
    assert "namespace prefixes: Item 1 in the array did not validate" in said
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


def test_create_client_tells_which_fields_are_wrong() -> None:
    with pytest.raises(ValidationError) as refusal:
        create_client("", "")

    assert set(refusal.value.message_dict) == {"name", "claim_set_name"}


def test_credentials_do_not_show_the_secret_when_printed() -> None:
    credentials = create_client("Demo", "EdFiSandbox")

    assert credentials.secret not in repr(credentials)
