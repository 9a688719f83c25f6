"""The pages of tables in the admin: upload, columns, documents, load, report."""

import io
import json
import re
import zipfile
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from edfi_api.features.tables import jobs
from edfi_api.features.tables.jobs import worker
from edfi_api.features.tables.loading import Loader
from edfi_api.features.tables.models import LoadState, TableLoad, TableTemplate
from tests.features.tables.conftest import NINTH, bodies, xlsx

LIST = "/admin/tables/tableload/"
RESOURCE = "/ed-fi/studentSchoolAssociations"
ROWS = (
    ["Student ID", "School", "Grade Level", "Entry date"],
    ["0042", 7, "Ninth grade", "2026-08-20"],
    ["91002", 7, "Eleventh", "2026-08-20"],
)


@pytest.fixture
def office(db, monkeypatch) -> Client:
    """A user who may import tables; the worker is run by the tests."""
    monkeypatch.setattr(worker, "wake", lambda: None)
    user = User.objects.create_user("office", is_staff=True)
    names = ("import_table", "view_apiclient")
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    client = Client()
    client.force_login(user)
    return client


def upload(office: Client, client, *rows, resource: str = RESOURCE, **given):
    file = SimpleUploadedFile("class.xlsx", xlsx(*rows))
    return office.post(LIST, {"file": file, "resource": resource, "client": client.pk, **given})


def test_a_class_list_is_loaded_in_four_steps(school, office, client_with):
    client = client_with()
    to_columns = upload(office, client, *ROWS)
    load = TableLoad.objects.get()
    columns = office.get(to_columns["Location"]).content.decode()
    assert 'name="member-2" value="entryGradeLevelDescriptor"' in columns
    members = {
        "member-0": "studentReference.studentUniqueId",
        "member-1": "schoolReference.schoolId",
        "member-2": "entryGradeLevelDescriptor",
        "member-3": "entryDate",
        "values-2": "Eleventh = Ninth grade",
    }
    to_documents = office.post(to_columns["Location"], members)
    preview = office.get(to_documents["Location"]).content.decode()
    assert "1 would be refused." in preview
    assert bodies("StudentSchoolAssociation") == []

    to_report = office.post(f"{LIST}{load.key}/run/", {"do": "load"})
    assert "load waiting" in office.get(to_report["Location"]).content.decode()
    assert jobs.run_next()

    report = office.get(to_report["Location"]).content.decode()
    assert bodies("StudentSchoolAssociation") == [
        {
            "studentReference": {"studentUniqueId": "0042"},
            "schoolReference": {"schoolId": 7},
            "entryGradeLevelDescriptor": NINTH,
            "entryDate": "2026-08-20",
        }
    ]
    assert "<strong>loaded</strong>" in report
    assert "A3 (Student ID):" in report
    text = b"".join(office.get(f"{LIST}{load.key}/report.csv")).decode("utf-8-sig").splitlines()
    assert text[1].startswith("2,created,")
    assert text[2].startswith("3,refused,,A3,Student ID,studentReference.studentUniqueId,")
    load.refresh_from_db()
    assert (load.content, load.created, load.refused) == (None, 1, 1)


def test_a_dry_run_keeps_the_file_and_writes_nothing(school, office, client_with):
    upload(office, client_with(), *ROWS)
    load = TableLoad.objects.get()

    office.post(f"{LIST}{load.key}/run/", {"do": "try"})
    assert jobs.run_next()

    load.refresh_from_db()
    assert (load.state, load.created, load.refused, load.total) == ("done", 1, 1, 2)
    assert load.content is not None
    assert bodies("StudentSchoolAssociation") == []


def test_a_load_whose_process_has_ended_says_so_and_can_be_started_again(school, office, client_with):
    upload(office, client_with(), *ROWS)
    load = TableLoad.objects.get()
    long_ago = load.created_at - 2 * jobs.SILENT
    TableLoad.objects.update(state=LoadState.RUNNING, is_dry_run=False, reported_at=long_ago)

    assert "The process that had it has ended." in office.get(f"{LIST}{load.key}/report/").content.decode()
    office.post(f"{LIST}{load.key}/run/", {"do": "load"})
    assert jobs.run_next()

    assert len(bodies("StudentSchoolAssociation")) == 1


def test_a_load_that_is_started_again_meanwhile_is_left_to_the_later_process(school, office, client_with, monkeypatch):
    upload(office, client_with(), *ROWS)
    load = TableLoad.objects.get()
    run = f"{LIST}{load.key}/run/"
    office.post(run, {"do": "load"})
    results = Loader.results

    def results_of_a_silent_process(loader, documents):
        for found in results(loader, documents):
            TableLoad.objects.update(reported_at=load.created_at - 2 * jobs.SILENT)
            office.post(run, {"do": "load"})
            yield found

    monkeypatch.setattr(Loader, "results", results_of_a_silent_process)
    assert jobs.run_next()
    load.refresh_from_db()
    assert (load.state, load.done, load.rows.count(), load.content is None) == (LoadState.QUEUED, 0, 0, False)

    monkeypatch.setattr(Loader, "results", results)
    assert jobs.run_next()

    load.refresh_from_db()
    assert (load.state, load.unchanged, load.refused, load.rows.count()) == (LoadState.DONE, 1, 1, 2)


