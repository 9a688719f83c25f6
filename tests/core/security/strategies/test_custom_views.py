"""Custom views: documents whose basis document is listed in a view of the schema `auth`."""

import json
import re
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.test import Client

from edfi_api.core.security.checks import resources_have_claims
from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.security.models import ClaimSet, Grant, ResourceClaim
from tests.conftest import ApiTestClient
from tests.core.security.strategies.scenario import EO, EOP, Scenario
from tests.support.databases import DOCUMENTS, connection

pytestmark = pytest.mark.django_db
STUDENT_VIEW = "StudentWithCTECourseEnrollments"
PAGE = Path(__file__).parents[4] / "meadowlark/docs/operate/custom-view-authorization.md"
NOT_AUTHORIZED = "Access to the requested data could not be authorized."
HINT = " Hint: You may need a Student with CTE Course Enrollments."


def sql(text: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text, parameters or None)


@pytest.fixture(autouse=True)
def _schema(db):
    sql("CREATE SCHEMA auth")


def list_documents(view: str, paths: Iterable[str], kind: str = "OR REPLACE VIEW") -> None:
    """Creates a view with the ids of these documents."""
    ids = ", ".join(f"'{path.rsplit('/', 1)[1]}'" for path in paths)
    sql(f"CREATE {kind} auth.{view} AS SELECT unnest(ARRAY[{ids}]::uuid[]) AS document_uuid")


@pytest.fixture
def students(scenario) -> dict[str, str]:
    """Paths of four students; A and B are in the view."""
    found = {name: scenario.student(name) for name in "ABCD"}
    list_documents(STUDENT_VIEW, [found["A"], found["B"]])
    return found


def problem(response: Any) -> dict[str, Any]:
    return {name: value for name, value in response.json().items() if name not in ("correlationId", "hints")}


def denial(which: str, *, type_: str = "", detail: str = HINT) -> dict[str, Any]:
    return {
        "detail": NOT_AUTHORIZED + detail,
        "type": f"urn:ed-fi:api:security:authorization{type_}",
        "title": "Authorization Denied",
        "status": 403,
        "validationErrors": {},
        "errors": [
            "The caller is not authorized to perform the requested operation on the item based on the "
            f"{which} value of the 'StudentUniqueId' property of the item."
        ],
    }


def test_documents_whose_basis_is_listed_can_be_read_changed_and_deleted(scenario, students):
    paths = {name: scenario.enroll(name, 11) for name in students}
    client = scenario.client_by(STUDENT_VIEW)

    assert client.get(paths["A"]).status_code == 200
    changed = client.get(paths["A"]).json() | {"exitWithdrawDate": "2026-05-01"}
    assert client.put(paths["A"], changed).status_code == 204
    assert client.delete(paths["B"]).status_code == 204

    stored = scenario.api.get(paths["C"]).json()
    for refused in (
        client.get(paths["C"]),
        client.put(paths["C"], stored | {"exitWithdrawDate": "2026-05-01"}),
        client.delete(paths["C"]),
        client.post("/studentSchoolAssociations", scenario.enrollment("C", 11) | {"exitWithdrawDate": "2026-05-01"}),
    ):
        assert refused.status_code == 403
        assert problem(refused) == denial("existing")
    assert scenario.api.get(paths["C"]).json() == stored


def test_documents_whose_basis_is_listed_can_be_created(scenario, students):
    client = scenario.client_by(STUDENT_VIEW)

    assert client.post("/studentSchoolAssociations", scenario.enrollment("A", 11)).status_code == 201
    refused = client.post("/studentSchoolAssociations", scenario.enrollment("C", 11))
    assert refused.status_code == 403
    assert problem(refused) == denial("proposed")
    assert scenario.api.get("/studentSchoolAssociations?studentUniqueId=C").json() == []


def test_a_key_change_is_authorized_by_the_view(scenario, students):
    path = scenario.enroll("A", 11)
    client = scenario.client_by(STUDENT_VIEW)
    stored = client.get(path).json()

    refused = client.put(path, stored | {"studentReference": {"studentUniqueId": "C"}})
    moved = client.put(path, stored | {"studentReference": {"studentUniqueId": "B"}})

    assert problem(refused) == denial("proposed")
    assert moved.status_code == 204


