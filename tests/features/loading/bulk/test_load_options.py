"""`--dry-run`, `--rename` and the progress bar of `load_documents`."""

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from edfi_api.core.models import Document
from edfi_api.features.loading.bulk import write_documents
from edfi_api.features.loading.bulk.dry_run import contains
from edfi_api.features.loading.renames import renames


def wrapped(*candidates):
    return [{"resource": each.resource.url_path, "body": each.body} for each in candidates]


def names(resource):
    return sorted(
        Document.objects.filter(resource_type__name=resource).values_list("body__nameOfInstitution", flat=True)
    )


def test_a_dry_run_says_what_the_load_would_and_writes_nothing(load, write, district, tmp_path):
    load(write("schools.jsonl", district.school(1).body))
    before = list(Document.objects.order_by("id").values_list("id", "change_version", "body"))
    path = write(
        "all.jsonl",
        *wrapped(district.schedule("A", "one"), district.period("one"), district.agency(11, parent=12)),
        *wrapped(
            district.agency(12, parent=11), district.school(1, nameOfInstitution="Other"), district.period("x", 9)
        ),
    )
    report = tmp_path / "report.json"

    dry = load(path, "--dry-run", report=report)

    assert list(Document.objects.order_by("id").values_list("id", "change_version", "body")) == before
    assert dry.out.splitlines()[-1] == "dry run: nothing was written"
    assert json.loads(report.read_text())["summary"]["dryRun"] is True
    wet = load(path)
    assert (dry.out.splitlines()[:-2], dry.err) == (wet.out.splitlines()[:-1], wet.err)
    assert wet.out.splitlines()[-2].split() == ["total", "4", "1", "0", "1"]


def test_a_dry_run_fails_as_the_load_would(load, write, district):
    path = write("schools.jsonl", district.school("x").body, district.school(1).body)
    reason = "1 of 2 documents refused, more than --max-refused 0"

    load(path, "--dry-run", "--max-refused=0", expected=reason)

    assert names("School") == []


def test_names_of_another_standard_are_renamed_in_files_lines_and_bodies(load, write, district):
    college = {"collegeId" if name == "schoolId" else name: value for name, value in district.school(1).body.items()}
    period = {"classPeriodName": "one", "collegeReference": {"collegeId": 1}}
    write("colleges.jsonl", college | {"nameOfCollege": "dropped"})
    write("mixed.jsonl", {"resource": "/ed-fi/colleges", "body": college | {"collegeId": 2}})
    write("classPeriods.csv", b"classPeriodName,collegeReference.collegeId", b"two,2")
    write("classPeriods.jsonl", period, b'{"collegeReference": []', b"[]")

    screen = load(load.folder, "--rename", "colleges=schools")

    assert names("School") == ["School 1", "School 1"]
    periods = Document.objects.filter(resource_type__name="ClassPeriod")
    assert sorted(periods.values_list("body__classPeriodName", "body__schoolReference__schoolId")) == [
        ("one", 1),
        ("two", 2),
    ]
    assert "$.nameOfCollege: not a member of the resource" in screen.err


def test_known_names_are_never_renamed(load, write, district):
    write("schools.jsonl", district.school(1).body | {"schoolId": 1, "collegeId": 5})

    load(load.folder, "--rename", "schools=locations", "--rename", "College=School")

    assert names("School") == ["School 1"]


@pytest.mark.parametrize(
    ("pairs", "name", "renamed"),
    [
        (["parents=contacts"], "studentParentAssociations", "studentContactAssociations"),
        (["parents=contacts"], "StudentParentAssociation", "StudentContactAssociation"),
        (["Parent=Contact"], "parents", "contacts"),
        (["parents=contacts"], "transparents", "transparents"),
        (["parents=contacts"], "parentalLeave", "parentalLeave"),
        (["parents=contacts", "contacts=parents"], "contactOfParent", "parentOfContact"),
        (["agencies=localAgencies"], "agencyId", "localAgencyId"),
    ],
)
def test_whole_words_of_names_are_renamed_in_singular_and_plural(pairs, name, renamed):
    assert renames(pairs).renamed(name) == renamed


