"""`manage.py load_documents`: which files, which lines, and what is said of those that cannot be loaded."""

import gzip
import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
from django.core.management import CommandError

from edfi_api.core.models import Document
from edfi_api.features.loading.files import files_at


@pytest.fixture(scope="session")
def standard_name(standard):
    return {"3.3.1-b": "Ed-Fi 3.3.1-b", "4.0": "Ed-Fi 4.0.0", "5.2": "Ed-Fi 5.2.0", "6.1": "Ed-Fi 6.1.0"}[standard]


def wrapped(*candidates):
    return [{"resource": each.resource.url_path, "body": each.body} for each in candidates]


def schools():
    return sorted(Document.objects.filter(resource_type__name="School").values_list("body__schoolId", flat=True))


def row(out, resource):
    return next(line.split()[1:] for line in out.splitlines() if line.startswith(resource))


@pytest.mark.parametrize("number", ["1.00000000000000001e-100000", "1.00000000000000001e-200000000"])
def test_a_number_out_of_all_bounds_is_refused_with_its_line(load, write, district, number):
    write("schools.jsonl", district.school(1).body, b'{"schoolId": %s}' % number.encode(), district.school(2).body)

    output = load()

    assert "schools.jsonl:2: School" in output.err
    assert "has more than 100 digits, or more than 3 in its exponent" in output.err
    assert schools() == [1, 2]


def test_a_file_named_after_an_endpoint_has_a_body_on_each_line(load, write, district):
    write("schools.jsonl", district.school(1).body, district.school(2).body)

    screen = load()

    assert schools() == [1, 2]
    assert row(screen.out, "School") == ["2", "0", "0", "0"]
    assert screen.err == ""


@pytest.mark.parametrize("name", ["ed-fi.schools.jsonl", "Schools.JSONL", "schools.ndjson", "deeper/schools.jsonl.gz"])
def test_files_are_recognised_by_other_forms_of_the_resource_name(load, write, district, name):
    write(name, district.school(1).body)

    load()

    assert schools() == [1]


def test_any_other_file_has_lines_that_carry_their_resource(load, write, district):
    write("export.jsonl.gz", *wrapped(district.period("one"), district.school(1)))

    assert row(load().out, "total") == ["2", "0", "0", "0"]


def test_gzip_is_known_by_its_content_whatever_the_name(load, tmp_path, district):
    (tmp_path / "schools.jsonl").write_bytes(gzip.compress(orjson.dumps(district.school(1).body)))

    load()

    assert schools() == [1]


def test_standard_input_is_read(load, district, monkeypatch):
    text = b"\n".join(map(orjson.dumps, wrapped(district.school(1), district.school(2))))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(text))))

    load("-")

    assert schools() == [1, 2]


def test_a_resource_can_be_named_for_lines_of_any_file(load, write, district):
    load(write("dump.jsonl", district.school(1).body), resource="schools")

    assert schools() == [1]


def test_the_order_of_files_and_lines_does_not_matter(load, write, district):
    write("a.jsonl", *wrapped(district.schedule("A", "one"), district.period("one")))
    write("b.jsonl", *wrapped(district.school(1, agency=2)))
    write("localEducationAgencies.jsonl", district.agency(2, parent=3).body, district.agency(3, parent=4).body)
    write("z.jsonl", *wrapped(district.agency(4)))

    screen = load()

    assert row(screen.out, "total") == ["6", "0", "0", "0"]
    assert row(screen.out, "LocalEducationAgency") == ["3", "0", "0", "0"]


def test_a_second_run_changes_nothing(load, write, district):
    write("schools.jsonl", district.school(1).body)
    load()
    before = list(Document.objects.order_by("id").values_list("id", "change_version"))

    assert row(load().out, "School") == ["0", "0", "1", "0"]
    assert list(Document.objects.order_by("id").values_list("id", "change_version")) == before