def test_names_of_columns_may_be_of_any_length(office, client_with):
    names = ["Student ID", *(f"{number} {'ab cd ' * 1_500}" for number in range(249))]
    file = SimpleUploadedFile("class.csv", "\n".join([",".join(names), "0042"]).encode())

    answer = office.post(LIST, {"file": file, "resource": RESOURCE, "client": client_with().pk})

    assert answer.status_code == 302
    mapped = TableLoad.objects.get().mapping["columns"]
    assert mapped == [{"member": "studentReference.studentUniqueId", "column": "Student ID"}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"member-0": "student unique id\0"}, "or has a NUL"),
        ({"member-0": "entryDate", "part-0": "the third word"}, "entryDate: Invalid enum value"),
        ({"member-0": "entryDate", "dates-0": "9" * 5_000}, "entryDate: Invalid enum value"),
        ({"member-0": "entryDate", "values-0": "no equals sign"}, "is not of the form"),
        ({"member-999": "entryDate", f"member-{'9' * 60}": "entryDate"}, "No member is mapped."),
        ({"member-0": "entryDate", "member-0-1": "entryDate"}, "entryDate is mapped twice."),
        ({"constant-member-0": "entryDate", "constant-value-0": "9" * 5_000}, "longer than 1000 characters"),
    ],
)
def test_columns_that_cannot_be_read_are_said_on_their_page(school, office, client_with, given, said):
    upload(office, client_with(), *ROWS)

    answer = office.post(f"{LIST}{TableLoad.objects.get().key}/columns/", given)

    assert answer.status_code == 200
    assert said in unescape(answer.content.decode())


def test_the_form_of_the_widest_table_can_be_sent(school, office, client_with):
    headers = ["Student ID", "School", "Grade Level", "Entry date", *(f"Column {number}" for number in range(246))]
    upload(office, client_with(), headers, ["0042", 7, "Ninth grade", "2026-08-20", *["8/9/2026"] * 246])
    columns = f"{LIST}{TableLoad.objects.get().key}/columns/"
    page = office.get(columns).content.decode()
    fields = dict.fromkeys(re.findall(r' name="((?:member|dates|default|values|part|constant)-[^"]*)"', page), "")
    members = re.findall(r' name="(member-[^"]*)" value="([^"]+)"', page)

    answer = office.post(columns, fields | dict(members))

    assert len(fields) > 1_500
    assert (answer.status_code, answer["Location"]) == (302, columns.replace("columns", "documents"))


def test_a_column_may_be_several_members_named_in_words_and_what_is_needed_is_asked_for(school, office, client_with):
    upload(office, client_with(), ["Student ID", "School"], ["0042", 7], resource="/ed-fi/studentSectionAssociations")
    columns = f"{LIST}{TableLoad.objects.get().key}/columns/"

    page = office.get(columns).content.decode()
    office.post(
        columns,
        {
            "member-0": "student student unique id",
            "member-1": "sectionReference.schoolId",
            "member-1-1": "Section Session Name",
            "part-1-1": "first-word",
            "default-1-1": "Fall",
        },
    )

    assert "section session name" in page
    assert page.partition('id="constants"')[2].count('value="beginDate"') == 1
    assert TableLoad.objects.get().mapping["columns"] == [
        {"member": "studentReference.studentUniqueId", "column": "Student ID"},
        {"member": "sectionReference.schoolId", "column": "School"},
        {"member": "sectionReference.sessionName", "column": "School", "default": "Fall", "part": "first-word"},
    ]
    again = office.get(columns).content.decode()
    assert 'name="member-1-1" value="sectionReference.sessionName"' in again
    assert 'name="member-1-2"' in again


def test_a_template_is_kept_exported_and_used_again(school, office, client_with):
    client = client_with()
    upload(office, client, *ROWS)
    load = TableLoad.objects.get()
    office.post(f"{LIST}{load.key}/template/", {"name": "Class list"})
    kept = TableTemplate.objects.get()

    exported = json.loads(office.get(f"{LIST}templates/{kept.pk}/export/").content)
    again = upload(office, client, *ROWS, resource="", template=kept.pk)

    assert exported["resource"] == RESOURCE
    assert {"member": "entryDate", "column": "Entry date"} in exported["columns"]
    assert again.status_code == 302