def test_collections_contain_readable_documents(scenario, students):
    paths = {(name, school): scenario.enroll(name, school) for name in students for school in (11, 12, 21)}
    client = scenario.client_by(STUDENT_VIEW)
    listed = [(name, school) for name, school in paths if name in "AB"]

    def shown(query: str = "") -> list[tuple[str, int]]:
        response = client.get(f"/studentSchoolAssociations?totalCount=true&{query}")
        assert response.status_code == 200, response.content
        return [
            (each["studentReference"]["studentUniqueId"], each["schoolReference"]["schoolId"])
            for each in response.json()
        ]

    assert shown() == listed
    assert client.get("/studentSchoolAssociations?totalCount=true&limit=1")["Total-Count"] == "6"
    assert shown("limit=2&offset=3") == listed[3:5]
    assert shown("schoolId=12") == [("A", 12), ("B", 12)]
    assert shown("studentUniqueId=A") == listed[:3]
    assert shown("studentUniqueId=C") == []
    assert len(shown("minChangeVersion=1&maxChangeVersion=999999999999")) == 6
    assert len(client.get("/studentSchoolAssociations/partitions?number=3").json()["pageTokens"]) >= 1

    list_documents(STUDENT_VIEW, [students["D"]])
    assert shown() == [("D", 11), ("D", 12), ("D", 21)]
    list_documents(STUDENT_VIEW, [])
    assert shown() == []


def test_the_basis_itself_is_readable_but_not_creatable_by_its_view(scenario, students):
    client = scenario.client_by(STUDENT_VIEW)
    body = scenario.body("Student", studentUniqueId="A")

    assert client.get(students["A"]).status_code == 200
    assert problem(client.get(students["C"])) == denial("existing")
    assert [each["studentUniqueId"] for each in client.get("/students").json()] == ["A", "B"]
    assert client.get("/students?totalCount=true")["Total-Count"] == "2"
    assert client.post("/students", body | {"firstName": "May"}).status_code == 200
    stored = client.get(students["A"]).json()
    assert client.put(students["A"], stored | {"firstName": "June"}).status_code == 204
    new = client.post("/students", body | {"studentUniqueId": "New"})
    assert problem(new) == denial("proposed")
    assert client.delete(students["A"]).status_code == 204
    assert client.delete(students["C"]).status_code == 403


def test_a_basis_stays_accessible_after_a_key_change(scenario):
    period = scenario.post("ClassPeriod", classPeriodName="P", schoolReference={"schoolId": 11})
    list_documents("ClassPeriodWithBell", [period])
    client = scenario.client_by("ClassPeriodWithBell")

    stored = client.get(period).json()

    assert client.put(period, stored | {"classPeriodName": "Q"}).status_code == 204
    assert client.get(period).json()["classPeriodName"] == "Q"


def test_the_basis_is_reached_through_further_documents(scenario):
    """A section belongs to the school of its course offering, not to that of its location."""
    for school in (11, 21):
        session = {"schoolReference": {"schoolId": school}}
        name = scenario.body("Session")["sessionName"]
        year = scenario.body("Session")["schoolYearTypeReference"]
        scenario.post("Session", **session)
        scenario.post(
            "CourseOffering",
            schoolReference={"schoolId": school},
            sessionReference={"schoolId": school, "sessionName": name, "schoolYear": year["schoolYear"]},
        )
    offering = scenario.body("CourseOffering")
    key = {"localCourseCode": offering["localCourseCode"], **offering["sessionReference"]}
    sections = {
        school: scenario.body("Section", courseOfferingReference=key | {"schoolId": school})
        | {"locationSchoolReference": {"schoolId": other}}
        for school, other in ((11, 21), (21, 11))
    }
    list_documents("SchoolWithNightClasses", [_path_of(scenario, "/schools?schoolId=11")])
    client = scenario.client_by("SchoolWithNightClasses")

    assert client.post("/sections", sections[11]).status_code == 201
    refused = client.post("/sections", sections[21])
    assert problem(refused)["detail"] == f"{NOT_AUTHORIZED} Hint: You may need a School with Night Classes."
    assert "proposed value of the 'SchoolId' property" in problem(refused)["errors"][0]
    assert scenario.api.post("/sections", sections[21]).status_code == 201
    assert [each["courseOfferingReference"]["schoolId"] for each in client.get("/sections").json()] == [11]
    assert client.get("/sections?totalCount=true")["Total-Count"] == "1"
    assert client.get(_path_of(scenario, "/sections?schoolId=21")).status_code == 403
    assert client.get(_path_of(scenario, "/sections?schoolId=11")).status_code == 200


