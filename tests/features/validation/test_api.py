"""`/validation/v1`: the form of its answers, and that no client learns of documents that it may not read."""

import re
from typing import Any

import orjson
import pytest
from django.db import connection, transaction

from edfi_api.core.queries import listing
from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import assign_profiles, read_definitions, store_profiles
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from tests.conftest import ApiTestClient, new_token
from tests.core.security.profiles.definitions import profile_xml
from tests.features.validation.api import RESULTS, RULES, RUNS, client, found
from tests.features.validation.rules import EACH, PAIRS, write

PEOPLE = "FROM unnest(ARRAY['A', 'B']) x"


def test_a_result_has_the_form_of_the_validation_api(rules, committing_api, enroll) -> None:
    path = enroll("A", 77)
    write(rules, "R-1", EACH, severity="major", category="Enrollment")
    rules.run()

    [result] = committing_api.get(RESULTS).json()
    [run] = committing_api.get(RUNS).json()

    document = path.rpartition("/")[2]
    assert result.pop("id") == committing_api.get(f"{RESULTS}?resourceType=StudentSchoolAssociation").json()[0]["id"]
    assert len(result.pop("resultIdentifier").removesuffix("-1")) == 32
    assert result.pop("appearedDateTime") <= result.pop("_lastModifiedDate")
    assert str(result.pop("changeVersion")) == result.pop("_etag")
    assert result == {
        "resourceType": "StudentSchoolAssociation",
        "validationRuleReference": {"ruleIdentifier": "R-1", "ruleSource": "tests"},
        "validationRunReference": {
            "runIdentifier": run["runIdentifier"],
            "host": "http://testserver",
            "ruleEngine": "Meadowlark",
        },
        "educationOrganizationReference": {"educationOrganizationId": 77},
        "resourceId": document,
        "resourceLink": f"/data/ed-fi{path}",
        "naturalKey": "NK#entryDate=2025-08-20#schoolReference.schoolId=77#studentReference.studentUniqueId=A",
        "studentReference": {"studentUniqueId": "A"},
        "severityDescriptor": "uri://edfixvalidation.org/SeverityDescriptor#Major Validation Error",
        "category": "Enrollment",
        "message": "R-1 is violated",
        "additionalContexts": [{"identificationCode": "entryDate", "customizationValue": "2025-08-20"}],
    }
    assert committing_api.get(result["resourceLink"]).status_code == 200


def test_rules_and_runs(rules, committing_api, enroll) -> None:
    enroll("A", 77)
    write(rules, "R-1", EACH)
    rules.run()

    [rule] = committing_api.get(RULES).json()
    [listed] = committing_api.get(RUNS).json()
    run = committing_api.get(f"{RUNS}/{listed['id']}").json()

    assert {name: rule[name] for name in rule if name[0] != "_" and name != "id"} == {
        "ruleIdentifier": "R-1",
        "ruleSource": "tests",
        "shortDescription": "R-1 is violated",
        "ruleStatusDescriptor": "uri://edfixvalidation.org/RuleStatusDescriptor#Active",
        "category": "c",
        "severityDescriptor": "uri://edfixvalidation.org/SeverityDescriptor#Minor Validation Error",
        "validationLogicTypeDescriptor": "uri://edfixvalidation.org/ValidationLogicTypeDescriptor#SQL",
        "version": "1",
        "resourceType": "StudentSchoolAssociation",
    }
    assert committing_api.get(f"{RULES}/{rule['id']}").json() == rule
    assert run["runStatusDescriptor"] == "uri://edfixvalidation.org/RunStatusDescriptor#Completed"
    assert run["rules"] == [
        {
            "validationRuleReference": {"ruleIdentifier": "R-1", "ruleSource": "tests"},
            "outcome": "published",
            "appeared": 1,
            "resolved": 0,
        }
    ]


