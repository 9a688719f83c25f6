"""Bounds for the rows and blocks that each kind of query touches, independent of the machine and its load.

The bounds are far above the usual figures and far below those of a scan of the resource or the table.
"""

import orjson
import pytest
from django.db import connection

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import ApiTestClient, new_token
from tests.core.queries.place import place
from tests.core.queries.shapes import Place, counts, pages
from tests.core.queries.touched import Touched, touched
from tests.support import superuser
from tests.tools.seeding import district as district_bodies

pytestmark = pytest.mark.django_db

# Rows of a document, its index entries, and those of its references.
_ROWS_OF_AN_ANSWER = 30
# The nearest rows, twice since each has an index entry, and all rows of one school.
_ROWS_ASIDE = 9_500
# If the near rows contain few matches, as many rows are read as are estimated to fill a page.
_FOLLOWED = {"value of one in 300"}


# For the names only.
_NOWHERE = Place(schools=1, documents=1000, middle_row=1, last_row=1)


@pytest.fixture
def everything(district) -> Place:
    return place(connection.connection)


def test_the_resource_is_large_enough_for_a_scan_to_be_noticed(everything):
    assert 2 * everything.documents > 1.5 * _ROWS_ASIDE


@pytest.mark.parametrize("shape", pages(_NOWHERE))
def test_a_page_reads_only_near_rows(everything, api_without_check, shape):
    answers, cost = _repeated(api_without_check, pages(everything)[shape])

    assert cost.full_scans == 0
    assert shape in _FOLLOWED or cost.rows <= _ROWS_ASIDE + _ROWS_OF_AN_ANSWER * answers


@pytest.mark.parametrize("shape", counts(_NOWHERE))
def test_counting_and_skipping_read_only_documents_of_the_resource(everything, api_without_check, shape):
    answers, cost = _repeated(api_without_check, counts(everything)[shape])

    assert cost.full_scans == 0
    assert cost.rows <= 2 * everything.documents + _ROWS_ASIDE + _ROWS_OF_AN_ANSWER * answers


def test_a_filter_without_matches_is_answered_by_the_index(everything, api_without_check):
    """No rows beyond the near ones are read."""
    _, cost = _repeated(api_without_check, pages(everything)["no match"])

    assert cost.rows <= 4_100


@pytest.mark.parametrize("shape", ["one student", "one student and a day", "no match of frequent values"])
def test_the_documents_of_a_person_are_found_by_the_index(everything, api_without_check, shape):
    """Few documents refer to one person, so the index is used first."""
    answers, cost = _repeated(api_without_check, pages(everything)[shape])

    assert cost.rows <= 200 + _ROWS_OF_AN_ANSWER * answers


@pytest.mark.parametrize("shape", ["first school", "last school", "page by token of one school"])
def test_a_page_of_one_school_is_read_from_the_index_of_organizations(everything, api_without_check, shape):
    """In the order of the page: no other documents of the school are read."""
    answers, cost = _repeated(api_without_check, pages(everything)[shape])

    assert answers == 25
    assert cost.rows <= 100 + _ROWS_OF_AN_ANSWER * answers
    assert cost.searches_of_bodies == 0


# What PostgreSQL knows of the table. With as many resources as a data standard has it expects a single row from any
# index, and of two that cost the same it takes the younger one, here an index of pages.
STATISTICS = {
    "never analyzed": "DELETE FROM pg_statistic WHERE starelid = 'document'::regclass",
    "analyzed": "ANALYZE document",
    "many resources": "ALTER TABLE document ALTER resource_type_id SET (n_distinct = 400); ANALYZE document",
}
_VISIBLE_PAGES = "UPDATE pg_class SET relallvisible = {pages} WHERE oid = 'document'::regclass"


@pytest.mark.parametrize("visible_pages", ["relpages", "0"], ids=["vacuumed", "never vacuumed"])
@pytest.mark.parametrize("statistics", STATISTICS.values(), ids=STATISTICS)
def test_statistics_do_not_decide_whether_the_index_is_used(everything, api_without_check, statistics, visible_pages):
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX ON document (resource_type_id, id)")
        if statistics is STATISTICS["never analyzed"]:
            superuser.execute(statistics)
        else:
            cursor.execute(statistics)
        superuser.execute(_VISIBLE_PAGES.format(pages=visible_pages))
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")

    for shape in ("last school", "last school and a third", "page by token of one school"):
        answers, cost = _repeated(api_without_check, pages(everything)[shape])
        assert answers == 25
        assert cost.rows <= 500 + _ROWS_OF_AN_ANSWER * answers, shape


def test_other_filters_are_compared_with_the_first_documents_of_the_school(everything, api_without_check):
    answers, cost = _repeated(api_without_check, pages(everything)["last school and a third"])

    assert answers == 25
    assert cost.rows <= 500 + _ROWS_OF_AN_ANSWER * answers
    assert cost.searches_of_bodies == 0