def _path_of(scenario: Scenario, query: str) -> str:
    (found,) = scenario.api.get(query).json()
    return f"{query.partition('?')[0]}/{found['id']}"


def test_a_reference_without_role_name_takes_precedence(scenario):
    body = {"beginDate": "2025-08-20", "feederRelationshipDescription": "x"}
    listed, other = (_path_of(scenario, f"/schools?schoolId={school}") for school in (11, 21))
    feeds = scenario.post(
        "FeederSchoolAssociation", schoolReference={"schoolId": 11}, feederSchoolReference={"schoolId": 21}, **body
    )
    is_fed = scenario.post(
        "FeederSchoolAssociation", schoolReference={"schoolId": 21}, feederSchoolReference={"schoolId": 11}, **body
    )
    list_documents("SchoolWithNightClasses", [listed])
    client = scenario.client_by("SchoolWithNightClasses")

    assert client.get(feeds).status_code == 200
    assert client.get(is_fed).status_code == 403
    assert client.get("/feederSchoolAssociations?totalCount=true")["Total-Count"] == "1"
    assert [f"/feederSchoolAssociations/{each['id']}" for each in client.get("/feederSchoolAssociations").json()] == [
        feeds.removeprefix("/data/ed-fi")
    ]
    assert client.delete(other).status_code == 403


def test_an_abstract_basis_stands_for_its_subclasses(scenario):
    courses = {
        organization: scenario.post("Course", educationOrganizationReference={"educationOrganizationId": organization})
        for organization in (1, 2, 11)
    }
    district = _path_of(scenario, "/localEducationAgencies?localEducationAgencyId=1")
    list_documents("EducationOrganizationWithCatalog", [district, _path_of(scenario, "/schools?schoolId=11")])
    client = scenario.client_by("EducationOrganizationWithCatalog")

    assert [client.get(courses[each]).status_code for each in (1, 2, 11)] == [200, 403, 200]
    assert client.get("/courses?totalCount=true")["Total-Count"] == "2"
    assert client.get(district).status_code == 200
    refused = client.get(courses[2])
    assert problem(refused)["detail"].endswith("Hint: You may need an Education Organization with Catalog.")
    assert "existing value of the 'EducationOrganizationId' property" in problem(refused)["errors"][0]


def test_a_document_without_the_reference_is_refused(scenario, standard):
    """The reporting school of a student assessment is optional."""
    if standard == "3.3.1-b":
        pytest.skip("this standard has no reporting school")
    body = scenario.body("StudentAssessment")
    scenario.student(body["studentReference"]["studentUniqueId"])
    without = scenario.post("StudentAssessment")
    list_documents("SchoolWithNightClasses", [_path_of(scenario, "/schools?schoolId=11")])
    client = scenario.client_by("SchoolWithNightClasses")
    hint = " Hint: You may need a School with Night Classes."

    uninitialized = client.get(without)
    missing = client.post("/studentAssessments", body | {"studentAssessmentIdentifier": "new"})
    unresolved = client.post(
        "/studentAssessments",
        body | {"studentAssessmentIdentifier": "new", "reportedSchoolReference": {"schoolId": 404}},
    )

    assert client.get("/studentAssessments").json() == []
    assert problem(uninitialized) == denial("existing") | {
        "type": "urn:ed-fi:api:security:authorization:custom-view:invalid-data:element-uninitialized",
        "detail": f"{NOT_AUTHORIZED} The existing 'SchoolId' value is required for authorization purposes.{hint}",
        "errors": [
            "The existing resource item is inaccessible to clients using the 'SchoolWithNightClasses' authorization "
            "strategy."
        ],
    }
    for refused in (missing, unresolved):
        assert problem(refused) == denial("proposed") | {
            "type": "urn:ed-fi:api:security:authorization:custom-view:access-denied:element-required",
            "detail": f"{NOT_AUTHORIZED} The 'SchoolId' value is required for authorization purposes.{hint}",
            "errors": [],
        }


def test_a_key_of_several_values_is_reported_in_full(scenario):
    offered = scenario.post("CourseOffering")
    list_documents("CourseWithCredit", [])
    client = scenario.client_by("CourseWithCredit")

    refused = client.get(offered)

    assert problem(refused)["errors"] == [
        "The caller is not authorized to perform the requested operation on the item based on the existing values of "
        "one or more of the following properties of the item: 'CourseCode', 'EducationOrganizationId'."
    ]


