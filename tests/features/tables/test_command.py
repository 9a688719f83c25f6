"""`manage.py import_table`: the rows of a file, by a template, as an API client."""

import csv
import json
from datetime import date

import pytest
from django.core.management import CommandError

from tests.features.tables.conftest import NINTH, bodies, xlsx
from tests.support.management_commands import printed

TEMPLATE = {
    "resource": "/ed-fi/studentSchoolAssociations",
    "columns": [
        {"member": "studentReference.studentUniqueId", "column": "Student ID"},
        {"member": "schoolReference.schoolId", "value": "7"},
        {"member": "entryGradeLevelDescriptor", "column": "Grade", "values": {"freshman": "Ninth grade"}},
        {"member": "entryDate", "column": "Entered"},
    ],
}


@pytest.fixture
def template(file):
    return file("template.json", json.dumps(TEMPLATE).encode())


def test_a_spreadsheet_becomes_documents_by_a_template(school, client_with, file, template):
    client = client_with()
    path = file(
        "class.xlsx",
        xlsx(
            ["Class list"],
            [],
            ["Student ID", "Grade", "Entered", "Teacher"],
            ["0042", "Ninth grade", date(2026, 8, 20), "Ms. Wren"],
            [604822.0, 9, "2026-08-21", None],
        ),
    )

    screen = printed("import_table", path, client=client.client_id, template=str(template))

    assert bodies("StudentSchoolAssociation") == [
        {
            "studentReference": {"studentUniqueId": "0042"},
            "schoolReference": {"schoolId": 7},
            "entryGradeLevelDescriptor": NINTH,
            "entryDate": "2026-08-20",
        },
        {
            "studentReference": {"studentUniqueId": "604822"},
            "schoolReference": {"schoolId": 7},
            "entryGradeLevelDescriptor": NINTH,
            "entryDate": "2026-08-21",
        },
    ]
    assert screen.out == "2 created, 0 updated, 0 unchanged, 0 refused\n"
    repeated = printed("import_table", path, client=client.client_id, template=str(template))
    assert repeated.out == "0 created, 0 updated, 2 unchanged, 0 refused\n"


def test_what_is_wrong_is_said_at_its_cell_and_stops_nothing(school, client_with, file, template, tmp_path):
    client = client_with()
    path = file(
        "class.csv",
        b"Student ID;Entered;Grade\n0042;2026-08-20;freshman\n91002;2026-08-20;freshman\n604822;soon;Eleventh\n",
    )
    report = tmp_path / "report.csv"

    with pytest.raises(CommandError, match="2 rows of 3 refused"):
        printed("import_table", path, client=client.client_id, template=str(template), report=report)

    assert [body["studentReference"]["studentUniqueId"] for body in bodies("StudentSchoolAssociation")] == ["0042"]
    rows = list(csv.DictReader(report.read_text("utf-8-sig").splitlines()))
    assert [(row["row"], row["outcome"], row["cell"], row["column"], row["member"]) for row in rows] == [
        ("2", "created", "", "", ""),
        ("3", "refused", "A3", "Student ID", "studentReference.studentUniqueId"),
        ("4", "refused", "C4", "Grade", "entryGradeLevelDescriptor"),
    ]
    assert rows[2]["problem"] == ('No GradeLevelDescriptor is called "Eleventh". There are: Ninth grade; Tenth grade.')


def test_a_dry_run_says_what_a_load_would_and_writes_nothing(school, client_with, file, template):
    client = client_with()
    path = file("class.csv", b"Student ID,Entered,Grade\n0042,2026-08-20,Ninth grade\n0042,2026-08-20,Tenth grade\n")

    screen = printed("import_table", path, client=client.client_id, template=str(template), dry_run=True)

    assert screen.out == "1 created, 1 updated, 0 unchanged, 0 refused\ndry run: nothing was written\n"
    assert bodies("StudentSchoolAssociation") == []


def test_the_rights_are_those_of_the_client(school, client_with, file, template, tmp_path):
    """The school of the template is not one of the client's."""
    client = client_with("district", "SISVendor", 8)
    path = file("class.csv", b"Student ID,Entered,Grade\n0042,2026-08-20,Ninth grade\n")

    report = tmp_path / "report.csv"

    with pytest.raises(CommandError, match="1 row of 1 refused"):
        printed("import_table", path, client=client.client_id, template=str(template), report=report)

    assert bodies("StudentSchoolAssociation") == []
    [row] = csv.DictReader(report.read_text("utf-8-sig").splitlines())
    assert row["problem"] == (
        "No relationships have been established between the caller's education organization id claim ('8') and the"
        " resource item's 'SchoolId' value."
    )