def test_the_total_of_one_school_is_counted_in_the_index_of_organizations(everything, api_without_check):
    """None of its 2,600 documents is read."""
    _, cost = _repeated(api_without_check, counts(everything)["total of one school"])

    assert cost.rows <= 2 * 2_600 + 100
    assert cost.searches_of_bodies == 0


@pytest.mark.parametrize(
    ("path", "answers"),
    [
        ("/gradeLevelDescriptors?namespace=uri://ed-fi.org/GradeLevelDescriptor", 4),
        ("/schools?schoolId=770000003", 1),
        ("/students?studentUniqueId=7700000020007", 1),
        ("/contacts?contactUniqueId=7700000020007", 1),
        ("/studentSchoolAssociations?studentUniqueId=7700000020007", 1),
        ("/studentContactAssociations?contactUniqueId=7700000020007", 1),
    ],
)
def test_a_securable_value_is_found_by_the_index_of_its_column(everything, api_without_check, path, answers):
    found, cost = _repeated(api_without_check, path)

    assert found == answers
    assert cost.searches_of_bodies == 0
    assert cost.rows <= 100 + _ROWS_OF_AN_ANSWER * answers


def test_a_student_of_documents_with_an_organization_is_found_in_the_bodies(everything, api_without_check):
    """The index of students does not include most of them."""
    answers, cost = _repeated(api_without_check, pages(everything)["one student"])

    assert answers == 13
    assert cost.searches_of_bodies == 1


def test_the_pending_list_of_the_index_is_not_read(everything, api_without_check):
    """A GIN index has a pending list of new entries, which could grow to 190 blocks here."""
    path = pages(everything)["one student"]
    _, before = _repeated(api_without_check, path)
    with connection.cursor() as cursor:
        cursor.execute("""
            INSERT INTO document (document_uuid, resource_type_id, body)
            SELECT gen_random_uuid(), (SELECT min(id) FROM resource_type),
                   (SELECT jsonb_object_agg(name, md5(number::text)) FROM generate_series(1, 20) AS name)
              FROM generate_series(1, 3000) AS number
        """)

    _, cost = _repeated(api_without_check, path)

    assert cost.blocks < before.blocks + 60


@pytest.fixture
def by_relationships(everything):
    """A client of the agency of all schools."""
    grant = {"claims": ["domains/everything"], "actions": ["Read"], "strategies": ["RelationshipsWithEdOrgsAndPeople"]}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Related", "grants": [grant]}]})), by="tests")
    return ApiTestClient(new_token("Related", "Related", education_organization_ids=[district_bodies.agency_id(1)]))


@pytest.mark.parametrize("path", ["/students", "/studentSchoolAssociations"])
def test_totals_by_relationships_read_an_index_once(everything, by_relationships, api_without_check, path):
    """Students are counted in the index of paths; an enrollment at a reached school needs no other one."""
    total = int(api_without_check.get(f"{path}?totalCount=true&limit=0")["Total-Count"])

    assert int(by_relationships.get(f"{path}?totalCount=true&limit=0")["Total-Count"]) == total
    _, cost = _repeated(by_relationships, f"{path}?totalCount=true&limit=0")
    assert cost.full_scans == 0
    assert cost.rows <= 2 * total + _ROWS_ASIDE  # Other tests have left dead rows, which their indexes still have.


def test_a_frequent_value_is_found_in_the_nearest_rows_by_a_client_that_sees_most(everything, by_relationships):
    answers, cost = _repeated(by_relationships, "/studentSchoolAttendanceEvents?schoolYear=2026")

    assert answers == 25
    assert cost.searches_of_bodies == 0


@pytest.fixture
def by_view(everything):
    """A client that sees the attendance of every tenth student."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA auth")
        cursor.execute(
            "CREATE VIEW auth.StudentWithTickets AS SELECT d.document_uuid FROM document d"
            " JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name = 'Student' AND mod(d.id, 10) = 3"
        )
    grant = {"claims": ["domains/everything"], "actions": ["Read"], "strategies": ["StudentWithTickets"]}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Tickets", "grants": [grant]}]})), by="tests")
    return ApiTestClient(new_token("Tickets", "Tickets"))


def test_a_page_by_a_custom_view_looks_up_the_documents_next_to_it(everything, by_view):
    """The view is not read as a whole, but looked up for one basis document at a time."""
    answers, cost = _repeated(by_view, "/studentSchoolAttendanceEvents")

    assert answers == 25
    assert cost.full_scans == 0
    assert cost.rows <= _ROWS_ASIDE + _ROWS_OF_AN_ANSWER * answers


def _repeated(api: ApiTestClient, path: str) -> tuple[int, Touched]:
    """The number of documents, and the cost of the second of two requests."""
    answer = api.get(path)
    assert answer.status_code == 200, answer.content
    return len(answer.json()), touched(lambda: api.get(path))