def test_views_combine_with_all_other_strategies(scenario, students):
    for name, school in (("A", 11), ("B", 21), ("C", 11)):
        scenario.enroll(name, school)
    paths = {name: _path_of(scenario, f"/studentSchoolAssociations?studentUniqueId={name}") for name in "ABC"}
    both = scenario.client_by(EOP, STUDENT_VIEW, organizations=(1,))
    either = scenario.client_by(EO, EOP, STUDENT_VIEW, organizations=(1,))

    for client in (both, either):
        assert [client.get(paths[name]).status_code for name in "ABC"] == [200, 403, 403]
        assert len(client.get("/studentSchoolAssociations").json()) == 1
        assert client.get("/studentSchoolAssociations?totalCount=true&limit=0")["Total-Count"] == "1"
        # Strategies that must all allow come first.
        assert problem(client.get(paths["C"])) == denial("existing")
        assert "No relationships have been established" in problem(client.get(paths["B"]))["errors"][0]


def test_views_and_namespaces(scenario):
    students = [scenario.student("A"), scenario.student("B")]
    results = [
        scenario.post("StudentAssessment", studentAssessmentIdentifier=name, studentReference={"studentUniqueId": name})
        for name in "AB"
    ]
    list_documents(STUDENT_VIEW, students[:1])
    namespace = scenario.api.get(results[0]).json()["assessmentReference"]["namespace"]

    def seen(*strategies: str, prefix: str) -> int:
        return len(scenario.client_by(*strategies, prefixes=(prefix,)).get("/studentAssessments").json())

    for strategies in ((STUDENT_VIEW, "NamespaceBased"), ("NamespaceBased", STUDENT_VIEW)):
        assert seen(*strategies, prefix=namespace) == 1
        assert seen(*strategies, prefix="uri://other") == 0


def test_readable_related_documents_are_listed(scenario, students):
    for name in "AC":
        scenario.enroll(name, 11)
    client = scenario.client_by(STUDENT_VIEW)

    neighbours = client.get(f"/relations/v1/ed-fi{students['A'].removeprefix('/data/ed-fi')}").json()

    assert [each["resource"] for each in neighbours] == ["ed-fi/studentSchoolAssociations"]
    assert client.get(f"/relations/v1/ed-fi{students['C'].removeprefix('/data/ed-fi')}").status_code == 403


@pytest.fixture
def watcher(scenario):
    """A client that reads changes, authorized by the view."""

    def of(view: str) -> ApiTestClient:
        grant = {"claims": ["domains/everything"], "actions": ["Read", "ReadChanges"], "strategies": [view]}
        load(read_claims(orjson.dumps({"claimSets": [{"name": "Watcher", "grants": [grant]}]})), by="tests")
        return scenario.client("Watcher")

    return of


def test_changes_are_authorized_by_the_documents_that_the_key_references(scenario, students, watcher):
    for name in "ABC":
        scenario.api.delete(scenario.enroll(name, 11))
    moved = scenario.enroll("D", 11)
    stored = scenario.api.get(moved).json()
    scenario.api.put(moved, stored | {"studentReference": {"studentUniqueId": "A"}})
    moved = scenario.enroll("B", 12)
    stored = scenario.api.get(moved).json()
    scenario.api.put(moved, stored | {"studentReference": {"studentUniqueId": "C"}})
    moved = scenario.enroll("B", 21)
    stored = scenario.api.get(moved).json()
    scenario.api.put(moved, stored | {"studentReference": {"studentUniqueId": "A"}})
    client = watcher(STUDENT_VIEW)

    deletes = client.get("/studentSchoolAssociations/deletes?totalCount=true")
    key_changes = client.get("/studentSchoolAssociations/keyChanges").json()

    # A is enrolled again by a key change.
    assert [each["keyValues"]["studentUniqueId"] for each in deletes.json()] == ["B"]
    assert deletes["Total-Count"] == "1"
    # What C has left the view by the change.
    assert [each["newKeyValues"]["studentUniqueId"] for each in key_changes] == ["A"]
    assert [each["oldKeyValues"]["studentUniqueId"] for each in key_changes] == ["B"]


def test_changes_of_documents_with_an_indirect_path_to_the_basis(scenario, watcher):
    scenario.post("Section")
    session = scenario.body("Section")["courseOfferingReference"]
    scenario.api.delete(_path_of(scenario, "/sections"))
    school = _path_of(scenario, f"/schools?schoolId={session['schoolId']}")
    list_documents("SchoolWithNightClasses", [school])
    client = watcher("SchoolWithNightClasses")

    assert len(client.get("/sections/deletes").json()) == 1
    list_documents("SchoolWithNightClasses", [])
    assert client.get("/sections/deletes").json() == []


