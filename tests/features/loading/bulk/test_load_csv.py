"""`manage.py load_documents` of CSV: dotted headers, types of the model, and what is wrong with a row."""

import gzip

import pytest

from edfi_api.core.models import Document
from tests.features.loading.bulk.conftest import CATEGORY, GRADE

SCHOOL = "schoolId,nameOfInstitution,educationOrganizationCategories[0].educationOrganizationCategoryDescriptor"
SCHOOL_AND_GRADE = f"{SCHOOL},gradeLevels[0].gradeLevelDescriptor"


@pytest.fixture
def csv(tmp_path):
    def write(name, *rows, text=None):
        path = tmp_path / name
        content = ("\n".join(rows) + "\n").encode() if text is None else text
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def bodies(resource):
    return list(Document.objects.filter(resource_type__name=resource).order_by("id").values_list("body", flat=True))


def test_rows_become_bodies_with_the_types_of_the_model(load, csv, district):
    csv(
        "schools.csv",
        f"{SCHOOL_AND_GRADE},webSite,addresses[0].city,addresses[1].city,localEducationAgencyReference."
        "localEducationAgencyId",
        f'0012,"North, ""old""",{CATEGORY},{GRADE},  ,,,',
    )

    screen = load()

    assert bodies("School") == [
        {
            "schoolId": 12,
            "nameOfInstitution": 'North, "old"',
            "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": CATEGORY}],
            "gradeLevels": [{"gradeLevelDescriptor": GRADE}],
        }
    ]
    assert screen.err == ""


def test_references_dates_booleans_and_extensions_of_rows(load, csv, district):
    """A text stays a text, whatever it looks like."""
    csv("schools.csv", SCHOOL_AND_GRADE, f"1,North,{CATEGORY},{GRADE}")
    csv(
        "students.csv.gz",
        "studentUniqueId,firstName,lastSurname,birthDate,multipleBirthStatus",
        "0042,true,1,8/20/2010,TRUE",
    )
    csv("ed-fi.classPeriods.csv", "classPeriodName,schoolReference.schoolId", "01, 1 ")

    load()

    assert bodies("Student") == [
        {
            "studentUniqueId": "0042",
            "firstName": "true",
            "lastSurname": "1",
            "birthDate": "2010-08-20",
            "multipleBirthStatus": True,
        }
    ]
    assert bodies("ClassPeriod") == [{"classPeriodName": "01", "schoolReference": {"schoolId": 1}}]


def test_items_without_values_are_left_out_and_the_others_keep_their_order(load, csv, district):
    schedule = "classPeriods[{}].classPeriodReference.{}"
    headers = [schedule.format(index, name) for index in (5, 1, 2) for name in ("classPeriodName", "schoolId")]
    csv("schools.csv", SCHOOL_AND_GRADE, f"1,North,{CATEGORY},{GRADE}")
    csv("classPeriods.csv", "classPeriodName,schoolReference.schoolId", "A,1", "B,1")
    csv(
        "bellSchedules.csv",
        ",".join(["bellScheduleName", "schoolReference.schoolId", *headers]),
        "S,1,B,1,A,1,,",
    )

    load()

    assert [item["classPeriodReference"]["classPeriodName"] for item in bodies("BellSchedule")[0]["classPeriods"]] == [
        "A",
        "B",
    ]


def test_wrong_headers_are_named_with_their_line_and_nothing_of_the_file_is_loaded(load, csv, district):
    headers = (
        "schoolID,schoolId,schoolId,addresses.city,addresses[0],nameOfInstitution[0],_ext.x.y,webSite.,,"
        "localEducationAgencyReference,a b,addresses[0].town"
    )
    path = csv("schools.csv", "", headers, "1,2,3")

    screen = load(expected="1 of 1 files could not be read to their end")

    assert screen.err.splitlines()[0] == (
        f"{path}:2: wrong headers: 'schoolID': the member is spelt schoolId; 'schoolId' occurs twice; "
        "'addresses.city': addresses is an array, its first item is addresses[0]; "
        "'addresses[0]': it is an object, and needs the path of a value in it; "
        "'nameOfInstitution[0]': nameOfInstitution is not an array; '_ext.x.y': there is no member _ext; "
        "'webSite.': it is not a path such as schoolReference.schoolId or addresses[0].city; "
        "'localEducationAgencyReference': it is an object, and needs the path of a value in it; "
        "'a b': it is not a path such as schoolReference.schoolId or addresses[0].city; "
        "'addresses[0].town': there is no member town in addresses[0]"
    )
    assert bodies("School") == []