def test_parents_of_the_older_standard_become_contacts(load, write, standard):
    if standard != "5.2":
        pytest.skip("the older standard has parents itself")
    write("parents.jsonl", {"parentUniqueId": "P1", "firstName": "Ann", "lastSurname": "Lee"})

    load(load.folder, "--rename=parents=contacts")

    assert Document.objects.get(resource_type__name="Contact").body["contactUniqueId"] == "P1"


@pytest.fixture
def older(write, standard):
    """Documents of 4.0."""
    if standard != "5.2":
        pytest.skip("the mapping leads to 5.2")
    students = {"studentUniqueId": "S1", "firstName": "Bo", "lastSurname": "Lee", "birthDate": "2015-01-01"}
    family = {"studentReference": {"studentUniqueId": "S1"}, "parentReference": {"parentUniqueId": "P1"}}
    write("a.jsonl", {"resource": "/ed-fi/studentParentAssociations", "body": family})
    write("students.jsonl", students)
    write("parents.csv", b"parentUniqueId,firstName,lastSurname,loginId", b"P1,Ann,Lee,ann", b"P2,Jo,,jo")
    write("studentLearningObjectives.jsonl", {"studentReference": {"studentUniqueId": "S1"}}, {})


def test_documents_of_another_standard_are_mapped(load, older, tmp_path):
    report = tmp_path / "report.json"

    printed = load(load.folder, "--mapping=4.0..5.2", report=report)

    bodies = dict(Document.objects.exclude(natural_key__contains="#uri").values_list("resource_type__name", "body"))
    assert bodies["Contact"] == {"contactUniqueId": "P1", "firstName": "Ann", "lastSurname": "Lee", "loginId": "ann"}
    assert bodies["StudentContactAssociation"] == {
        "studentReference": {"studentUniqueId": "S1"},
        "contactReference": {"contactUniqueId": "P1"},
    }
    assert printed.out.splitlines()[-2].split() == ["total", "3", "0", "0", "1"]
    assert printed.err.splitlines() == [
        f"{tmp_path}/parents.csv:3: Contact: $.lastSurname: lastSurname is required.",
        "lost: documents of studentLearningObjectives: 2 (StudentCompetencyObjective takes its place, and needs a "
        "competency objective)",
    ]
    assert json.loads(report.read_text())["summary"]["mapping"] == {
        "lost": [
            {
                "mapping": "4.0..5.2",
                "resource": "studentLearningObjectives",
                "path": "",
                "reason": "StudentCompetencyObjective takes its place, and needs a competency objective",
                "count": 2,
            }
        ],
        "given": [],
    }


def test_mappings_are_chained_and_a_line_that_is_no_document_is_refused(load, older, write):
    write("gradebookEntries.jsonl", b"{", b"[]")

    printed = load(load.folder, "--mapping=3.3.1-b..5.2", "--dry-run")

    assert "gradebookEntries.jsonl:1: GradebookEntry: " in printed.err
    assert "gradebookEntries.jsonl:2: GradebookEntry: " in printed.err
    assert printed.out.splitlines()[-3].split() == ["total", "3", "0", "0", "3"]


