"""The commands that load, list, assign and remove profiles."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from edfi_api.profiles.models import Profile, ProfileAssignment
from edfi_api.security.clients import create_client
from edfi_api.security.models import Application
from tests.profiles.definitions import profile_xml

pytestmark = pytest.mark.django_db

READ_FIRST_NAME = 'IncludeOnly:<Property name="firstName"/>'


def run(command: str, *arguments: Any) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


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
    first = run("load_profiles", file)
    again = run("load_profiles", file)
    file.write_bytes(profile_xml("Student", read="IncludeAll", name="PORTAL"))
    replaced = run("load_profiles", file)

    notice = f"{file}:1: notice: Student has no write part: clients with this profile write it without restriction.\n"
    assert first == ("+ profile Portal\n1 change.\n", notice)
    assert again == ("0 changes.\n", notice)
    assert replaced[0] == "~ profile PORTAL: Student read\n1 change.\n"
    assert list(Profile.objects.values_list("name", flat=True)) == ["PORTAL"]


def test_a_rehearsal_stores_nothing(file: Path) -> None:
    out, _ = run("load_profiles", "--dry-run", file)

    assert out == "+ profile Portal\n1 change would be made.\n"
    assert not Profile.objects.exists()


def test_an_error_in_one_file_stores_nothing_of_any(file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.xml"
    wrong.write_bytes(profile_xml("Pupil", read="IncludeAll", name="Wrong"))

    with pytest.raises(CommandError, match="1 profile refused; nothing is stored"):
        run("load_profiles", file, wrong)

    assert not Profile.objects.exists()


def test_sound_profiles_are_stored_on_request(file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.xml"
    wrong.write_bytes(profile_xml("Pupil", read="IncludeAll", name="Wrong"))

    with pytest.raises(CommandError, match="1 profile refused; the others are stored"):
        run("load_profiles", "--valid-only", file, wrong)

    assert list(Profile.objects.values_list("name", flat=True)) == ["Portal"]


def test_a_name_that_hides_nothing_is_refused_unless_it_is_accepted(file: Path) -> None:
    file.write_bytes(profile_xml("Student", read='ExcludeOnly:<Property name="nickname"/>', name="Portal"))

    with pytest.raises(CommandError, match="refused"):
        run("load_profiles", file)
    run("load_profiles", "--accept-warnings", file)

    assert Profile.objects.count() == 1


@pytest.mark.parametrize("content", [b"<Profile", b"{", b"", b"\xff\xfe"])
def test_a_file_that_is_no_definition_is_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    with pytest.raises(CommandError, match="no definition of profiles"):
        run("load_profiles", file)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        run("load_profiles", tmp_path / "missing.xml")


@pytest.mark.parametrize("form", ["xml", "json"])
def test_what_is_listed_is_read_back(file: Path, tmp_path: Path, form: str) -> None:
    run("load_profiles", file)
    before = Profile.objects.get().definition
    listed, _ = run("list_profiles", "--format", form)
    Profile.objects.all().delete()
    (tmp_path / "listed").write_text(listed)

    run("load_profiles", tmp_path / "listed")

    assert Profile.objects.get().definition == before


def test_profiles_are_listed_with_resources_and_applications(file: Path, application: Application) -> None:
    run("load_profiles", file)
    run("assign_profiles", "portal", "PORTAL")

    out, _ = run("list_profiles", "portal")

    assert out == "Portal\n  resources     Student (read)\n  applications  portal\n"
    with pytest.raises(CommandError, match="There are no profiles Other"):
        run("list_profiles", "Other")


def test_an_application_has_exactly_the_assigned_profiles(file: Path, tmp_path: Path, application: Application) -> None:
    run("load_profiles", file)
    other = tmp_path / "other.xml"
    other.write_bytes(profile_xml("School", read="IncludeAll", name="Other"))
    run("load_profiles", other)

    out, err = run("assign_profiles", "portal", "Portal", "portal")
    replaced, _ = run("assign_profiles", "portal", "Other")
    with pytest.raises(CommandError, match="There are no profiles Missing"):
        run("assign_profiles", "portal", "Missing")

    assert (out, err) == (
        "portal: Portal\n",
        "Note: Portal: Student has no write part: clients with this profile write it without restriction.\n",
    )
    assert replaced == "portal: Other\n"
    assert list(application.profiles.values_list("name", flat=True)) == ["Other"]
    assert run("assign_profiles", "portal", "--none")[0] == "portal: no profile\n"
    assert not ProfileAssignment.objects.exists()


@pytest.mark.parametrize("arguments", [["portal"], ["portal", "--none", "Portal"], ["nobody", "--none"]])
def test_assignments_need_an_application_and_names(application: Application, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        run("assign_profiles", *arguments)


def test_an_assigned_profile_is_not_removed(file: Path, application: Application) -> None:
    run("load_profiles", file)
    run("assign_profiles", "portal", "Portal")

    with pytest.raises(CommandError, match="Portal is assigned to portal"):
        run("remove_profile", "Portal")
    application.api_clients.all().delete()
    application.delete()

    assert run("remove_profile", "portal")[0] == "Removed portal.\n"
    with pytest.raises(CommandError, match="There is no profile Portal"):
        run("remove_profile", "Portal")


def test_changes_are_in_the_audit_log(file: Path, application: Application, log) -> None:
    run("load_profiles", file)
    run("assign_profiles", "portal", "Portal")
    run("assign_profiles", "portal", "--none")
    run("remove_profile", "Portal")

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

    run("load_profiles", file)

    assert json.loads(Profile.objects.get().definition) == content["profiles"][0]