def test_filters_states_and_pages(rules, committing_api, enroll) -> None:
    path = enroll("A", 77)
    enroll("B", 77)
    enroll("B", 88)
    write(rules, "R-1", EACH)
    write(rules, "R-2", EACH.replace("FROM", ", 88 AS education_organization_id FROM"), "ed-fi/students")
    rules.run()
    committing_api.delete(path)
    rules.run()

    assert found(committing_api, "ruleIdentifier=R-1") == [("R-1", 77, "B"), ("R-1", 88, "B")]
    assert found(committing_api, "RULEIDENTIFIER=R-1&studentUniqueId=B&educationOrganizationId=88") == [
        ("R-1", 88, "B")
    ]
    assert found(committing_api, "resourceType=Student&studentUniqueId=A") == [("R-2", 88, "A")]
    pages = [found(committing_api, f"state=all&ruleIdentifier=R-1&limit=1&offset={offset}") for offset in range(3)]
    assert sorted(pages[0] + pages[1] + pages[2]) == [("R-1", 77, "B"), ("R-1", 88, "B")]
    total = committing_api.get(f"{RESULTS}?ruleIdentifier=R-1&totalCount=true&limit=0")
    assert (total.json(), total["Total-Count"]) == ([], "2")
    newest = committing_api.get("/validation/v1/availableChangeVersions").json()["newestChangeVersion"]
    assert found(committing_api, f"minChangeVersion={newest}") == []
    assert len(found(committing_api, f"maxChangeVersion={newest}")) == 5


def test_all_results_as_csv(rules, committing_api, enroll, log) -> None:
    enroll("A", 77)
    enroll("B", 88)
    formula = EACH.replace("AS context", "AS context, '=1+1' AS message")
    write(rules, "R-1", formula)
    rules.run()

    answer = client(77).get(f"{RESULTS}?limit=1", HTTP_ACCEPT="text/csv")

    heading, line = answer.content.decode("utf-8-sig").splitlines()
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert heading.startswith("ruleIdentifier,ruleSource,severity,category,educationOrganizationId,resourceType,")
    assert line.startswith("R-1,tests,Minor Validation Error,c,77,StudentSchoolAssociation,NK#entryDate=2025-08-20")
    assert ",A,,'=1+1,entryDate: 2025-08-20," in line
    assert client(99).get(RESULTS, HTTP_ACCEPT="text/csv").content.decode().count("\n") == 1
    exports = [line for line in log.of("meadowlark.audit") if line["event"] == "validation results exported"]
    assert len({line["client"] for line in exports}) == len(exports) == 2


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("text/csv", "text/csv"),
        ("TEXT/CSV;charset=utf-8", "text/csv"),
        ("text/csv, application/json", "text/csv"),
        ("application/json;q=0.5, text/csv", "text/csv"),
        ("application/json, text/csv;q=0.1", "application/json"),
        ("application/json, text/csv", "application/json"),
        ("application/json, text/csv;q=0", "application/json"),
        ("text/csv;q=0, */*", "application/json"),
        ("text/csv;q=0", "application/json"),
        ("*/*", "application/json"),
        ("text/html, */*;q=0.8", "application/json"),
    ],
)
def test_the_preferred_form_is_answered(api, accept: str, media_type: str) -> None:
    assert api.get(RESULTS, HTTP_ACCEPT=accept)["Content-Type"].partition(";")[0] == media_type


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("colour=red", "colour"),
        ("educationOrganizationId=x", "educationOrganizationId"),
        ("educationOrganizationId=99999999999999999999", "educationOrganizationId"),
        ("resourceId=1", "resourceId"),
        ("naturalKey=%00", "naturalKey"),
        ("state=closed", "State must be one of: open, resolved, all."),
        ("limit=-1", "Limit"),
        ("minChangeVersion=x", "MinChangeVersion"),
    ],
)
def test_bad_queries_are_refused(api, query: str, message: str) -> None:
    answer = api.get(f"{RESULTS}?{query}")

    assert answer.status_code == 400
    assert message in answer.content.decode()


def test_bad_addresses_and_methods(api) -> None:
    assert api.get(f"{RESULTS}/1").status_code == 400
    assert api.get(f"{RESULTS}/00000000-0000-4000-8000-000000000000").status_code == 404
    assert api.get(f"{RULES}/00000000-0000-4000-8000-000000000000").status_code == 404
    assert api.get(f"{RUNS}/00000000-0000-4000-8000-000000000000").status_code == 404
    assert api.get("/validation/v1/pupils").status_code == 404
    assert api.post(RESULTS, {}).status_code == 405
    assert ApiTestClient("none").get(RESULTS).status_code == 401