def test_headers_that_are_paths_need_no_template(school, client_with, file):
    client = client_with()
    path = file("students.csv", b"studentUniqueId,firstName,lastSurname,birthDate,remark\n00123,Bo,Lee,1/2/2011,x\n")

    printed("import_table", path, client=client.client_id, resource="students")

    assert bodies("Student")[-1] == {
        "studentUniqueId": "00123",
        "firstName": "Bo",
        "lastSurname": "Lee",
        "birthDate": "2011-01-02",
    }


def test_rows_that_differ_in_one_array_are_one_document(school, api, client_with, file):
    client = client_with()
    template = {
        "resource": "/ed-fi/bellSchedules",
        "columns": [
            {"member": "bellScheduleName", "column": "Schedule"},
            {"member": "schoolReference.schoolId", "value": "7"},
            {"member": "classPeriods[].classPeriodReference.classPeriodName", "column": "Period"},
            {"member": "classPeriods[].classPeriodReference.schoolId", "value": "7"},
        ],
    }
    for name in ("1", "2", "3"):
        api.post("/classPeriods", {"classPeriodName": name, "schoolReference": {"schoolId": 7}})
    path = file("schedules.csv", b"Schedule,Period\nA,1\nA,2\nB,3\nB,9\n")
    kept = file("t.json", json.dumps(template).encode())

    with pytest.raises(CommandError, match="2 rows of 4 refused"):
        printed("import_table", path, client=client.client_id, template=str(kept))

    assert [
        (body["bellScheduleName"], [each["classPeriodReference"]["classPeriodName"] for each in body["classPeriods"]])
        for body in bodies("BellSchedule")
    ] == [("A", ["1", "2"])]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"columns": [{"member": "birthday", "column": "Born"}]}, "birthday: there is no member birthday."),
        ({"columns": [{"member": "birthDate", "column": "DOB"}]}, 'birthDate: there is no column "DOB".'),
        ({"columns": []}, "No member is mapped."),
        ({"resource": "/ed-fi/pupils"}, "The API offers no /ed-fi/pupils."),
        ({"version": 2}, "The template has version 2; this server reads 1."),
        ({"script": "x"}, "This is not a template: Object contains unknown field `script`."),
    ],
)
def test_a_template_that_does_not_fit_is_refused_with_the_reason(client_with, file, changes, reason):
    client = client_with()
    template = {"resource": "/ed-fi/students", "columns": [{"member": "birthDate", "column": "Born"}]} | changes
    path = file("students.csv", b"Born\n2010-02-03\n")
    kept = file("t.json", json.dumps(template).encode())

    with pytest.raises(CommandError) as refusal:
        printed("import_table", path, client=client.client_id, template=str(kept))

    assert str(refusal.value) == reason