def test_refusals_name_file_line_and_reason_and_stop_nothing(load, write, district):
    path = write(
        "schools.jsonl",
        district.school(1).body,
        b"",
        district.school(2, agency=9).body,
        b'{"schoolId": 3, "schoolId": 4}',
        b"[]",
        district.school("x").body,
        b"\xff",
        district.school(5).body,
    )

    screen = load()

    assert schools() == [1, 5]
    assert row(screen.out, "School") == ["2", "0", "0", "5"]
    told = sorted(screen.err.splitlines())
    assert told[0] == (
        f"{path}:3: School: $.localEducationAgencyReference: The referenced LocalEducationAgency item does not exist."
        ' {"localEducationAgencyId":9}'
    )
    assert told[1] == f"{path}:4: School: $.schoolId: An item with the same key has already been added."
    assert told[2].startswith(f"{path}:5: School: $.: The request body is not a valid JSON object")
    assert told[3] == f'{path}:6: School: $.schoolId: schoolId Value is "string" but should be "integer"'
    assert told[4].startswith(f"{path}:7: School: $.: The request body is not a valid JSON object")


def test_lines_without_a_known_resource_are_refused(load, write, district, standard_name):
    path = write(
        "x.jsonl", {"resource": "/ed-fi/dragons", "body": {}}, district.school(1).body, {"resource": "schools"}
    )

    told = load(expected="nothing was accepted: 3 of 3 documents refused").err.splitlines()

    assert told[0].startswith(f"{path}:2: neither the line, by {{")
    assert told[1] == f"/ed-fi/dragons: no such resource in {standard_name}; 1 document left out, the first at {path}:1"
    assert told[2].startswith("neither the line, by {")
    assert told[2].endswith(f"; 2 documents alike, the first at {path}:2")


@pytest.mark.parametrize(
    "line",
    [
        b'{"resource": "\xff", "body": {}}',
        b'{"resource": "\\ud800", "body": {}}',
        '{"resource": "/ed-fi/schools", "body": {}}'.encode("utf-16"),
        b'{"resource": "/ed-fi/schools", "body": {',
    ],
)
def test_lines_that_are_no_json_are_refused(load, write, district, line):
    path = write("x.jsonl", line, *wrapped(district.school(1)))

    assert load().err.startswith(f"{path}:1: not JSON: ")
    assert schools() == [1]


def test_what_a_line_says_does_not_reach_the_terminal_as_a_command(load, write):
    path = write("x.jsonl", {"resource": "clear\n\x1b[2J", "body": {}})

    told = load(expected="nothing was accepted: 1 of 1 documents refused").err
    assert told.startswith("clear\\n\\x1b[2J: no such resource in ")
    assert told.endswith(f"; 1 document left out, the first at {path}:1\n")


def test_a_line_longer_than_a_request_may_be_is_refused(load, write, district, settings):
    settings.EDFI_API = settings.EDFI_API | {"MAX_BODY_BYTES": 1000}
    path = write("schools.jsonl", district.school(1, webSite="x" * 5000).body, district.school(2).body)

    assert load().err == f"{path}:1: School: longer than 1000 bytes\n"
    assert schools() == [2]


def test_a_closed_standard_input_is_reported(load, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)

    with pytest.raises(CommandError, match=r"^1 of 1 files could not be read to their end$"):
        load("-")


def test_a_negative_number_of_processes_is_refused(load):
    with pytest.raises(CommandError, match="argument --processes: -1 is not between 0 and 256"):
        load("-", "--processes=-1")


def test_a_report_may_name_any_file(load, write, tmp_path):
    """Names are bytes, which need not be a text."""
    write(os.fsdecode(b"\xff.jsonl"), b"{")

    load(report=tmp_path / "report.json", expected="nothing was accepted: 1 of 1 documents refused")

    [told] = json.loads((tmp_path / "report.json").read_text())["refusals"]
    assert told["file"] == f"{tmp_path}/\\udcff.jsonl"


def test_a_broken_symbolic_link_is_reported(load, tmp_path, write, district):
    write("schools.jsonl", district.school(1).body)
    (tmp_path / "students.jsonl").symlink_to("/no/such")

    with pytest.raises(CommandError, match=r"^1 of 2 files could not be read to their end$"):
        load()

    assert schools() == [1]


def test_an_unreadable_folder_is_reported(tmp_path):
    (tmp_path / "locked").mkdir(mode=0)
    account = os.geteuid()
    if account == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError):
            files_at(tmp_path, str)
    finally:
        os.seteuid(account)