def test_a_client_sees_the_results_of_its_organizations(rules, enroll) -> None:
    enroll("A", 77)
    path = enroll("B", 88)
    write(rules, "R-1", EACH)
    rules.run()
    of_77, of_88 = client(77), client(88)

    assert found(of_77) == [("R-1", 77, "A")]
    assert found(of_88) == [("R-1", 88, "B")]
    assert found(client(77, 88)) == [("R-1", 77, "A"), ("R-1", 88, "B")]
    assert of_77.get(f"{RESULTS}?totalCount=true")["Total-Count"] == "1"
    [hidden] = of_88.get(RESULTS).json()
    assert of_77.get(f"{RESULTS}/{hidden['id']}").status_code == 404
    for name in ("id", "resultIdentifier", "naturalKey", "resourceId"):
        assert found(of_77, f"{name}={hidden[name].replace('#', '%23')}") == []
    assert found(of_77, "studentUniqueId=B") == []
    assert path.rpartition("/")[2] not in of_77.get(RESULTS).content.decode()


def test_who_may_not_read_the_documents_sees_no_results_about_them(rules, enroll) -> None:
    """Claims on results are not enough."""
    enroll("A", 77)
    write(rules, "R-1", EACH)
    write(rules, "R-2", EACH.replace("FROM", ", 77 AS education_organization_id FROM"), "ed-fi/students")
    rules.run()
    everything = "NoFurtherAuthorizationRequired"
    claims = ["ed-fi-x-validations/validationResult", "ed-fi-x-validations/validationRun", "ed-fi/student"]
    grants = [{"claims": claims, "actions": ["Read"], "strategies": [everything]}]
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Results", "grants": grants}]})), by="tests")
    reader = client(77, claim_set="Results")

    assert {each[0] for each in found(reader)} == {"R-2"}
    [run] = reader.get(RUNS).json()
    counts = reader.get(f"{RUNS}/{run['id']}").json()["rules"]
    assert [(each["validationRuleReference"]["ruleIdentifier"], each["appeared"]) for each in counts] == [
        ("R-1", 0),
        ("R-2", 2),
    ]
    assert reader.get(RULES).status_code == 403


def test_a_result_about_two_documents_needs_both(rules, enroll) -> None:
    """A district does not learn that a student is enrolled in another one."""
    enroll("C", 77)
    enroll("C", 88)
    write(rules, "R-1", PAIRS)
    rules.run()

    assert found(client(77)) == found(client(88)) == []
    assert found(client(77, 88)) == [("R-1", 77, "C"), ("R-1", 88, "C")]


def test_a_result_without_document_names_no_student_that_is_hidden(rules, enroll) -> None:
    enroll("A", 77)
    enroll("B", 88)
    write(rules, "R-1", "SELECT 77 AS education_organization_id, x AS student_unique_id, x AS key " + PEOPLE)
    rules.run()

    assert found(client(77)) == [("R-1", 77, "A")]
    assert found(client(77, 88)) == [("R-1", 77, "A"), ("R-1", 77, "B")]


def test_a_result_without_organization_is_seen_by_no_client(rules, committing_api, enroll, rows) -> None:
    enroll("A", 77)
    write(rules, "R-1", EACH, "ed-fi/students")
    rules.run()

    assert found(committing_api, "state=all") == []
    assert rows("SELECT count(*) FROM validation_result WHERE organization IS NULL") == [(2,)]
    assert rows("SELECT unplaced FROM validation_run_rule") == [(2,)]


def test_a_student_who_moves_takes_the_results_along(rules, committing_api, enroll) -> None:
    """Authorization is that of the moment of the request, not of the run."""
    enroll("A", 77)
    write(rules, "R-1", EACH.replace("FROM", ", 77 AS education_organization_id FROM"), "ed-fi/students")
    path = enroll("B", 77)
    rules.run()
    assert ("R-1", 77, "B") in found(client(77))

    committing_api.delete(path)

    assert ("R-1", 77, "B") not in found(client(77))


def test_resolved_results_are_listed_for_their_organizations(rules, committing_api, enroll) -> None:
    first, second = enroll("A", 77), enroll("B", 88)
    write(rules, "R-1", EACH)
    rules.run()
    [seen] = client(77).get(RESULTS).json()
    for path in (first, second):
        committing_api.delete(path)
    rules.run()

    [resolved] = client(77).get(f"{RESULTS}/deletes").json()

    assert resolved.pop("changeVersion") > seen["changeVersion"]
    assert resolved == {
        "id": seen["id"],
        "keyValues": {"resultIdentifier": seen["resultIdentifier"], "resourceType": "StudentSchoolAssociation"},
    }
    assert found(client(77), "state=all") == []
    assert client(77).get(f"{RESULTS}/deletes?totalCount=true")["Total-Count"] == "1"
    assert client(99).get(f"{RESULTS}/deletes").json() == []