def test_a_mapping_that_cannot_be_used_ends_the_load(load, older, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('from = "4.0"\nto = "5.2"\n[resources.parent]\nto = "contacts"\n')
    known = "bundled are 3.3.1-b..4.0, 4.0..5.2, 5.2..6.1, and chains of them"

    load("-", "--mapping=4.0..7.0", expected=f"there is no mapping 4.0..7.0; {known}")
    load("-", "--mapping=5.2..6.1", expected="the mapping leads to Ed-Fi 6.1, but Ed-Fi 5.2.0 is served")
    load("-", "--mapping=4.0..5.2", "--rename=a=b", expected=_EXCLUSIVE)
    with pytest.raises(CommandError) as failed:
        call_command("load_documents", "-", f"--mapping={own}")
    assert str(failed.value).splitlines()[0] == (
        "own.toml:3: resources.parent: 4.0 has no such resource; did you mean 'parents'?"
    )


_EXCLUSIVE = "Error: argument --rename: not allowed with argument --mapping"


@pytest.mark.parametrize("pair", ["", "=", "parents", "parents=", "=contacts", "a=b=c", "a b=c", "ä=b"])
def test_a_rename_is_a_pair_of_names(load, write, pair):
    reason = "it is empty" if not pair else f"{pair!r} is not a pair such as parents=contacts"

    load("-", f"--rename={pair}", expected=f"Error: argument --rename: {reason}")


class _Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("name", ["schools.jsonl", "mixed.jsonl", "schools.jsonl.gz"])
def test_the_progress_bar_estimates_the_time_left(load, write, district, monkeypatch, name):
    schools = [district.school(number) for number in range(1, 121)]
    lines = wrapped(*schools) if name == "mixed.jsonl" else [school.body for school in schools]
    write(name, *lines)
    monkeypatch.setattr("sys.stderr", screen := _Terminal())
    monkeypatch.setattr("tqdm.std.tqdm.monitor_interval", 0)
    monkeypatch.setattr("edfi_api.features.loading.files.SECONDS_BETWEEN", 0)

    load(load.folder, "--processes=0")

    shown = screen.getvalue()
    assert re.search(r"\d+%\|.*\[\d\d:\d\d<\d\d:\d\d,", shown)
    assert "100%" in shown
    assert "120 documents" in shown


def test_no_progress_bar_is_shown_where_nobody_looks(load, write, district):
    write("schools.jsonl", district.school(1).body)

    assert load().err == ""


def versions():
    return list(Document.objects.order_by("id").values_list("id", "change_version", "body"))


def test_a_dry_run_finds_what_depends_on_earlier_documents_of_the_load(load, write, district):
    """Versions of one document, taken superclass identities, keys of targets in another case, and the stored."""
    load(write("schools.jsonl", district.school(1).body, district.school(2, webSite="https://two.example").body))
    before = versions()
    path = write(
        "all.jsonl",
        *wrapped(district.school(1), district.school(2), district.school(2), district.school(2, webSite="https://x.y")),
        *wrapped(district.agency(1), district.agency(3), district.school(3), district.school(4, agency=3)),
        *wrapped(district.agency(7, parent=8), district.agency(7), district.agency(8), district.school(5, agency=7)),
    )

    dry = load(path, "--dry-run", "--max-refused=99")

    assert versions() == before
    wet = load(path, "--max-refused=99")
    assert (dry.out.splitlines()[:-2], dry.err) == (wet.out.splitlines()[:-1], wet.err)
    assert row_of(wet.out, "School") == ["2", "1", "3", "1"]
    assert row_of(wet.out, "LocalEducationAgency") == ["3", "0", "1", "1"]


def row_of(out, resource):
    return next(line.split()[1:] for line in out.splitlines() if line.startswith(resource))


def test_a_dry_run_locks_no_document(transactional_db, write, district, capsys):
    """It ends while another session keeps everybody from writing."""
    list(write_documents([*district.descriptors(), district.school(1)]))
    path = write("schools.jsonl", district.school(1, webSite="https://x.y").body, district.school(2).body)
    other = connection.copy()
    try:
        with other.cursor() as holding, connection.cursor() as cursor:
            holding.execute("BEGIN")
            holding.execute("LOCK TABLE document, alias, reference IN SHARE ROW EXCLUSIVE MODE")
            cursor.execute("SET lock_timeout TO '2s'")

            call_command("load_documents", str(path), "--dry-run", "--processes=0")
    finally:
        other.close()
        connection.close()
    assert row_of(capsys.readouterr().out, "School") == ["1", "1", "0", "0"]
    assert names("School") == ["School 1"]


@pytest.mark.parametrize(
    ("value", "example", "is_contained"),
    [
        ({"a": 1, "b": [{"c": "x", "d": 2}]}, {"b": [{"c": "x"}]}, True),
        ({"a": 1, "b": [{"c": "x"}]}, {"b": [{"c": "y"}]}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": [1, 2]}, {"a": [2]}, True),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, False),
        ({"a": "x"}, {"a": {"b": 1}}, False),
    ],
)
def test_containment_is_that_of_jsonb(db, value, example, is_contained):
    with connection.cursor() as cursor:
        query = "SELECT %s::jsonb @> %s::jsonb"
        assert cursor.execute(query, [json.dumps(value), json.dumps(example)]).fetchone() == (is_contained,)
    assert contains(value, example) is is_contained