def test_a_document_whose_target_never_arrives_is_refused(load, write, district):
    path = write("localEducationAgencies.jsonl", district.agency(1, parent=2).body, district.agency(2, parent=9).body)

    screen = load(expected="nothing was accepted: 2 of 2 documents refused")

    assert row(screen.out, "LocalEducationAgency") == ["0", "0", "0", "2"]
    assert screen.err.splitlines() == [
        f"{path}:2: LocalEducationAgency: $.parentLocalEducationAgencyReference: The referenced LocalEducationAgency "
        'item does not exist. {"localEducationAgencyId":9}',
        "LocalEducationAgency: 1 document is referenced, but neither accepted from the files nor in the database, the "
        f"first at {path}:2; 2 refused for that: 2 LocalEducationAgency",
    ]


def test_documents_that_refer_to_each_other_in_a_circle_are_loaded(load, write, district):
    one, two, three = district.agency(1, parent=3), district.agency(2, parent=1), district.agency(3, parent=2)
    path = write("localEducationAgencies.jsonl", one.body, two.body, three.body, district.agency(4, parent=9).body)

    screen = load()

    assert row(screen.out, "LocalEducationAgency") == ["3", "0", "0", "1"]
    assert screen.err.startswith(f"{path}:4: LocalEducationAgency: $.parentLocalEducationAgencyReference: ")


def test_a_deferred_document_does_not_replace_a_later_version(load, write, district):
    """Of a document that the file has twice the earlier version counts as unchanged."""
    older, newer = district.agency(1, parent=2, webSite="https://old.example"), district.agency(1)
    write("localEducationAgencies.jsonl", older.body, newer.body, district.agency(2).body)

    screen = load()

    assert row(screen.out, "LocalEducationAgency") == ["2", "0", "1", "0"]
    assert Document.objects.get(natural_key="NK#localEducationAgencyId=1").body == newer.body


def test_a_load_of_which_nothing_was_accepted_fails(load, write, district):
    write("schools.jsonl", district.school("x").body, district.school("y").body)

    load(expected="nothing was accepted: 2 of 2 documents refused")


@pytest.mark.parametrize("limit", ["2", "100%", "66.7%", "99"])
def test_no_more_refusals_than_the_limit_are_no_failure(load, write, district, tmp_path, limit):
    write("schools.jsonl", district.school("x").body, district.school("y").body, district.school(1).body)

    load(tmp_path, f"--max-refused={limit}")

    assert schools() == [1]


@pytest.mark.parametrize("limit", ["1", "0", "66%", "0%"])
def test_more_refusals_than_the_limit_fail_the_command_after_the_rest_is_loaded(load, write, district, tmp_path, limit):
    write("schools.jsonl", district.school("x").body, district.school("y").body, district.school(1).body)

    load(
        tmp_path,
        f"--max-refused={limit}",
        expected=f"2 of 3 documents refused, more than --max-refused {limit}",
    )

    assert schools() == [1]


def test_the_limit_counts_even_if_nothing_was_accepted(load, write, district, tmp_path):
    write("schools.jsonl", district.school("x").body)

    load(tmp_path, "--max-refused=1")


def test_files_without_documents_are_no_failure(load, write, tmp_path):
    write("schools.jsonl")

    assert load().err == "nothing was loaded: there is no document in the files\n"
    load(tmp_path, "--max-refused=0%")


@pytest.mark.parametrize("limit", ["", "x", "-1", "1.5", "101%", "5%%", "%", ".%", "²", "1e3", "nan%"])
def test_a_limit_is_a_number_or_a_percentage(load, tmp_path, limit):
    reason = f"Error: argument --max-refused: {limit!r} is not a number of documents or a percentage such as 5%"

    load(tmp_path, f"--max-refused={limit}", expected=reason)


def test_strict_and_a_limit_contradict_each_other(load, tmp_path):
    reason = "Error: argument --max-refused: not allowed with argument --strict"

    load(tmp_path, "--strict", "--max-refused=1", expected=reason)


def test_an_unreadable_file_and_too_many_refusals_are_both_reported(load, tmp_path, write, district):
    write("schools.jsonl", district.school("x").body)
    (tmp_path / "students.jsonl").symlink_to("/no/such")

    load(
        tmp_path,
        "--max-refused=0",
        expected="1 of 2 files could not be read to their end; 1 of 1 documents refused, more than --max-refused 0",
    )