def test_a_result_that_changes_has_another_etag_and_date(rules, committing_api, enroll) -> None:
    enroll("A", 77)
    write(rules, "R-1", EACH)
    rules.run()
    [appeared] = committing_api.get(RESULTS).json()
    write(rules, "R-1", EACH.replace("AS context", "AS context, 'other words' AS message"))
    rules.run()

    [changed] = committing_api.get(RESULTS).json()

    assert (changed["id"], changed["message"]) == (appeared["id"], "other words")
    assert changed["_etag"] != appeared["_etag"]
    assert changed["_lastModifiedDate"] > appeared["_lastModifiedDate"] == appeared["appearedDateTime"]
    assert changed["appearedDateTime"] == appeared["appearedDateTime"]
    rules.run()
    assert committing_api.get(RESULTS).json()[0]["_lastModifiedDate"] == changed["_lastModifiedDate"]


def test_a_help_url_is_an_address_that_can_be_followed(rules, committing_api) -> None:
    """The bundled rules name a page of the repository."""
    for identifier, address in (("R-1", "https://help.example/rules#r-1"), ("R-2", "help/rules#r-2")):
        write(rules, identifier, EACH)
        path = rules.folder / f"{identifier.lower()}.sql"
        path.write_text(path.read_text().replace("short =", f'help_url = "{address}"\nshort ='))
    rules.run()

    first, second = committing_api.get(RULES).json()

    assert first["helpUrl"] == "https://help.example/rules#r-1"
    assert "helpUrl" not in second
    assert len(committing_api.get(f"{RULES}?helpUrl=https://help.example/rules%23r-1").json()) == 1
    assert committing_api.get(f"{RULES}?helpUrl=help/rules%23r-2").json() == []


def test_a_follower_ends_with_the_open_results(rules, committing_api, enroll) -> None:
    write(rules, "R-1", EACH)
    known: set[str] = set()
    version = 0
    paths: list[str] = []
    for step in range(5):
        paths.append(enroll(f"S{step}", 77))
        if step % 2:
            committing_api.delete(paths.pop(0))
        rules.run()
        newest = committing_api.get("/validation/v1/availableChangeVersions").json()["newestChangeVersion"]
        window = f"minChangeVersion={version + 1}&maxChangeVersion={newest}"
        known |= {each["id"] for each in committing_api.get(f"{RESULTS}?{window}").json()}
        known -= {each["id"] for each in committing_api.get(f"{RESULTS}/deletes?{window}").json()}
        version = newest

    assert known == {each["id"] for each in committing_api.get(RESULTS).json()}
    assert len(known) == 3


def test_owners_and_namespaces(rules, committing_api, enroll) -> None:
    """Strategies that results cannot satisfy allow none."""
    enroll("A", 77)
    write(rules, "R-1", EACH)
    rules.run()
    for strategy in ("OwnershipBased", "NamespaceBased"):
        grants = [
            {"claims": ["ed-fi-x-validations/validationResult"], "actions": ["Read"], "strategies": [strategy]},
            {"claims": ["domains/everything"], "actions": ["Read"], "strategies": ["NoFurtherAuthorizationRequired"]},
        ]
        load(read_claims(orjson.dumps({"claimSets": [{"name": strategy, "grants": grants}]})), by="tests")
        token = new_token(strategy, strategy, education_organization_ids=[77], namespace_prefixes=["uri://x"])

        assert found(ApiTestClient(token)) == []


def test_a_list_reads_only_the_results_of_the_organizations(rules, enroll, monkeypatch) -> None:
    """Of 20,000 open results 10 are at the school of the client."""
    enroll("A", 77)
    write(rules, "R-1", "SELECT 77 AS education_organization_id, x AS key FROM unnest(ARRAY['1']) x")
    rules.run()
    with connection.cursor() as cursor:
        cursor.execute(_MANY)
        cursor.execute("ANALYZE validation_result")
    statements: list[Sql] = []
    run = listing.execute
    monkeypatch.setattr(listing, "execute", lambda sql, using: statements.append(sql) or run(sql, using))
    assert len(found(client(77))) == 11

    plan = "\n".join(line for (line,) in execute("EXPLAIN (COSTS OFF) " + statements[0], "default"))

    assert re.search("using validation_result_(of_)?organization", plan)
    assert "Seq Scan on validation_result" not in plan


