"""The commands that load, list, assign and remove profiles."""

import json
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.models import Profile, ProfileAssignment
from tests.core.security.profiles.definitions import profile_xml
from tests.support.management_commands import printed

pytestmark = pytest.mark.django_db

READ_FIRST_NAME = 'IncludeOnly:<Property name="firstName"/>'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "portal.xml"
    file.write_bytes(profile_xml("Student", read=READ_FIRST_NAME, name="Portal"))
    return file


@pytest.fixture
def application(db) -> Application:
    create_client("portal", "EdFiSandbox")
    return Application.objects.get(name="portal")


def test_a_profile_is_added_then_unchanged_then_replaced(file: Path) -> None:
    first = printed("load_profiles", file)
    again = printed("load_profiles", file)
    file.write_bytes(profile_xml("Student", read="IncludeAll", name="PORTAL"))
    replaced = printed("load_profiles", file)

    notice = f"{file}:1: notice: Student has no write part: clients with this profile write it without restriction.\n"
    assert first == ("+ profile Portal\n1 change.\n", notice)
    assert again == ("0 changes.\n", notice)
    assert replaced[0] == "~ profile PORTAL: Student read\n1 change.\n"
    assert list(Profile.objects.values_list("name", flat=True)) == ["PORTAL"]


def test_a_dry_run_stores_nothing(file: Path) -> None:
    out, _ = printed("load_profiles", "--dry-run", file)

    assert out == "+ profile Portal\n1 change would be made.\n"
    assert not Profile.objects.exists()


