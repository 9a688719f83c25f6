"""PostgreSQL keeps the borders of a person: organizations, withheld columns, files, settings, other roles."""

from __future__ import annotations

import hmac
from hashlib import sha256

import pytest

from edfi_api.features.questions.models import Question, QuestionReader, QuestionSecret
from tests.features.sql_views.running import query

STUDENTS = "SELECT studentuniqueid FROM edfi.student ORDER BY 1"
OF_SCHOOL_11 = ["A", "D", "I", "N0", "N1", "N2", "N3", "N4", "N5", "N6", "N7", "N8"]
# What a person could try beyond one SELECT over the views, and a part of the sentence that refuses it.
ATTEMPTS = {
    "SET ROLE meadowlark": "one SELECT",
    "RESET ROLE": "one SELECT",
    "RESET SESSION AUTHORIZATION": "one SELECT",
    "SELECT 1; SELECT 2": "multiple commands",
    "SELECT 1; COMMIT; DROP TABLE document": "multiple commands",
    "SELECT 1) AS answer (c1); COMMIT; SELECT (1": "syntax error",
    "COMMIT": "one SELECT",
    "COPY (SELECT 1) TO STDOUT": "one SELECT",
    "COPY (SELECT 1) TO PROGRAM 'id'": "one SELECT",
    "DO $$ BEGIN PERFORM 1; END $$": "one SELECT",
    "EXPLAIN ANALYZE SELECT 1": "refuses",
    "ANALYZE SELECT 1": "one SELECT",
    "SHOW data_directory": "refuses",
    "INSERT INTO public.sql_reader (role) VALUES ('x')": "one SELECT",
    "INSERT INTO public.sql_reader (role) VALUES ('x') RETURNING role": "syntax error",
    "WITH gone AS (DELETE FROM public.document RETURNING id) SELECT * FROM gone": "data-modifying statements",
    "SELECT 1 INTO stolen": "one SELECT",
    "SELECT * FROM public.document": "permission denied",
    "SELECT * FROM public.sql_reader": "permission denied",
    "SELECT * FROM public.question_secret": "permission denied",
    "SELECT * FROM pseudonym.key": "permission denied",
    "SELECT client_secret FROM security_apiclient": "does not exist",
    "SELECT password FROM public.auth_user": "permission denied",
    "SELECT rolpassword FROM pg_authid": "permission denied",
    "SELECT pg_read_file('PG_VERSION')": "permission denied",
    "SELECT pg_ls_dir('.')": "permission denied",
    "SELECT lo_import('/etc/passwd')": "permission denied",
    "SELECT dblink('host=localhost', 'SELECT 1')": "does not exist",
    "SELECT set_config('role', 'meadowlark', false)": "permission denied",
    "SELECT set_config('session_authorization', 'postgres', false)": "permission denied",
    "SELECT query_to_xml('SELECT * FROM public.document', true, true, '')": "permission denied",
    "SELECT set_config('transaction_read_only', 'off', false)": "refuses",
    "SELECT * FROM edfi.student FOR UPDATE": "refuses",
    "SELECT $1": "refuses",
    "": "one SELECT",
    "/* nothing": "refuses",
}


def test_a_person_sees_the_students_of_the_organizations_that_the_operator_gave(person) -> None:
    everything, district, school, nobody = (
        person("everything", sees_everything=True),
        person("district 1", 1),
        person("school 21", 21),
        person("nobody"),
    )

    assert len(everything.rows(STUDENTS)) == 15
    assert [row[0] for row in district.rows(STUDENTS)] == sorted([*OF_SCHOOL_11, "B"])
    assert school.rows(STUDENTS) == [["C"]]
    assert nobody.rows(STUDENTS) == []


def test_a_change_of_organizations_and_of_activity_counts_for_the_next_question(person) -> None:
    asker = person("mover", 21)
    assert asker.rows(STUDENTS) == [["C"]]

    QuestionReader.objects.filter(name="mover").update(organizations=[12])

    assert asker.rows(STUDENTS) == [["B"]]


def test_whatever_a_statement_tries_it_is_one_select_of_the_persons_own(person) -> None:
    asker = person("attacker", 21)
    before = query("SELECT count(*), max(change_version) FROM document")

    said = {statement: asker.refusal("ask", statement=statement) for statement in ATTEMPTS}

    assert {statement: text for statement, text in said.items() if ATTEMPTS[statement] not in text} == {}
    assert query("SELECT count(*), max(change_version) FROM document") == before
    # What a statement sets does not outlast it.
    assert asker.rows("SELECT set_config('row_security', 'off', false), current_user = session_user") == [["off", True]]
    assert asker.rows(STUDENTS) == [["C"]]


