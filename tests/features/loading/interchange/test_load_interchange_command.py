"""`manage.py load_interchange`: output, stored documents and status."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from tests.features.loading.interchange.conftest import Stored, Write
from tests.features.loading.interchange.documents import (
    SCHOOL_DESCRIPTORS,
    interchange,
    location,
    school,
    school_reference,
    student,
)
from tests.support.management_commands import Printed, printed

pytestmark = pytest.mark.django_db


NAMES = {"3.3.1-b": "Ed-Fi 3.3.1-b", "4.0": "Ed-Fi 4.0.0", "5.2": "Ed-Fi 5.2.0", "6.1": "Ed-Fi 6.1.0"}
INVALID = student("1", birth_date="yesterday")


def run(*arguments: Path | str, **options: Any) -> Printed:
    return printed("load_interchange", *arguments, no_color=True, **options)


def test_a_table_counts_by_resource(write: Write) -> None:
    file = write(interchange(student("1"), student("2"), INVALID, "<Teapot/>"))

    out, _ = run(file)

    assert out.splitlines()[:4] == [
        "             created    updated  unchanged    refused",
        "(unknown)          0          0          0          1",
        "Student            2          0          0          1",
        "total              2          0          0          2",
    ]


def test_refusals_are_listed_with_file_and_line(write: Write) -> None:
    file = write(interchange(student("2"), INVALID))

    _, err = run(file)

    assert err == f"{file}:4: Student: $.birthDate: birthDate should be of type date.\n"


def test_refusals_for_one_reason_are_counted_in_one_line(write: Write) -> None:
    file = write(interchange(student("1"), *[INVALID] * 60))

    _, err = run(file)

    reason = "Student: $.birthDate: birthDate should be of type date."
    assert err.splitlines() == [f"{file}:4: {reason}", f"{reason}; 60 documents alike, the first at {file}:4"]


def test_documents_with_the_same_unknown_elements_are_one_cause(write: Write, tmp_path: Path) -> None:
    """Whatever the lines on which those stand, and however often."""
    unknown = "<Kettle/>\n<Teapot/>\n"
    wrong = [student(str(number)).replace("<Name>", f"{unknown * (number % 3 + 1)}<Name>") for number in range(9)]

    _, err = run(write(interchange(*wrong, student("fine"))), report=tmp_path / "report.json")

    causes = json.loads((tmp_path / "report.json").read_text())["summary"]["causes"]
    assert [(cause["reason"], cause["direct"]) for cause in causes] == [
        ("unknown element Kettle; unknown element Teapot", 9)
    ]
    assert "unknown element Kettle; unknown element Teapot; 9 documents alike" in err


def test_the_last_line_says_how_much_was_refused_and_where_that_is_listed(write: Write, tmp_path: Path) -> None:
    file, report = write(interchange(student("1"), INVALID, "<Teapot/>")), tmp_path / "report.json"

    last = [run(file)[0], run(file, report=report)[0], run(write(interchange(student("1")), "fine.xml"))[0]]

    assert [re.sub(r"\d+\.\d s", "0.1 s", out.splitlines()[-1]) for out in last] == [
        "1 file in 0.1 s; 2 refused, see the list above; --report FILE has each of them",
        f"1 file in 0.1 s; 2 refused, see {report}",
        "1 file in 0.1 s",
    ]


def test_elements_of_another_standard_are_reported_once_each(write: Write, standard: str) -> None:
    file = write(interchange(*["<Teapot/>"] * 60, student("1"), "<Kettle/>"))

    out, err = run(file)

    assert err.splitlines() == [
        f"Teapot: no such resource in {NAMES[standard]}; 60 documents left out, the first at {file}:3",
        f"Kettle: no such resource in {NAMES[standard]}; 1 document left out, the first at {file}:64",
    ]
    assert out.splitlines()[1].split() == ["(unknown)", "0", "0", "0", "61"]


def test_a_load_of_which_nothing_was_accepted_fails(write: Write) -> None:
    with pytest.raises(CommandError, match=r"^nothing was accepted: 2 of 2 documents refused$"):
        run(write(interchange(INVALID, "<Teapot/>")))


def test_more_refusals_than_the_limit_fail_the_command(write: Write, stored: Stored) -> None:
    file = write(interchange(student("1"), INVALID, "<Teapot/>"))

    with pytest.raises(CommandError, match=r"^2 of 3 documents refused, more than --max-refused 1$"):
        run(file, "--max-refused=1")

    assert len(stored("Student")) == 1
    run(file, "--max-refused=2")


def test_the_report_has_all_refusals_and_the_counts(write: Write, tmp_path: Path, standard: str) -> None:
    file = write(interchange(*["<Teapot/>"] * 60, student("1")))

    run(file, report=tmp_path / "report.json")

    report = json.loads((tmp_path / "report.json").read_text())
    assert len(report["refusals"]) == 60
    assert report["refusals"][59] == {
        "file": str(file),
        "line": 62,
        "resource": None,
        "reason": f"Teapot: no such resource in {NAMES[standard]}",
        "cause": 1,
    }
    assert report["summary"]["total"] == {"created": 1, "updated": 0, "unchanged": 0, "refused": 60}
    assert report["summary"]["resources"][1] == {
        "project": "Ed-Fi",
        "resource": "Student",
        "created": 1,
        "updated": 0,
        "unchanged": 0,
        "refused": 0,
    }


def test_a_file_that_cannot_be_read_fails_the_command_after_the_rest(write: Write, stored: Stored) -> None:
    broken = write("<InterchangeStudent>", "A.xml")
    whole = write(interchange(student("1")), "B.xml")

    with pytest.raises(CommandError, match="1 of 2 files could not be read to their end"):
        run(broken, whole)

    assert len(stored("Student")) == 1


def test_strict_stops_at_the_first_refusal_and_writes_nothing_after_it(
    write: Write, tmp_path: Path, stored: Stored
) -> None:
    file = write(interchange(student("1"), "<Teapot/>", "<Kettle/>"))

    with pytest.raises(
        CommandError, match=r"^stopped at the first refusal: .*Student\.xml:4: Teapot: no such resource"
    ):
        run(file, strict=True, report=tmp_path / "report.json")

    assert stored("Student") == []
    report = json.loads((tmp_path / "report.json").read_text())
    assert ([refusal["line"] for refusal in report["refusals"]], report["summary"]) == ([4], None)


def test_a_path_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.xml does not exist"):
        run(tmp_path / "nowhere.xml")


def test_a_folder_without_xml_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no XML file in"):
        run(tmp_path)


def test_a_report_that_cannot_be_written_is_reported(write: Write, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file or directory"):
        run(write(interchange()), report=tmp_path / "no" / "folder.json")


def test_a_dry_run_reports_as_the_load_and_writes_nothing(write: Write, stored: Stored) -> None:
    file = write(interchange(student("1"), INVALID))

    dry = run(file, "--dry-run")

    assert stored("Student") == []
    wet = run(file)
    assert (dry[0].splitlines()[:-2], dry[1]) == (wet[0].splitlines()[:-1], wet[1])
    assert dry[0].splitlines()[-1] == "dry run: nothing was written"
    assert len(stored("Student")) == 1


def test_elements_of_another_standard_are_renamed(write: Write, stored: Stored) -> None:
    """Documents, values, identities and look-ups; names that the standard has stay."""
    college = school(1, attributes='id="C1"').replace("School>", "College>").replace("<School ", "<College ")
    college = college.replace("SchoolId>", "CollegeId>")
    in_college = "<CollegeReference><CollegeIdentity><CollegeId>1</CollegeId></CollegeIdentity></CollegeReference>"
    by_look_up = (
        "<CollegeReference><CollegeLookup><NameOfInstitution>School 1</NameOfInstitution></CollegeLookup>"
        "</CollegeReference>"
    )
    file = write(
        interchange(
            SCHOOL_DESCRIPTORS,
            college,
            location("A", in_college),
            location("B", '<CollegeReference ref="C1"/>'),
            location("C", by_look_up),
        )
    )

    _, err = run(file, "--rename", "colleges=schools", "--max-refused=0")

    assert err == ""
    assert [body["schoolReference"] for body in stored("Location")] == [{"schoolId": 1}] * 3


def test_what_refers_to_the_refused_is_counted_with_it(write: Write) -> None:
    nameless = school(1).replace("<NameOfInstitution>School 1</NameOfInstitution>", "")
    file = write(interchange(SCHOOL_DESCRIPTORS, nameless, *(location(room, school_reference(1)) for room in "ABC")))

    _, err = run(file)

    reason = "School: $.nameOfInstitution: nameOfInstitution is required."
    assert err.splitlines()[1:] == [
        f"{reason}; 1 document, the first at {file}:4; 3 others refused for that: 3 Location"
    ]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_progress_bar_estimates_the_time_left(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(interchange(*(student(str(number)) for number in range(100))))
    monkeypatch.setattr("sys.stderr", screen := _Terminal())
    monkeypatch.setattr("edfi_api.features.loading.files.SECONDS_BETWEEN", 0)

    run(file)

    assert re.search(r"students: +\d+%\|.*\[\d\d:\d\d<\d\d:\d\d, .*100 documents\]", screen.getvalue())


def test_documents_of_another_standard_are_mapped(write: Write, stored: Stored, standard: str) -> None:
    if standard != "5.2":
        pytest.skip("the mapping leads to 5.2")
    name = "<Name><FirstName>A</FirstName><LastSurname>B</LastSurname></Name>"
    parent = f'<Parent id="P"><ParentUniqueId>P1</ParentUniqueId>{name}</Parent>'
    family = (
        "<StudentParentAssociation>"
        "<StudentReference><StudentIdentity><StudentUniqueId>1</StudentUniqueId></StudentIdentity></StudentReference>"
        "<ParentReference %s</StudentParentAssociation>"
    )
    by_id, by_look_up = (
        family % end for end in ('ref="P"/>', "><ParentLookup><LoginId>x</LoginId></ParentLookup></ParentReference>")
    )
    file = write(interchange(by_look_up, by_id, student("1"), parent))

    out, err = run(file, mapping="3.3.1-b..5.2")

    assert stored("StudentContactAssociation") == [
        {"studentReference": {"studentUniqueId": "1"}, "contactReference": {"contactUniqueId": "P1"}}
    ]
    assert stored("Contact") == [{"contactUniqueId": "P1", "firstName": "A", "lastSurname": "B"}]
    assert out.splitlines()[-2].split() == ["total", "3", "0", "0", "1"]
    assert err == (
        f"{file}:3: StudentParentAssociation: a look-up cannot find what is stored in terms of another standard; refer "
        "by key or by id\n"
    )