_MANY = """
INSERT INTO validation_result (result_uuid, result_key, episode, rule_id, digest, organization, message, first_run)
SELECT gen_random_uuid(), gen_random_uuid(), 1, rule_id, sha256(number::text::bytea), 77 + number % 2000, message,
       first_run
  FROM validation_result, generate_series(1, 20000) number
"""


def client_by(results: str, documents: str, *schools: int) -> ApiTestClient:
    """A client that reads results by one strategy, and documents by another one."""
    grants = [
        {"claims": ["ed-fi-x-validations/validationResult"], "actions": ["Read"], "strategies": [results]},
        {"claims": ["domains/everything"], "actions": ["Read"], "strategies": [documents]},
    ]
    name = f"{results} and {documents}"
    load(read_claims(orjson.dumps({"claimSets": [{"name": name, "grants": grants}]})), by="tests")
    return client(*schools, claim_set=name)


@pytest.mark.parametrize(
    ("strategy", "seen"),
    [
        ("RelationshipsWithEdOrgsOnly", [("R-1", 77, "A"), ("R-1", 77, "B")]),
        # Requires a student and a staff member, as it does of documents, and these results name no staff member.
        ("RelationshipsWithEdOrgsAndPeople", []),
        ("RelationshipsWithStudentsOnly", [("R-1", 77, "A"), ("R-1", 88, "A")]),
        ("RelationshipsWithStudentsOnlyThroughResponsibility", []),
    ],
)
def test_results_by_organizations_and_people(rules, enroll, strategy: str, seen: list[Any]) -> None:
    """A is enrolled at the client's school, B is not; there are results about both at both schools."""
    enroll("A", 77)
    enroll("B", 88)
    about = "SELECT school AS education_organization_id, x AS student_unique_id, x AS key, ARRAY[]::bigint[] "
    write(rules, "R-1", about + "AS other_document_ids " + PEOPLE + " CROSS JOIN unnest(ARRAY[77, 88]) school")
    rules.run()

    assert found(client_by(strategy, "NoFurtherAuthorizationRequired", 77)) == seen


def test_a_custom_view_decides_about_the_documents_of_results(rules, enroll, rows) -> None:
    enroll("A", 77)
    enroll("B", 77)
    write(rules, "R-1", EACH)
    rules.run()
    rows_of = "SELECT document_uuid FROM document d WHERE d.natural_key = 'NK#studentUniqueId=A'"
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA auth")
        cursor.execute(f"CREATE VIEW auth.StudentWithPets AS {rows_of}")
    try:
        reader = client_by("NoFurtherAuthorizationRequired", "StudentWithPets")

        assert found(reader) == [("R-1", 77, "A")]
        assert reader.get(f"{RESULTS}?totalCount=true")["Total-Count"] == "1"
        assert reader.get(RESULTS, HTTP_ACCEPT="text/csv").content.decode().count("studentUniqueId=") == 1
        # Results refer to no student document, so the view cannot decide about them.
        refused = client_by("StudentWithPets", "NoFurtherAuthorizationRequired").get(RESULTS)
        assert refused.json()["type"] == "urn:ed-fi:api:system:configuration:security"
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA auth CASCADE")


def test_a_profile_hides_what_a_result_quotes(rules, enroll) -> None:
    """Message and context may quote members that the profile hides."""
    enroll("A", 77)
    write(rules, "R-1", EACH.replace("AS context", "AS context, 'since ' || (body ->> 'entryDate') AS message"))
    rules.run()
    hides = profile_xml("StudentSchoolAssociation", 'ExcludeOnly: <Property name="entryTypeDescriptor"/>', name="Hides")
    token = new_token("bound")
    with transaction.atomic():
        store_profiles(read_definitions(hides), by="tests")
        assign_profiles(Application.objects.get(name="bound"), ["Hides"], by="tests")

    [result] = ApiTestClient(token).get(RESULTS).json()

    assert result["message"] == "R-1 is violated"
    assert "additionalContexts" not in result