def test_changes_of_an_abstract_basis(scenario, watcher):
    for organization in (1, 2, 11):
        reference = {"educationOrganizationReference": {"educationOrganizationId": organization}}
        scenario.api.delete(scenario.post("Course", **reference))
    district = _path_of(scenario, "/localEducationAgencies?localEducationAgencyId=1")
    list_documents("EducationOrganizationWithCatalog", [district, _path_of(scenario, "/schools?schoolId=11")])

    deletes = watcher("EducationOrganizationWithCatalog").get("/courses/deletes").json()

    assert [each["keyValues"]["educationOrganizationId"] for each in deletes] == [1, 11]


def test_deletes_of_the_basis_are_listed_if_the_view_has_them(scenario, students, watcher):
    for path in students.values():
        scenario.api.delete(path)

    deletes = watcher(STUDENT_VIEW).get("/students/deletes").json()

    assert [each["keyValues"]["studentUniqueId"] for each in deletes] == ["A", "B"]


def test_changes_cannot_be_authorized_by_members_outside_the_key(scenario, watcher):
    list_documents("SchoolWithNightClasses", [])

    refused = watcher("SchoolWithNightClasses").get("/studentAssessments/deletes")

    assert configuration_error(refused) == (
        "The resource 'StudentAssessment' is configured with the 'SchoolWithNightClasses' authorization strategy, but "
        "no School securable element resolves to a root table column."
    )


def configuration_error(response: Any) -> str:
    assert response.status_code == 500, response.content
    found = problem(response)
    assert found["type"] == "urn:ed-fi:api:system:configuration:security"
    (message,) = found["errors"]
    return message


def unknown(name: str) -> str:
    return f"Could not find authorization strategy implementations for the following strategy names: '{name}'."


@pytest.mark.parametrize(
    "made",
    [
        "SELECT",  # nothing
        "CREATE VIEW auth.StudentWithPets AS SELECT id AS document_uuid FROM document",
        "CREATE VIEW auth.StudentWithPets AS SELECT document_uuid AS id FROM document",
        'CREATE VIEW auth."StudentWithPets" AS SELECT document_uuid FROM document',
        "CREATE VIEW StudentWithPets AS SELECT document_uuid FROM document",
    ],
)
def test_an_unusable_view_is_a_configuration_error(scenario, made):
    sql(made)
    client = scenario.client_by("StudentWithPets")

    for response in (client.get("/students"), client.post("/students", scenario.body("Student"))):
        assert configuration_error(response) == unknown("StudentWithPets")


@pytest.mark.parametrize(
    "name", ["DragonWithFire", "SexDescriptorWithValue", "StudentWith", "StudentWithout", f"StudentWith{'x' * 60}X"]
)
def test_a_basis_has_to_be_a_resource(scenario, name):
    list_documents(name[:63], [])

    assert configuration_error(scenario.client_by(name).get("/students")) == unknown(name)


def test_a_resource_without_a_path_to_the_basis_is_a_configuration_error(scenario, students):
    assert configuration_error(scenario.client_by(STUDENT_VIEW).get("/schools")) == (
        f"The resource 'School' is configured with the '{STUDENT_VIEW}' authorization strategy, but no Student "
        "securable element resolves to a root table column."
    )


def test_a_view_may_be_created_and_dropped_at_any_time(scenario, students):
    path = scenario.enroll("A", 11)
    client = scenario.client_by(STUDENT_VIEW)
    assert client.get(path).status_code == 200

    sql(f"DROP VIEW auth.{STUDENT_VIEW}")
    for response in (client.get(path), client.get("/studentSchoolAssociations"), client.delete(path)):
        assert configuration_error(response) == unknown(STUDENT_VIEW)

    list_documents(STUDENT_VIEW, [students["A"]], "MATERIALIZED VIEW")
    sql(f"CREATE UNIQUE INDEX ON auth.{STUDENT_VIEW} (document_uuid)")
    assert client.get(path).status_code == 200


def claims_file(tmp_path: Path, claim: str, *strategies: str) -> str:
    grant = {"claims": [claim], "actions": ["Read"], "strategies": strategies}
    file = tmp_path / "claims.json"
    file.write_text(json.dumps({"claimSets": [{"name": "Ours", "grants": [grant]}]}))
    return str(file)