def test_a_list_as_a_secretary_keeps_it_becomes_documents(school, client_with, file, tmp_path):
    """Titles, blank lines, a repeated header, a total, names in one cell, days before months, Windows-1252."""
    client = client_with()
    lines = [
        "Class list 7A, Lark Meadow High;;;;;",
        ";;;;;",
        "Student ID;Name;Date of birth;Sex;Phone;Phone",
        "004200;Ortiz, Mae;01.02.2012;;555-0100;",
        "004201;Müller, Jürgen Karl;15.03.2012;;;",
        ";;;;;",
        "Student ID;Name;Date of birth;Sex;Phone;Phone",
        "004202;Nguyen;02.03.2012;;;",
        "Total;3;;;;",
    ]
    path = file("class.csv", "\r\n".join(lines).encode("cp1252"))
    template = {
        "resource": "/ed-fi/students",
        "columns": [
            {"member": "studentUniqueId", "column": "Student ID"},
            {"member": "lastSurname", "column": "Name", "part": "before-comma"},
            {"member": "firstName", "column": "Name", "part": "after-comma"},
            {"member": "birthDate", "column": "Date of birth"},
        ],
    }
    kept = file("t.json", json.dumps(template).encode())
    report = tmp_path / "report.csv"

    with pytest.raises(CommandError, match="1 row of 3 refused"):
        printed("import_table", path, client=client.client_id, template=str(kept), report=report)

    assert bodies("Student")[-2:] == [
        {"studentUniqueId": "004200", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2012-02-01"},
        {"studentUniqueId": "004201", "firstName": "Jürgen Karl", "lastSurname": "Müller", "birthDate": "2012-03-15"},
    ]
    rows = list(csv.DictReader(report.read_text("utf-8-sig").splitlines()))
    assert [(row["row"], row["outcome"], row["cell"], row["problem"]) for row in rows] == [
        ("4", "created", "", ""),
        ("5", "created", "", ""),
        ("7", "left out", "", "It repeats the header, and is left out."),
        ("8", "refused", "B8", "firstName is required."),
        ("9", "left out", "", "It looks like a total below the list, and is left out."),
    ]


@pytest.mark.parametrize(
    ("cells", "dates", "read"),
    [
        (["8/9/2026", "8/20/2026"], "", ["2026-08-09", "2026-08-20"]),
        (["8/9/2026", "20/8/2026"], "", ["2026-09-08", "2026-08-20"]),
        (["8.9.2026"], "day-first", ["2026-09-08"]),
        (["8-9-2026"], "month-first", ["2026-08-09"]),
        (["2026-08-09", "20.8.2026"], "", ["2026-08-09", "2026-08-20"]),
        # A day that is none in this order is read as the API reads it.
        (["8/20/2026", "8/9/2026"], "day-first", ["2026-08-20", "2026-09-08"]),
    ],
)
def test_the_cells_of_a_column_say_whether_days_or_months_are_first(
    school, client_with_any, file, *, cells, dates, read
):
    columns = [
        {"member": "studentReference.studentUniqueId", "value": "0042"},
        {"member": "schoolReference.schoolId", "value": "Lark  meadow High"},
        {"member": "entryGradeLevelDescriptor", "value": "Ninth grade"},
        {"member": "entryDate", "column": "Entered", "dates": dates},
    ]
    template = file("t.json", json.dumps({"resource": TEMPLATE["resource"], "columns": columns}).encode())
    path = file("class.csv", "\n".join(["Entered;Teacher", *(f"{cell};Wren" for cell in cells)]).encode())

    printed("import_table", path, client=client_with_any.client_id, template=str(template))

    found = bodies("StudentSchoolAssociation")
    assert [body["entryDate"] for body in found] == read
    assert found[0]["schoolReference"] == {"schoolId": 7}


def test_an_organization_that_is_not_stored_is_named_at_its_cell(school, client_with, file, tmp_path):
    columns = [
        {"member": "classPeriodName", "column": "Period"},
        {"member": "schoolReference.schoolId", "column": "At"},
    ]
    template = file("t.json", json.dumps({"resource": "/ed-fi/classPeriods", "columns": columns}).encode())
    path = file("periods.csv", b"Period,At\n1,Lark Meadow High\n2,Lark Meadow\n3,Elsewhere\n")
    report = tmp_path / "report.csv"

    with pytest.raises(CommandError, match="2 rows of 3 refused"):
        printed("import_table", path, client=client_with().client_id, template=str(template), report=report)

    rows = list(csv.DictReader(report.read_text("utf-8-sig").splitlines()))
    assert [(row["cell"], row["problem"]) for row in rows] == [
        ("", ""),
        ("B3", 'No organization is called "Lark Meadow". There are: Lark Meadow High (7).'),
        ("B4", 'No organization is called "Elsewhere".'),
    ]


def test_an_item_with_constants_alone_is_left_out(school, client_with, file):
    columns = [
        {"member": "studentUniqueId", "column": "ID"},
        {"member": "firstName", "column": "First"},
        {"member": "lastSurname", "value": "Ortiz"},
        {"member": "birthDate", "value": "2010-02-03"},
        {"member": "personReference.personId", "column": "Person"},
        {"member": "personReference.sourceSystemDescriptor", "value": "uri://ed-fi.org/SourceSystemDescriptor#State"},
    ]
    template = file("t.json", json.dumps({"resource": "/ed-fi/students", "columns": columns}).encode())
    path = file("students.csv", b"ID,First,Person\n1,Mae,\n")

    printed("import_table", path, client=client_with().client_id, template=str(template))

    assert bodies("Student")[-1] == {
        "studentUniqueId": "1",
        "firstName": "Mae",
        "lastSurname": "Ortiz",
        "birthDate": "2010-02-03",
    }