def test_a_template_of_data_import_is_read_and_what_runs_scripts_is_named(office):
    leaves = {
        "studentReference": {"studentUniqueId": {"source": "column", "sourceColumn": "SID"}},
        "schoolReference": {"schoolId": {"source": "static", "value": 7}},
        "entryGradeLevelDescriptor": {"source": "lookup-table", "sourceColumn": "Grade", "sourceTable": "Grades"},
        "educationPlans": [{"educationPlanDescriptor": {"source": "no-mapping"}}],
    }
    export = {
        "title": "Enrolments",
        "template": {
            "maps": [{"name": "SSA", "resourcePath": RESOURCE, "map": json.dumps(leaves), "preprocessor": "clean.ps1"}],
            "lookups": [{"sourceTable": "Grades", "key": "9", "value": NINTH}],
            "bootstraps": [{"name": "Schools"}],
        },
    }
    file = SimpleUploadedFile("export.json", json.dumps(export).encode())

    office.post(f"{LIST}templates/", {"file": file})

    kept = TableTemplate.objects.get()
    assert kept.content["columns"] == [
        {"member": "studentReference.studentUniqueId", "column": "SID"},
        {"member": "schoolReference.schoolId", "value": "7"},
        {"member": "entryGradeLevelDescriptor", "column": "Grade", "values": {"9": NINTH}},
    ]
    assert kept.left_out == [
        "SSA: preprocessor (clean.ps1) runs a script, and is left out.",
        "bootstraps: Schools sends fixed documents, and is left out.",
    ]


def test_what_is_left_out_of_a_file_of_several_maps_is_said_once(office):
    leaves = {"studentUniqueId": {"source": "column", "sourceColumn": "SID"}}
    maps = [{"name": f"Map {number}", "resourcePath": "/ed-fi/students", "map": leaves} for number in range(101)]

    def kept(number: int) -> str:
        export = {"template": {"maps": maps[:number], "bootstraps": [{"name": "Schools"}]}}
        file = SimpleUploadedFile("export.json", json.dumps(export).encode())
        return office.post(f"{LIST}templates/", {"file": file}, follow=True).content.decode()

    said = kept(2).partition('class="messagelist"')[2].partition("</ul>")[0]
    assert said.count("Schools sends fixed documents") == 1
    assert "A file has 100 maps at most." in kept(101)
    assert TableTemplate.objects.count() == 2


def test_others_see_neither_the_pages_nor_the_table(school, office, client_with):
    upload(office, client_with(), *ROWS)
    key = TableLoad.objects.get().key
    stranger, colleague = Client(), Client()
    stranger.force_login(User.objects.create_user("stranger", is_staff=True))
    user = User.objects.create_user("colleague", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="import_table"))
    colleague.force_login(user)

    assert stranger.get(LIST).status_code == 403
    assert colleague.get(LIST).status_code == 200
    assert {colleague.get(f"{LIST}{key}/{step}/").status_code for step in ("columns", "documents", "report")} == {404}


def with_document_type(encoding: str) -> bytes:
    """A spreadsheet of which one part declares a document type, far behind its beginning."""
    found = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(xlsx(*ROWS))) as read, zipfile.ZipFile(found, "w") as written:
        for name in read.namelist():
            text = read.read(name).decode()
            if name == "xl/workbook.xml":
                text = f'<?xml version="1.0" encoding="{encoding}"?><!--{"x" * 9_000}--><!DOCTYPE workbook>' + (
                    text.partition("?>")[2] if text.startswith("<?xml") else text
                )
                written.writestr(name, text.encode(encoding))
                continue
            written.writestr(name, text)
    return found.getvalue()


def test_a_form_that_is_longer_than_the_server_receives_is_refused_before_its_file_is_kept(office, settings):
    settings.EDFI_API = settings.EDFI_API | {"TABLE_BYTES": 1_000, "MAX_BODY_BYTES": 1_000}
    longer, far_longer = (SimpleUploadedFile("a.csv", b"1\n" * size) for size in (501, 40_000))

    answers = [office.post(LIST, {"file": file}, headers={"Accept": "text/html"}) for file in (longer, far_longer)]

    assert [answer.status_code for answer in answers] == [200, 413]
    assert "It is longer than 1000\xa0bytes." in answers[0].content.decode()
    assert "The request body is larger than this server accepts." in answers[1].content.decode()


def test_xml_with_a_document_type_is_refused(office, client_with):
    client = client_with()
    for encoding in ("utf-8", "utf-16"):
        file = SimpleUploadedFile("class.xlsx", with_document_type(encoding))
        answer = office.post(LIST, {"file": file, "resource": RESOURCE, "client": client.pk})
        assert "Its XML has a document type, as spreadsheets never have." in answer.content.decode()


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04broken", b"\xd0\xcf\x11\xe0old", b"\x00\x01\x02", b"<html>\x81\x8d</html>"]
)
def test_a_file_that_cannot_be_read_is_refused_in_words(office, client_with, content):
    file = SimpleUploadedFile("class.xlsx", content)

    answer = office.post(LIST, {"file": file, "resource": RESOURCE, "client": client_with().pk})

    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    assert not TableLoad.objects.exists()