def test_claim_sets_are_loaded_if_their_views_exist(scenario, tmp_path):
    file = claims_file(tmp_path, "ed-fi/studentSchoolAssociation", STUDENT_VIEW)

    with pytest.raises(CommandError, match=f"Read of ed-fi/studentSchoolAssociation in Ours by {STUDENT_VIEW}"):
        call_command("load_claim_sets", file, stdout=StringIO())
    assert not ClaimSet.objects.filter(name="Ours").exists()

    list_documents(STUDENT_VIEW, [])
    call_command("load_claim_sets", file, stdout=StringIO())
    assert ClaimSet.objects.filter(name="Ours").exists()


def test_claim_sets_are_loaded_if_their_resources_have_a_path_to_the_basis(scenario, tmp_path):
    list_documents(STUDENT_VIEW, [])
    file = claims_file(tmp_path, "ed-fi/school", STUDENT_VIEW)

    with pytest.raises(CommandError, match=f"Read of ed-fi/school in Ours by {STUDENT_VIEW}"):
        call_command("load_claim_sets", file, stdout=StringIO())


def test_checks_report_missing_views_and_resources_without_a_path(scenario, tmp_path):
    list_documents(STUDENT_VIEW, [])
    call_command("load_claim_sets", claims_file(tmp_path, "domains/people", STUDENT_VIEW), stdout=StringIO())

    assert re.search(rf"security\.W005\).*Ours: .*ed-fi/staff Read by {STUDENT_VIEW}", warnings())
    assert "ed-fi/student Read" not in warnings()
    sql(f"DROP VIEW auth.{STUDENT_VIEW}")
    assert re.search(rf"security\.W004\).*Read of domains/people in Ours by {STUDENT_VIEW}", warnings())


def warnings() -> str:
    return "\n".join(map(str, resources_have_claims([DOCUMENTS])))


@pytest.mark.urls("tests.core.security.urls")
def test_the_admin_accepts_existing_views(client: Client):
    client.force_login(get_user_model().objects.create_superuser("operator"))
    claim_set = ClaimSet.objects.create(name="Ours")
    claim = ResourceClaim.objects.get(name="ed-fi/studentSchoolAssociation")
    grant = Grant.objects.create(claim_set=claim_set, resource_claim=claim, actions=["Read"])
    form = {
        "claim_set": claim_set.pk,
        "resource_claim": claim.pk,
        "actions": ["Read"],
        "overrides-TOTAL_FORMS": 1,
        "overrides-INITIAL_FORMS": 0,
        "overrides-0-action": "Read",
        "overrides-0-custom_views": STUDENT_VIEW,
    }
    path = f"/admin/security/grant/{grant.pk}/change/"

    assert f"Unknown, or not for this action: {STUDENT_VIEW}" in client.post(path, form).content.decode()
    assert not grant.overrides.exists()
    list_documents(STUDENT_VIEW, [])
    assert client.post(path, form).status_code == 302
    assert grant.overrides.get().strategies == [STUDENT_VIEW]
    assert f'<option value="{STUDENT_VIEW}" selected>' in client.get(path).content.decode()
    assert "Choose a strategy" in client.post(path, form | {"overrides-0-custom_views": ""}).content.decode()


def block(language: str) -> str:
    """A code block of the page for operators."""
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


def test_the_example_of_the_page_works_as_written(scenario, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claim_set.json").write_text(block("json"))
    sql("DROP SCHEMA auth")
    in_program, other, elsewhere = (scenario.student(name) for name in ("In", "Other", "Elsewhere"))
    for name, school in (("In", 11), ("Other", 11), ("Elsewhere", 21)):
        scenario.enroll(name, school)
    for name in ("In", "Elsewhere"):
        scenario.post(
            "StudentCTEProgramAssociation",
            studentReference={"studentUniqueId": name},
            educationOrganizationReference={"educationOrganizationId": 1 if name == "In" else 2},
        )

    sql(block("sql"))
    sh = [line.split()[2:] for line in block("sh").splitlines()]
    assert [name for name, *_ in sh] == ["load_claim_sets", "create_api_client"]
    for name, *arguments in sh:
        call_command(name, *arguments, stdout=StringIO())

    counsellor = scenario.client("CTECounselor", 1)
    assert [counsellor.get(path).status_code for path in (in_program, other, elsewhere)] == [200, 403, 403]
    for collection in ("/students", "/studentSchoolAssociations", "/studentCTEProgramAssociations"):
        assert len(counsellor.get(collection).json()) == 1
