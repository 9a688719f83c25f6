"""What pages of many results read, whatever PostgreSQL's statistics say."""

import pytest
from django.contrib.auth.models import User
from django.db import connection

from edfi_api.core.queries import listing
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.features.validation import result_visibility
from edfi_api.features.validation.models import ValidationRule
from tests.conftest import ApiTestClient, new_token
from tests.core.queries.touched import Touched, touched
from tests.features.validation.conftest import student
from tests.support import superuser
from tests.support.admin_users import client_of

pytestmark = pytest.mark.django_db

RESULTS = "/validation/v1/validationResults"
_MANY = 20_000
# The results of a page with their documents, the nearest results, and what the request itself reads.
_FEW = 5_000
_RULES = """
INSERT INTO validation_rule (source, identifier, version, digest, file, language, resource, severity, category,
                             short_description, description, help_url, external_id, logic, is_active, document_types)
SELECT 'tests', identifier, '1', '', '', 'sql', 'Student', severity, 'c', 's', 'd', '', '', '', true,
       ARRAY[(SELECT id FROM resource_type WHERE name = 'Student')]
  FROM (VALUES ('FREQUENT', 'minor'), ('RARE', 'major')) AS rule (identifier, severity)
"""
# All are about one document, the last ten violate the rare rule, and one in ten is resolved.
_RESULTS = """
INSERT INTO validation_result (
    result_uuid, result_key, episode, rule_id, digest, document_uuid, resource_type_id, natural_key, organization,
    student, message, first_run, resolved_at
)
SELECT gen_random_uuid(), gen_random_uuid(), 1, v.id, sha256(n::text::bytea), d.document_uuid, d.resource_type_id,
       d.natural_key || n, 77 + mod(n, 100), 'S' || n / 10, 'message', 1, CASE WHEN mod(n, 10) = 0 THEN now() END
  FROM document d JOIN resource_type t ON t.id = d.resource_type_id AND t.name = 'Student',
       generate_series(1, %(many)s) n
  JOIN validation_rule v ON v.identifier = CASE WHEN n > %(many)s - 10 THEN 'RARE' ELSE 'FREQUENT' END
"""
_STATISTICS = {
    "never analyzed": "DELETE FROM pg_statistic WHERE starelid = 'validation_result'::regclass",
    "analyzed": "ANALYZE validation_result",
    "another distribution": "ALTER TABLE validation_result ALTER organization SET (n_distinct = 20000); ANALYZE"
    " validation_result",
}


@pytest.fixture(params=_STATISTICS)
def many(request, api) -> str:
    """The natural key of the document that all results are about, and statistics of the results."""
    student(api, "A")
    with connection.cursor() as cursor:
        cursor.execute(_RULES)
        cursor.execute(_RESULTS, {"many": _MANY})
        if request.param == "never analyzed":
            superuser.execute(_STATISTICS[request.param])
        else:
            cursor.execute(_STATISTICS[request.param])
        cursor.execute("SELECT natural_key FROM validation_result ORDER BY id LIMIT 1")
        return str(cursor.fetchone()[0])


def repeated(api: ApiTestClient, path: str) -> tuple[int, Touched]:
    """The number of results, and what the second of two requests reads."""
    answer = api.get(path)
    assert answer.status_code == 200, answer.content
    return len(answer.json()), touched(lambda: api.get(path))


def test_a_page_looks_up_the_documents_of_its_own_results_only(api, many) -> None:
    """Without an index in the order of the page, each result is read once, its document is not."""
    queries = [
        ("", 25),
        ("?offset=500", 25),
        ("?offset=9223372036854775307", 0),
        ("?limit=500", 500),
        ("?state=resolved", 25),
        ("/deletes", 25),
    ]
    for query, found in queries:
        answers, cost = repeated(api, RESULTS + query)

        assert answers == found, query
        assert found == 0 or cost.rows <= 2 * _MANY + _FEW, query


# Without statistics PostgreSQL takes the index of open results for the smallest.
@pytest.mark.parametrize("many", ["analyzed", "another distribution"], indirect=True)
def test_a_page_by_an_indexed_value_reads_few_results(api, many) -> None:
    of_document = many.replace("#", "%23")
    queries = [
        ("studentUniqueId=S1700", 9),
        ("studentUniqueId=nobody", 0),
        (f"naturalKey={of_document}", 1),
        ("naturalKey=nothing", 0),
        ("ruleIdentifier=RARE", 9),
        ("ruleIdentifier=none", 0),
        ("severityDescriptor=uri://edfixvalidation.org/SeverityDescriptor%23Major+Validation+Error", 9),
        ("educationOrganizationId=78&limit=10", 10),
    ]
    for query, found in queries:
        answers, cost = repeated(api, f"{RESULTS}?{query}")

        assert answers == found, query
        assert cost.rows <= _FEW, query


