"""The search of the admin by names and numbers."""

import pytest
from django.db import connections

from edfi_api.core.queries import name_index
from edfi_api.core.queries.name_index import named_resources
from edfi_api.core.storage.driver.execution import fetch_in_time
from tests.site.search.conftest import found, search
from tests.support.class_periods import PERIOD, store_school
from tests.support.databases import DOCUMENTS
from tests.support.factories import STUDENT

MAE, JOSE, ANNE, ADA = "Mae Ortiz · 604822", "José Núñez Ångström · 2", "Anne-Marie O'Brien · 3", "Ada Greene · 4"
STUDENTS = {
    MAE: {},
    JOSE: {"studentUniqueId": "2", "firstName": "José", "lastSurname": "Núñez Ångström"},
    ANNE: {"studentUniqueId": "3", "firstName": "Anne-Marie", "lastSurname": "O'Brien"},
    ADA: {"studentUniqueId": "4", "firstName": "Ada", "lastSurname": "Greene"},
    "Łukasz Øster · 5": {"studentUniqueId": "5", "firstName": "Łukasz", "lastSurname": "Øster"},
    "Ольга Йованович · 6": {"studentUniqueId": "6", "firstName": "Ольга", "lastSurname": "Йованович"},
}


@pytest.fixture
def stored(api):
    store_school(api, 7)
    for each in STUDENTS.values():
        assert api.post("/students", STUDENT | each).status_code == 201
    assert api.post("/classPeriods", PERIOD).status_code == 201


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("mae ortiz", [MAE]),
        ("Ortiz, Mae", [MAE]),
        ("ORTIZ", [MAE]),
        ("ort", [MAE]),
        ("o m", [MAE, ANNE]),
        ("greene,ada", [ADA]),
        ("Greene ; A.", [ADA]),
        ("mae greene", []),
        ("rtiz", []),
        ("jose nunez", [JOSE]),
        ("ANGSTROM José", [JOSE]),
        ("Jose\u0301", [JOSE]),
        ("obrien", [ANNE]),
        ("o\u2019brien", [ANNE]),
        ("O Brien", [ANNE]),
        ("anne marie", [ANNE]),
        ("annemarie", [ANNE]),
        ("ann-mar", [ANNE]),
        ("lukasz oster", ["Łukasz Øster · 5"]),
        ("ОЛЬГА ИОВАН", ["Ольга Йованович · 6"]),
        ("604822", [MAE]),
        ("6048", [MAE]),
        ("Ortiz 604822", [MAE]),
        ("'", []),
        ("\\ & | ! :* <->", []),
        ("ortiz'", [MAE]),
    ],
)
def test_people_are_found_by_words_in_any_form(steward, stored, text, people):
    assert sorted(found(steward, text).get("People", [])) == sorted(people)


def test_organizations_and_what_else_has_a_name_come_after_people(steward, api, stored):
    api.post("/students", STUDENT | {"studentUniqueId": "9", "firstName": "School", "lastSurname": "First"})

    assert found(steward, "schoo 7") == {"Organizations": ["School 7 · 7"]}
    assert list(found(steward, "first")) == ["People", "Others of this name"]
    assert found(steward, "first")["Others of this name"] == ["First · School 7"]


def test_numbers_of_organizations_find_them_and_then_what_has_the_number_in_its_key(steward, stored):
    assert found(steward, "7") == {"Organizations": ["School 7 · 7"], "Documents": ["First · School 7"]}


def test_keys_and_ids_find_any_document(steward, api, stored):
    [student] = api.get("/students?studentUniqueId=604822").json()

    assert found(steward, "studentUniqueId=604822") == {"Documents": [MAE]}
    assert found(steward, "NK#classPeriodName=First#schoolReference.schoolId=7") == {"Documents": ["First · School 7"]}
    assert found(steward, student["id"]) == {"Documents": [MAE]}


def test_more_than_are_shown_are_in_the_list(steward, api):
    for number in range(21):
        api.post("/students", STUDENT | {"studentUniqueId": f"8{number}"})

    page = search(steward, "ortiz, mae")

    assert page.count("<bdi>Mae Ortiz") == 20
    assert '<a href="/admin/edfi_api/document/?q=ortiz%2C+mae">' in page
    assert 'value="ortiz, mae"' in page


def test_users_find_what_they_may_see(user_with, stored):
    assert user_with("view_vendor").get("/admin/search/?q=ortiz").status_code == 200
    assert found(user_with("view_refusal"), "ortiz") == {}
    assert found(user_with("view_document"), "ortiz") == {"People": [MAE]}
    assert user_with("view_group").get("/admin/search/?q=ortiz").status_code == 403


@pytest.mark.parametrize("text", ["", " ", "x" * 5_000, "a " * 500, "=", "#", "NK#", "a=b#c", "-1", "1e400", "'\"<b>"])
def test_no_text_is_an_error(steward, stored, text):
    page = search(steward, text)

    assert "<b>" not in page


def test_the_page_says_that_names_are_not_indexed_yet(steward, stored):
    index = named_resources().index(DOCUMENTS)
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute(f"DROP INDEX {index.name}")

    page = search(steward, "ortiz")

    assert "Names are not searched yet" in page and MAE not in page
    assert found(steward, "604822") == {"Documents": [MAE]}


def test_names_are_found_by_their_index(stored):
    index = named_resources().index(DOCUMENTS)
    words = f"{index.condition} AND {index.words} @@ '''1:ortiz'':*'::tsquery"
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
        plan = "\n".join(line for (line,) in cursor.execute(f"EXPLAIN SELECT id FROM document WHERE {words}"))  # noqa: S608

    assert f"Bitmap Index Scan on {index.name}" in plan


def test_beginnings_of_too_many_names_are_said_to_be_so(steward, stored, monkeypatch):
    def as_in_a_large_database(statement, milliseconds, using):
        return None if ":*" in statement.parameters["query"] else fetch_in_time(statement, milliseconds, using)

    monkeypatch.setattr(name_index, "fetch_in_time", as_in_a_large_database)

    beginning, whole = search(steward, "ma"), search(steward, "mae")

    assert "People: more begin like this than can be listed. Another letter or name finds fewer." in beginning
    assert "Nothing was found" not in beginning
    assert found(steward, "mae")["People"] == [MAE]
    assert "People: more begin like this" in whole