def test_an_error_in_one_file_stores_nothing_of_any(file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.xml"
    wrong.write_bytes(profile_xml("Pupil", read="IncludeAll", name="Wrong"))

    with pytest.raises(CommandError, match="1 profile refused; nothing is stored"):
        printed("load_profiles", file, wrong)

    assert not Profile.objects.exists()


def test_sound_profiles_are_stored_on_request(file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.xml"
    wrong.write_bytes(profile_xml("Pupil", read="IncludeAll", name="Wrong"))

    with pytest.raises(CommandError, match="1 profile refused; the others are stored"):
        printed("load_profiles", "--valid-only", file, wrong)

    assert list(Profile.objects.values_list("name", flat=True)) == ["Portal"]


def test_a_name_that_hides_nothing_is_refused_unless_it_is_accepted(file: Path) -> None:
    file.write_bytes(profile_xml("Student", read='ExcludeOnly:<Property name="nickname"/>', name="Portal"))

    out = StringIO()
    with pytest.raises(CommandError, match="refused"):
        call_command("load_profiles", file, stdout=out, stderr=out)
    printed("load_profiles", "--accept-warnings", file)

    assert Profile.objects.count() == 1
    unknown = "Property 'nickname' in read content type does not exist in resource 'Student'."
    assert f"{file}:1: error: {unknown} With --accept-warnings it is a warning." in out.getvalue().splitlines()


def test_a_rule_that_hides_nothing_of_what_it_excludes_is_refused_unless_it_is_accepted(file: Path) -> None:
    file.write_text(
        '<Profile name="Portal"><Resource name="Student"><ReadContentType memberSelection="ExcludeOnly">'
        '<Collection name="otherNames" memberSelection="IncludeAll"/></ReadContentType></Resource></Profile>'
    )

    with pytest.raises(CommandError, match="refused"):
        printed("load_profiles", file)
    printed("load_profiles", "--accept-warnings", file)

    assert Profile.objects.count() == 1


@pytest.mark.parametrize("content", [b"<Profile", b"{", b"", b"\xff\xfe"])
def test_a_file_that_is_no_definition_is_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    with pytest.raises(CommandError, match="1 file refused; nothing is stored"):
        printed("load_profiles", file)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        printed("load_profiles", tmp_path / "missing.xml")


def test_findings_are_printed_behind_the_changes_with_file_and_line(file: Path, tmp_path: Path) -> None:
    wrong, broken = tmp_path / "wrong.xml", tmp_path / "broken.json"
    wrong.write_bytes(profile_xml("Pupil", read="IncludeAll", name="Wrong"))
    broken.write_text("{")
    out = StringIO()

    with pytest.raises(CommandError, match="1 profile and 1 file refused; the others are stored"):
        call_command("load_profiles", "--valid-only", broken, file, wrong, stdout=out, stderr=out)

    lines = out.getvalue().splitlines()
    assert lines[:2] == ["+ profile Portal", "1 change."]
    assert lines[2].startswith(f"{broken}: error: The file is not a definition of profiles: ")
    assert lines[3].startswith(f"{file}:1: notice: Student has no write part: ")
    assert lines[4:] == [f"{wrong}:1: error: Resource 'Pupil' does not exist in the API schema."]


def test_a_dry_run_with_errors_says_that_nothing_is_stored(file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.xml"
    wrong.write_bytes(profile_xml("Pupil", read="IncludeAll", name="Wrong"))

    with pytest.raises(CommandError, match="1 profile refused; nothing is stored"):
        printed("load_profiles", "--dry-run", "--valid-only", file, wrong)

    assert not Profile.objects.exists()


def test_a_name_in_two_files_is_refused(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    other.write_bytes(profile_xml("Student", read="IncludeAll", name="PORTAL"))
    err = StringIO()

    with pytest.raises(CommandError, match="1 profile refused; nothing is stored"):
        call_command("load_profiles", file, other, stderr=err)

    assert f"{other}:1: error: Profile 'PORTAL' is defined twice." in err.getvalue()
    assert not Profile.objects.exists()


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(file.read_bytes())))

    out, err = printed("load_profiles", "-")

    assert out == "+ profile Portal\n1 change.\n"
    assert err.startswith("-:1: notice: ")


def test_a_definition_that_cannot_be_read_is_replaced(file: Path) -> None:
    printed("load_profiles", file)
    Profile.objects.update(definition="{")
    with pytest.raises(CommandError, match="Portal: The stored text is not a definition of a profile"):
        printed("list_profiles")

    out, _ = printed("load_profiles", file)

    assert out == "~ profile Portal: Student read\n1 change.\n"


@pytest.mark.usefixtures("transactional_db")
def test_profiles_are_listed_by_name_outside_of_a_transaction(file: Path) -> None:
    printed("load_profiles", file)

    assert printed("list_profiles", "Portal")[0].startswith("Portal\n")


def test_a_client_is_created_with_profiles(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    other.write_bytes(profile_xml("School", read="IncludeAll", write="IncludeAll", name="Other"))
    printed("load_profiles", file, other)

    _, err = printed(
        "create_api_client", "portal", "--claim-set", "SISVendor", "--profile", "portal", "--profile", "Other"
    )

    assert "Note: Portal: Student has no write part: clients with this profile write it without restriction.\n" in err
    assert list(Application.objects.get().profiles.values_list("name", flat=True)) == ["Other", "Portal"]
    listed = json.loads(printed("list_api_clients", "--format", "json")[0])
    assert [each["profiles"] for each in listed] == [["Other", "Portal"]]
    header, row = printed("list_api_clients")[0].splitlines()
    assert (header.split()[-1], row.split()[-1]) == ("profiles", "Other,Portal")


def test_a_client_is_not_created_with_profiles_that_do_not_exist(file: Path, log) -> None:
    printed("load_profiles", file)

    with pytest.raises(CommandError, match="There are no profiles Missing"):
        printed(
            "create_api_client", "portal", "--claim-set", "SISVendor", "--profile", "Portal", "--profile", "Missing"
        )

    assert not Application.objects.exists()
    assert [line["event"] for line in log.of("meadowlark.audit")] == ["profile loaded"]


def test_profiles_are_those_of_an_application(file: Path, application: Application) -> None:
    printed("load_profiles", file)
    printed("assign_profiles", "portal", "Portal")

    with pytest.raises(CommandError, match="What the client of an --application may do is said there"):
        printed("create_api_client", "second", "--application", "portal", "--profile", "Portal")
    _, err = printed("create_api_client", "second", "--application", "portal")

    assert "Note: Portal: Student has no write part" in err


@pytest.mark.parametrize("form", ["xml", "json"])
def test_what_is_listed_is_read_back(file: Path, tmp_path: Path, form: str) -> None:
    printed("load_profiles", file)
    before = Profile.objects.get().definition
    listed, _ = printed("list_profiles", "--format", form)
    Profile.objects.all().delete()
    (tmp_path / "listed").write_text(listed)

    printed("load_profiles", tmp_path / "listed")

    assert Profile.objects.get().definition == before


def test_profiles_are_listed_with_resources_and_applications(file: Path, application: Application) -> None:
    printed("load_profiles", file)
    printed("assign_profiles", "portal", "PORTAL")

    out, _ = printed("list_profiles", "portal")

    assert out == "Portal\n  resources     Student (read)\n  applications  portal\n"
    with pytest.raises(CommandError, match="There are no profiles Other"):
        printed("list_profiles", "Other")


def test_an_application_has_exactly_the_assigned_profiles(file: Path, tmp_path: Path, application: Application) -> None:
    printed("load_profiles", file)
    other = tmp_path / "other.xml"
    other.write_bytes(profile_xml("School", read="IncludeAll", name="Other"))
    printed("load_profiles", other)

    out, err = printed("assign_profiles", "portal", "Portal", "portal")
    replaced, _ = printed("assign_profiles", "portal", "Other")
    with pytest.raises(CommandError, match="There are no profiles Missing"):
        printed("assign_profiles", "portal", "Missing")

    assert (out, err) == (
        "portal: Portal\n",
        "Note: Portal: Student has no write part: clients with this profile write it without restriction.\n",
    )
    assert replaced == "portal: Other\n"
    assert list(application.profiles.values_list("name", flat=True)) == ["Other"]
    assert printed("assign_profiles", "portal", "--none")[0] == "portal: no profile\n"
    assert not ProfileAssignment.objects.exists()


@pytest.mark.parametrize("arguments", [["portal"], ["portal", "--none", "Portal"], ["nobody", "--none"]])
def test_assignments_need_an_application_and_names(application: Application, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        printed("assign_profiles", *arguments)


def test_an_assigned_profile_is_not_removed(file: Path, application: Application) -> None:
    printed("load_profiles", file)
    printed("assign_profiles", "portal", "Portal")

    with pytest.raises(CommandError, match="Portal is assigned to portal"):
        printed("remove_profile", "Portal")
    application.api_clients.all().delete()
    application.delete()

    assert printed("remove_profile", "portal")[0] == "Removed portal.\n"
    with pytest.raises(CommandError, match="There is no profile Portal"):
        printed("remove_profile", "Portal")


def test_changes_are_in_the_audit_log(file: Path, application: Application, log) -> None:
    printed("load_profiles", file)
    printed("assign_profiles", "portal", "Portal")
    printed("assign_profiles", "portal", "--none")
    printed("remove_profile", "Portal")

    facts = ("event", "application", "profile", "profiles", "by")
    lines = [[line[name] for name in facts if name in line] for line in log.of("meadowlark.audit")]
    assert lines == [
        ["profile loaded", "Portal", "command"],
        ["profiles assigned", "portal", "Portal", "command"],
        ["profiles assigned", "portal", "none", "command"],
        ["profile removed", "Portal", "command"],
    ]


def test_json_is_read_as_xml_is(tmp_path: Path) -> None:
    file = tmp_path / "portal.json"
    part = {"memberSelection": "IncludeOnly", "properties": ["firstName"]}
    content = {"profiles": [{"name": "Portal", "resources": [{"name": "Student", "read": part}]}]}
    file.write_text(json.dumps(content))

    printed("load_profiles", file)

    assert json.loads(Profile.objects.get().definition) == content["profiles"][0]