# Of each letter a result: "s" without document, which the client may see, "h" about a document that there is not.
_DOCUMENTS = """
INSERT INTO validation_result (
    result_uuid, result_key, episode, rule_id, digest, document_uuid, natural_key, organization, message, first_run
)
SELECT gen_random_uuid(), gen_random_uuid(), 1, v.id, sha256(n::text::bytea),
       CASE WHEN each = 'h' THEN gen_random_uuid() END, n, 77, 'message', 1
  FROM unnest(%s::text[]) WITH ORDINALITY AS result (each, n) JOIN validation_rule v ON v.identifier = 'RARE'
"""


@pytest.mark.parametrize(
    ("results", "query", "page"),
    [
        ("", "limit=4", ([], 1)),
        ("sss", "limit=4", ([1, 2, 3], 1)),
        ("ssssss", "limit=4", ([1, 2, 3, 4], 1)),
        ("ssssss", "limit=0", ([], 1)),
        # The nearest eight are looked at; these are all, or there is one more.
        ("hhhhhhhh", "limit=4", ([], 1)),
        ("hhhhhhhhs", "limit=4", ([9], 2)),
        ("shhhhhhhhhsss", "limit=4", ([1, 11, 12, 13], 2)),
        ("shhhhhhhhhsss", "limit=4&maxChangeVersion=9223372036854775806", ([1, 11, 12, 13], 2)),
        ("hhhhhhhhhhhh", "limit=4", ([], 2)),
        ("hhhhhssshhhhs", "limit=4", ([6, 7, 8, 13], 2)),
        # With an offset more of them are.
        ("ssssss", "limit=4&offset=4", ([5, 6], 1)),
        ("hhhhhhhhhhhhssssss", "limit=4&offset=4", ([17, 18], 1)),
        ("ssssss", "limit=4&offset=6", ([], 2)),
        ("ssssss", "limit=0&offset=6", ([], 1)),
        ("hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhsssss", "limit=4&offset=4", ([38], 2)),
        ("ssssss", "limit=4&offset=9223372036854775307", ([], 2)),
    ],
)
def test_all_results_are_read_only_if_there_are_more_than_the_nearest(
    api, monkeypatch, results: str, query: str, page: tuple[list[int], int]
) -> None:
    """`page` has the results that are found, and by how many statements."""
    expected, statements = page
    with connection.cursor() as cursor:
        cursor.execute(_RULES)
        cursor.execute(_DOCUMENTS, [list(results)])
    monkeypatch.setattr(result_visibility, "_NEAR_RESULTS", 8)
    sent: list[Sql] = []
    run = listing.execute
    monkeypatch.setattr(listing, "execute", lambda statement, using: sent.append(statement) or run(statement, using))

    answer = api.get(f"{RESULTS}?{query}")

    assert answer.status_code == 200, answer.content
    assert [int(each["naturalKey"]) for each in answer.json()] == expected
    assert len(sent) == statements
    assert ("Next-Page-Token" in answer) == (bool(expected) and "maxChangeVersion" not in query)


@pytest.mark.parametrize("many", ["analyzed"], indirect=True)
def test_a_full_page_does_not_count_the_nearest_results(api, many) -> None:
    """The organization of a school: what is read is a small part of the 2,000 nearest."""
    answers, cost = repeated(api, RESULTS)

    assert answers == 25
    assert cost.rows <= 400


@pytest.mark.parametrize("many", ["analyzed"], indirect=True)
def test_the_admin_reads_the_results_of_an_organization_only(many, db) -> None:
    steward = client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))
    with connection.cursor() as cursor:
        cursor.execute("UPDATE validation_result SET organization = 5 WHERE natural_key LIKE %s", ["%1000_"])
        cursor.execute("ANALYZE validation_result")
    path = "/admin/validation/validationresult/?organization=5"
    assert steward.get(path).status_code == 200

    assert touched(lambda: steward.get(path)).rows <= _FEW


@pytest.mark.parametrize("many", ["never analyzed"], indirect=True)
def test_pages_follow_each_other_also_where_a_client_sees_few_of_the_nearest_results(api, many) -> None:
    """A client of an organization whose results are the last ones."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE validation_result SET document_uuid = NULL")
        cursor.execute("UPDATE validation_result SET organization = 5 WHERE natural_key LIKE %s", ["%1999_"])
    school = ApiTestClient(new_token("school", "SISVendor", education_organization_ids=[5]))

    pages = [school.get(f"{RESULTS}?limit=4&offset={offset}&totalCount=true") for offset in (0, 4, 8)]

    assert [page["Total-Count"] for page in pages] == ["9", "9", "9"]
    students = [each["studentReference"]["studentUniqueId"] for page in pages for each in page.json()]
    assert students == ["S1999"] * 9
    assert len({each["id"] for page in pages for each in page.json()}) == 9


@pytest.mark.parametrize("many", ["analyzed"], indirect=True)
def test_the_page_of_a_rule_at_a_school_reads_its_results_alone(api, many) -> None:
    """The frequent rule has 200 results there."""
    steward = client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))
    rule = ValidationRule.objects.get(identifier="FREQUENT")
    page = f"/admin/validation/validationresult/rule/{rule.pk}/at/78/"
    assert steward.get(page).status_code == 200

    cost = touched(lambda: steward.get(page))

    assert cost.rows <= _FEW