@pytest.mark.parametrize("separator", [";", "\t"])
def test_columns_may_be_separated_by_semicolons_or_tabs(load, csv, district, separator):
    rows = (SCHOOL_AND_GRADE, f'1,"North, old",{CATEGORY},{GRADE}')
    csv("schools.csv", *(row.replace(",", separator).replace(f"{separator} ", ", ") for row in rows))

    load()

    assert [body["nameOfInstitution"] for body in bodies("School")] == ["North, old"]


def test_rows_that_do_not_fit_are_refused_with_their_line_and_stop_nothing(load, csv, district):
    path = csv(
        "schools.csv",
        text="\n".join(
            [
                f"\ufeff{SCHOOL_AND_GRADE},",
                f'1,"two\nlines",{CATEGORY},{GRADE},',
                "2,too,few",
                f"3,too many,{CATEGORY},{GRADE},,",
                f"4,a value,{CATEGORY},{GRADE},x",
                ",,,,",
                f"x,no number,{CATEGORY},{GRADE},",
                f"5,\udcff,{CATEGORY},{GRADE},",
                f"6,fine,{CATEGORY},{GRADE},",
            ]
        ).encode(errors="surrogateescape"),
    )

    screen = load()

    assert [body["schoolId"] for body in bodies("School")] == [1, 6]
    assert sorted(screen.err.splitlines()) == [
        f"{path}:4: School: it has 3 cells, but there are 5 headers",
        f"{path}:5: School: it has 6 cells, but there are 5 headers",
        f"{path}:6: School: column 5 has a value but no header",
        f'{path}:8: School: $.schoolId: schoolId Value is "string" but should be "integer"',
        f"{path}:9: School: it is not UTF-8",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"schoolId\n1\n" + b"x" * 5000 + b"\n2\n", "3: longer than 1000 bytes"),
        (b'schoolId\n1\n"' + b"x\n" * 100_000, "3: not CSV: field larger than field limit (131072)"),
    ],
)
def test_a_file_is_read_to_where_it_is_no_csv(load, csv, settings, text, reason):
    settings.EDFI_API = settings.EDFI_API | {"MAX_BODY_BYTES": 1000}
    path = csv("schools.csv", text=text)

    screen = load(
        expected="1 of 1 files could not be read to their end; nothing was accepted: 1 of 1 documents refused"
    )

    assert f"{path}:{reason}" in screen.err


def test_a_damaged_gzip_is_reported(load, csv, district, tmp_path):
    path = csv("schools.csv.gz", SCHOOL_AND_GRADE, *(f"{number},N,{CATEGORY},{GRADE}" for number in range(600)))
    path.write_bytes(path.read_bytes()[:-100])

    screen = load(expected="1 of 1 files could not be read to their end")

    assert "damaged gzip" in screen.err
    assert len(bodies("School")) > 50


def test_the_resource_of_a_csv_file_has_to_be_known(load, csv, district):
    path = csv("export.csv", SCHOOL_AND_GRADE, f"1,North,{CATEGORY},{GRADE}")

    screen = load(path, expected="1 of 1 files could not be read to their end")
    assert "the name of the file is not that of a resource" in screen.err

    load(path, resource="schools")
    assert len(bodies("School")) == 1


def test_headers_are_read_in_any_case_where_members_are(load, csv, district, settings):
    settings.EDFI_API = settings.EDFI_API | {"MEMBERS_IN_ANY_CASE": True}
    csv("students.csv", "StudentUniqueID,FIRSTNAME,lastSurname,birthDate", "1,Mae,Ortiz,2010-02-03")

    load()

    assert bodies("Student") == [
        {"studentUniqueId": "1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    ]


def test_blanks_count_in_texts_alone(load, csv, district):
    """As in requests: a text is trimmed nowhere, and a key with blanks around it refused."""
    path = csv(
        "students.csv",
        "studentUniqueId,firstName,lastSurname,birthDate,multipleBirthStatus,middleName",
        "1,Mae , Ortiz,2010-2-3 , true,\u200b",
        "2 ,Mae,Ortiz,2010-02-03,,",
    )

    screen = load()

    assert bodies("Student") == [
        {
            "studentUniqueId": "1",
            "firstName": "Mae ",
            "lastSurname": " Ortiz",
            "birthDate": "2010-02-03",
            "multipleBirthStatus": True,
        }
    ]
    assert (
        f"{path}:3: Student: $.studentUniqueId: studentUniqueId cannot contain leading or trailing spaces" in screen.err
    )
    assert "Student: $.birthDate: not in the form in which it is stored, read in 1 place" in screen.out + screen.err