def test_withheld_columns_are_refused_by_postgresql_and_people_have_pseudonyms(person) -> None:
    names = ("*student.*name*", "lastsurname", "firstname", "birth*", "studentuniqueid")
    asker = person("researcher", 1, withheld=names)

    assert "permission denied" in asker.refusal("ask", statement="SELECT firstname FROM edfi.student")
    assert "permission denied" in asker.refusal("ask", statement="SELECT * FROM edfi.student")
    assert "permission denied" in asker.refusal("ask", statement="SELECT s FROM edfi.student s")
    assert "permission denied" in asker.refusal("ask", statement="SELECT 1 FROM edfi.student WHERE lastsurname = 'x'")
    assert "permission denied" in asker.refusal("ask", statement="SELECT lastsurname FROM edfi_text.staff")
    described = asker("describe", name="student").text
    assert "- studentusi" in described and "- birthdate" not in described
    withheld = next(line for line in described.split("\n") if line.startswith("Withheld from you: "))
    assert {"birthdate", "firstname", "lastsurname", "studentuniqueid"} <= set(withheld.partition(": ")[2].split(", "))
    assert "nothing you may see" in asker.refusal("find", what="student", name="Smith")

    joined = "SELECT s.studentusi, p.pseudonym FROM edfi.student s JOIN pseudonym.person p ON p.usi = s.studentusi"
    first, again = (dict(map(tuple, asker.rows(f"{joined} ORDER BY {number}"))) for number in (1, 2))
    assert first == again and len(set(first.values())) == 13
    [[usi]] = query("SELECT id FROM document WHERE is_person AND student = 'A'")
    secret = QuestionSecret.current()
    assert first[usi] == hmac.new(secret, b"student A", sha256).hexdigest()[:16]
    # Only of people whom the person may see.
    assert asker.rows("SELECT count(*) FROM pseudonym.person") == [[14]]


def test_the_views_that_are_made_again_do_not_give_withheld_columns(person, current_views_again) -> None:
    asker = person("researcher", 1, withheld=("firstname",))
    assert "permission denied" in asker.refusal("ask", statement="SELECT firstname FROM edfi.student")

    current_views_again("edfi.student")

    assert "permission denied" in asker.refusal("ask", statement="SELECT firstname FROM edfi.student")
    QuestionReader.objects.filter(name="researcher").update(profile=None)
    assert len(asker.rows("SELECT firstname FROM edfi.student")) == 13


def test_of_a_person_with_counts_alone_no_small_number_is_told(person) -> None:
    asker = person("publisher", sees_everything=True, least=10)

    assert "10 or more" in asker.refusal("ask", statement=STUDENTS)
    assert "10 or more" in asker.refusal("find", what="student", name="Smith")
    answered = asker("count", view="studentschoolassociation", by=["schoolid"])

    assert answered.structured is not None
    # Schools 12 and 21 have one student each.
    assert answered.structured["contentOfDocuments"]["rows"] == [[11, 12]]
    assert "2 groups are not shown" in answered.text
    one = {"column": "schoolid", "operator": "=", "value": 12}
    hidden = asker("count", view="studentschoolassociation", where=[one]).structured
    assert hidden is not None and hidden["contentOfDocuments"]["rows"] == []
    assert Question.objects.filter(tool="count").count() == 2


def test_without_the_row_filter_only_those_who_see_everything_are_answered(person, row_filter_off) -> None:
    assert "--row-filter" in person("district 1", 1).refusal("ask", statement=STUDENTS)
    assert len(person("everything", sees_everything=True).rows(STUDENTS)) == 15


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000000) b", "expects a cost of"),
        ("SELECT generate_series(1, 1001)", "The answer has more than 1,000 rows. Ask for less: count or group"),
        ("SELECT repeat('x', 20000000)", "The answer has more than 1,000,000 bytes. Ask for less"),
        ("SELECT repeat('x', 2000) FROM generate_series(1, 900)", "The answer has more than 1,000,000 bytes."),
        (f"SELECT {', '.join(map(str, range(101)))}", "The answer has more than 100 columns."),
        (f"SELECT '{'x' * 20_000}'", "at most 20,000 characters"),
    ],
)
def test_who_asks_for_too_much_is_told_how_to_ask_less(person, statement: str, sentence: str) -> None:
    assert sentence in person("asker", 21).refusal("ask", statement=statement)


def test_a_question_ends_after_the_seconds_of_the_setting(person, settings) -> None:
    settings.EDFI_API = settings.EDFI_API | {"QUESTION_SECONDS": 1}
    waiting = "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)"

    refusal = person("asker", 21).refusal("ask", statement=waiting)

    assert refusal.startswith("It took longer than 1 seconds. Ask for less: count or group instead of listing")
