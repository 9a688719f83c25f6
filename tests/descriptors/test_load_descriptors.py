"""`manage.py load_descriptors`, of bundled values and from XML."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from edfi_api.core.models import Document
from tests.features.loading.interchange.documents import descriptor, interchange, student
from tests.support.management_commands import Printed, printed

pytestmark = pytest.mark.django_db


def run(*arguments: Path | str) -> Printed:
    return printed("load_descriptors", *arguments, no_color=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "Descriptors.xml"
    path.write_text(interchange(descriptor("Sex", "Green"), descriptor("GradeLevel", "Zero"), kind="Descriptors"))
    return path


BUNDLED = {"3.3.1-b": 3013, "4.0": 3164, "5.2": 3298, "6.1": 3297}


def test_the_bundled_values_are_all_accepted_and_the_second_load_changes_nothing(standard: str) -> None:
    assert run()[0] == f"descriptors: {BUNDLED[standard]} created, 0 updated, 0 unchanged, 0 refused\n"
    assert run()[0] == f"descriptors: 0 created, 0 updated, {BUNDLED[standard]} unchanged, 0 refused\n"


def test_values_are_read_from_xml(file: Path) -> None:
    out, _ = run(file)

    assert out == "descriptors: 2 created, 0 updated, 0 unchanged, 0 refused\n"
    body = Document.objects.get(resource_type__name="SexDescriptor").body
    assert body == {
        "codeValue": "Green",
        "shortDescription": "Green",
        "namespace": "uri://ed-fi.org/SexDescriptor",
    }


def test_a_changed_value_is_updated(file: Path) -> None:
    run(file)
    text = file.read_text().replace("<ShortDescription>Zero<", "<ShortDescription>Grade zero<")
    file.write_text(text)

    assert run(file)[0] == "descriptors: 0 created, 1 updated, 1 unchanged, 0 refused\n"


def test_a_folder_of_files(file: Path) -> None:
    assert run(file.parent)[0].startswith("descriptors: 2 created")


def test_a_refused_value_is_reported_and_fails_the_command(tmp_path: Path) -> None:
    file = tmp_path / "Sex.xml"
    file.write_text(
        interchange("<SexDescriptor><CodeValue>Green</CodeValue></SexDescriptor>", descriptor("Sex", "Red"))
    )
    err = io.StringIO()

    with pytest.raises(CommandError, match=r"^1 of 2 documents refused, more than --max-refused 0$"):
        call_command("load_descriptors", str(file), stdout=io.StringIO(), stderr=err, no_color=True)

    assert err.getvalue().startswith(f"{file}:3: SexDescriptor: $.namespace: namespace is required.")
    assert Document.objects.filter(resource_type__name="SexDescriptor").count() == 1


def test_refusals_can_be_allowed(tmp_path: Path) -> None:
    file = tmp_path / "Sex.xml"
    file.write_text(interchange("<SexDescriptor><CodeValue>Green</CodeValue></SexDescriptor>"))

    out, _ = run(file, "--max-refused=1")

    assert out == "descriptors: 0 created, 0 updated, 0 unchanged, 1 refused, see the list above\n"


def test_other_documents_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "Student.xml"
    file.write_text(interchange(student("1")))

    err = io.StringIO()

    with pytest.raises(CommandError, match=r"^1 of 1 documents refused, more than --max-refused 0$"):
        call_command("load_descriptors", str(file), stdout=io.StringIO(), stderr=err, no_color=True)

    assert err.getvalue().startswith("Student: no such descriptor in Ed-Fi ")
    assert err.getvalue().endswith(f"; 1 document left out, the first at {file}:3\n")

    assert Document.objects.filter(resource_type__name="Student").count() == 0


def test_a_missing_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nowhere does not exist"):
        run(tmp_path / "nowhere")


def test_an_empty_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no XML file in"):
        run(tmp_path)


def test_the_bundled_values_do_not_replace_edited_descriptors(standard: str) -> None:
    run()
    male = Document.objects.get(natural_key="NK#uri://ed-fi.org/SexDescriptor#Male")
    Document.objects.filter(pk=male.pk).update(body=male.body | {"description": "As on the birth certificate"})

    assert run()[0] == f"descriptors: 0 created, 0 updated, {BUNDLED[standard]} unchanged, 0 refused\n"
    assert Document.objects.get(pk=male.pk).body["description"] == "As on the birth certificate"