def test_resources_of_another_standard_are_reported_once_each(load, write, district, standard_name):
    first = write("ed-fi.dragons.jsonl.gz", *[{"dragonUniqueId": str(number)} for number in range(1234)])
    second = write(
        "export.jsonl",
        *wrapped(district.school(1)),
        *[{"resource": "/ed-fi/unicorns", "body": {}}] * 60,
        *wrapped(district.school(2)),
    )

    screen = load()

    assert schools() == [1, 2]
    assert screen.err.splitlines() == [
        f"ed-fi.dragons: no such resource in {standard_name}; 1,234 documents left out, the first at {first}:1",
        f"/ed-fi/unicorns: no such resource in {standard_name}; 60 documents left out, the first at {second}:2",
    ]
    assert row(screen.out, "(unknown)") == ["0", "0", "0", "1294"]


def test_bodies_in_a_file_that_names_no_resource_are_refused(load, write, district, standard_name):
    path = write("download.jsonl", district.school(1).body)

    screen = load(expected="nothing was accepted: 1 of 1 documents refused")

    assert screen.err == (
        f"download: no such resource in {standard_name}, and the lines name none; 1 document left out, the first at "
        f"{path}:1\n"
    )


def test_resources_without_end_do_not_fill_screen_or_memory(load, write):
    write("export.jsonl", *[{"resource": f"dragon{number}", "body": {}} for number in range(300)])

    told = load(expected="nothing was accepted: 300 of 300 documents refused").err.splitlines()

    assert len(told) == 101
    assert told[50] == "... and 200 more refusals"


def test_with_strict_a_document_of_no_resource_ends_the_load(load, write, standard_name, tmp_path):
    path = write("ed-fi.dragons.jsonl", {"dragonUniqueId": "1"})
    reason = f"{path}:1: ed-fi.dragons: no such resource in {standard_name}"

    screen = load(tmp_path, "--strict", expected=f"stopped at the first refusal: {reason}")

    assert screen.err == ""


def test_with_strict_the_first_refusal_ends_the_load(load, write, district):
    path = write("schools.jsonl", district.school("x").body, district.school(2).body)

    with pytest.raises(CommandError, match=f"^stopped at the first refusal: {path}:1: School: "):
        load(strict=True)


def test_the_report_has_all_refusals_and_counts(load, write, district, tmp_path):
    path = write("in/schools.jsonl", district.school("x").body, district.school(2).body)
    report = tmp_path / "report.json"

    load(path, report=report)

    told = json.loads(report.read_text())
    assert [(each["file"], each["line"], each["resource"]) for each in told["refusals"]] == [(str(path), 1, "School")]
    assert told["summary"]["total"] == {"created": 1, "updated": 0, "unchanged": 0, "refused": 1}


def test_a_damaged_file_is_read_as_far_as_it_goes_and_fails_the_command(load, tmp_path, write, district):
    write("localEducationAgencies.jsonl", district.agency(7).body)
    whole = gzip.compress(b"\n".join(orjson.dumps(district.school(number).body) for number in range(1, 2000)))
    (tmp_path / "schools.jsonl.gz").write_bytes(whole[: len(whole) // 2])

    with pytest.raises(CommandError, match=r"^1 of 2 files could not be read to their end$"):
        load()

    assert schools()[:3] == [1, 2, 3]
    assert Document.objects.filter(resource_type__name="LocalEducationAgency").exists()


@pytest.mark.parametrize(
    ("paths", "options", "complaint"),
    [
        (["/no/such"], {}, "/no/such does not exist"),
        (["{}"], {}, "no .jsonl or .csv file in {}"),
        (["-"], {"resource": "dragons"}, "the API offers no dragons"),
        (["-"], {"report": Path("/dev/full")}, "/dev/full: No space left on device"),
    ],
)
def test_errors_before_the_load_are_reported_in_one_line(load, tmp_path, paths, options, complaint):
    with pytest.raises(CommandError) as error:
        load(*(path.format(tmp_path) for path in paths), **options)

    assert str(error.value) == complaint.format(tmp_path)


def test_members_in_another_case_are_refused_or_read_and_counted_by_the_setting(load, write, district, settings):
    body = {"studentUniqueId": "1", "FirstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    write("students.jsonl", body)

    refused = load(expected="nothing was accepted: 1 of 1 documents refused")
    settings.EDFI_API = settings.EDFI_API | {"MEMBERS_IN_ANY_CASE": True}
    screen = load()

    assert "FirstName is not a member of this resource; its name is spelt firstName." in refused.err
    assert Document.objects.get(resource_type__name="Student").body["firstName"] == "Mae"
    assert "Student: $.FirstName: a member in another case, read in 1 place" in screen.out + screen.err
