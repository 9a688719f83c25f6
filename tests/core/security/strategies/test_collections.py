"""A collection contains exactly the documents that can be read singly, with every kind of paging.

Expectations come from a simple model of organizations and people in Python, not from SQL.
"""

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from edfi_api.core.models import ResourceType
from edfi_api.core.queries import collection, plan
from edfi_api.core.queries.selection import Window, all_documents
from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.requests.authentication import client_of_token
from edfi_api.core.security.requests.authorization import row_policy
from edfi_api.core.security.strategies import relationships
from edfi_api.core.security.strategies.combined import ClientPolicy, CombinedStrategies
from edfi_api.core.security.strategies.reach import REACHES
from edfi_api.core.security.strategies.strategy import Subject
from edfi_api.core.storage import database_state
from edfi_api.core.storage.driver.prepared_statements import forget
from edfi_api.features.changes.change_queries.models import DeletedDocument, KeyField
from edfi_api.features.changes.change_queries.tracked_changes import TrackedWindow
from tests.core.documents.organizations import closure_of
from tests.core.security.strategies.scenario import EO, EOP, Scenario
from tests.support.databases import DOCUMENTS, connection, rolled_back
from tests.support.examples import examples

SCHOOLS, DISTRICTS = (11, 12, 21), (1, 2)
STUDENTS, CONTACTS, STAFF = ("S1", "S2", "S3"), ("C1", "C2"), ("T1", "T2")


class Model:
    """The hierarchy of organizations, and the associations of people."""

    def __init__(self, parents, enrollments, relations, employments):
        self.closure = closure_of(parents)
        self.enrollments, self.relations, self.employments = enrollments, relations, employments

    def organizations(self, claims):
        return {below for above, below in self.closure if above in claims}

    def students(self, claims):
        return {student for student, school in self.enrollments if school in self.organizations(claims)}

    def contacts(self, claims):
        return {contact for student, contact in self.relations if student in self.students(claims)}

    def staff(self, claims):
        return {staff for staff, organization in self.employments if organization in self.organizations(claims)}


def paged(client, path, size):
    """All documents, by offset and by token."""
    by_offset = []
    while page := client.get(f"{path}?offset={len(by_offset)}&limit={size}").json():
        by_offset += page
    by_token, answer = [], client.get(f"{path}?limit={size}")
    while answer.json():
        by_token += answer.json()
        answer = client.get(f"{path}?pageToken={answer['Next-Page-Token']}&pageSize={size}")
    assert [each["id"] for each in by_token] == [each["id"] for each in by_offset]
    return by_offset


def partitioned(client, path):
    tokens = client.get(f"{path}/partitions?number=2").json()["pageTokens"]
    return [each for token in tokens for each in client.get(f"{path}?pageToken={token}&pageSize=500").json()]


def assert_shows(client, scenario, path, expected, key):
    """`expected` are the keys of the documents that the client may read; `key` extracts the key of a body."""
    shown = paged(client, path, 2)
    assert sorted(map(key, shown)) == sorted(expected)
    assert [each["id"] for each in partitioned(client, path)] == [each["id"] for each in shown]
    total = client.get(f"{path}?limit=0&totalCount=true")
    assert int(total["Total-Count"]) == len(shown)
    if path == "/students":
        descending = client.get(f"{path}?studentUniqueId[gt]=S1&orderBy=-studentUniqueId").json()
        assert list(map(key, descending)) == sorted((each for each in expected if each > "S1"), reverse=True)
    everything = scenario.api.get(f"{path}?limit=500").json()
    allowed = {each["id"] for each in everything if client.get(f"{path}/{each['id']}").status_code == 200}
    assert allowed == {each["id"] for each in shown}


PAIRS = {
    "enrollments": st.sets(st.tuples(st.sampled_from(STUDENTS), st.sampled_from(SCHOOLS))),
    "relations": st.sets(st.tuples(st.sampled_from(STUDENTS), st.sampled_from(CONTACTS))),
    "employments": st.sets(st.tuples(st.sampled_from(STAFF), st.sampled_from((*SCHOOLS, *DISTRICTS)))),
}
PARENTS = st.fixed_dictionaries({school: st.sets(st.sampled_from(DISTRICTS), max_size=1) for school in SCHOOLS})
# Without organizations, collections are refused.
CLAIMS = st.sets(st.sampled_from((*SCHOOLS, *DISTRICTS, 999)), min_size=1, max_size=2)


@pytest.fixture
def populated(api, documents):
    found = Scenario(api, documents)
    for district in DISTRICTS:
        found.district(district)
    found.people(STUDENTS, CONTACTS, STAFF)
    # Stored once, since each example is rolled back.
    for name in (
        "School",
        "StudentSchoolAssociation",
        "StudentEducationOrganizationResponsibilityAssociation",
        "StaffEducationOrganizationEmploymentAssociation",
    ):
        found.body(name)
    found.body(f"Student{found.contact_name}Association")
    return found


@pytest.fixture(params=["near", "far"])
def position(request, monkeypatch):
    """Documents are found among the first rows of the resource, before organizations are considered; or only after
    those, and after the first rows of each organization."""
    database_state.forget()  # includes the composed SQL
    if request.param == "near":
        monkeypatch.setattr(relationships, "_FEW", -1)
    else:
        monkeypatch.setattr(plan, "LIMITS", plan.Limits(near_rows_of_policy=0))
    yield
    database_state.forget()


@pytest.mark.usefixtures("position")
@settings(
    max_examples=examples(3),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(parents=PARENTS, claims=CLAIMS, associations=st.fixed_dictionaries(PAIRS))
def test_a_collection_contains_exactly_the_readable_documents(populated, parents, claims, associations):
    enrollments, relations, employments = (associations[name] for name in PAIRS)
    model = Model({**dict.fromkeys(DISTRICTS, ()), **parents}, enrollments, relations, employments)
    with rolled_back():
        for school, above in parents.items():
            populated.school(school, *above)
        for student, school in enrollments:
            populated.enroll(student, school)
        for student, contact in relations:
            populated.relate(student, contact)
        for staff, organization in employments:
            populated.employ(staff, organization)
        client = populated.client_by(EOP, organizations=tuple(claims))

        def shows(name, expected, *path):
            def key(body):
                for step in path:
                    body = body[step]
                return body

            assert_shows(client, populated, populated.endpoint(name), expected, key)

        contact = populated.contact_name
        students, reached = model.students(claims), model.organizations(claims)
        shows("Student", students, "studentUniqueId")
        shows(contact, model.contacts(claims), f"{contact.lower()}UniqueId")
        shows("Staff", model.staff(claims), "staffUniqueId")
        shows(
            "StudentSchoolAssociation",
            [student for student, school in enrollments if school in reached and student in students],
            "studentReference",
            "studentUniqueId",
        )
        shows(
            f"Student{contact}Association",
            [student for student, _ in relations if student in students],
            "studentReference",
            "studentUniqueId",
        )


SOME_STRATEGIES = st.lists(
    st.sampled_from(
        sorted(name.removeprefix("RelationshipsWith") for name in REACHES if not name.endswith("IncludingDeletes"))
    ),
    min_size=1,
    max_size=2,
    unique=True,
)


@pytest.mark.usefixtures("position")
@settings(
    max_examples=examples(3),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(strategies=SOME_STRATEGIES, claims=CLAIMS, associations=st.fixed_dictionaries(PAIRS), data=st.data())
def test_a_collection_contains_exactly_the_readable_documents_for_any_strategy_filter_and_window(
    populated, strategies, claims, associations, data
):
    enrollments, relations, employments = (associations[name] for name in PAIRS)
    contact = populated.contact_name
    names = [
        "Student",
        contact,
        "Staff",
        "School",
        "StudentSchoolAssociation",
        "StudentEducationOrganizationResponsibilityAssociation",
        f"Student{contact}Association",
        "StaffEducationOrganizationEmploymentAssociation",
    ]
    with rolled_back():
        for school, above in zip(SCHOOLS, (1, 1, 2), strict=True):
            populated.school(school, above)
        for student, school in enrollments:
            populated.enroll(student, school)
            populated.make_responsible(student, data.draw(st.sampled_from(SCHOOLS)))
        for student, related in relations:
            populated.relate(student, related)
        for staff, organization in employments:
            populated.employ(staff, organization)
        chosen = [f"RelationshipsWith{strategy}" for strategy in strategies]
        client = populated.client_by(*chosen, organizations=tuple(claims))
        newest = populated.api.get("/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]
        for name in names:
            resource, path = populated.resource(name), populated.endpoint(name)
            if client.get(path).status_code == 500:
                continue  # the resource has no element for the strategy
            fields = {field.name for field in resource.query_fields}
            filters = {"studentUniqueId": "S1", "schoolId": 11, "lastSurname": "Value"}
            queries = ["", *(f"&{key}={value}" for key, value in filters.items() if key in fields)]
            windows = ["", "&minChangeVersion=1", f"&minChangeVersion=1&maxChangeVersion={newest}"]
            for query in [query + window for query in queries for window in windows]:
                everything = populated.api.get(f"{path}?limit=500{query}").json()
                allowed = [each["id"] for each in everything if client.get(f"{path}/{each['id']}").status_code == 200]
                shown = client.get(f"{path}?limit=500&totalCount=true{query}")
                assert [each["id"] for each in shown.json()] == allowed
                assert shown["Total-Count"] == str(len(allowed))
                assert [each["id"] for each in client.get(f"{path}?limit=2&offset=1{query}").json()] == allowed[1:3]


def test_a_filtered_collection_contains_only_readable_documents(scenario):
    for school in (11, 12, 21):
        for code in ("A", "B"):
            scenario.calendar(code, school)
    sis = scenario.client_by(EO, organizations=(1,))

    found = sis.get("/calendars?calendarCode=A&totalCount=true")

    assert {each["schoolReference"]["schoolId"] for each in found.json()} == {11, 12}
    assert found["Total-Count"] == "2"
    assert sis.get("/calendars?calendarCode=A&schoolId=21").json() == []


def test_documents_after_many_unreadable_ones_are_found(scenario):
    """After more documents of another district than are checked one by one."""
    for number in range(120):
        scenario.calendar(f"C{number}", 21)
    own = [scenario.calendar(f"C{number}", 12) for number in range(3)]
    client = scenario.client("SISVendor", 1)

    assert [each["id"] for each in client.get("/calendars").json()] == [path.rsplit("/", 1)[1] for path in own]
    assert len(client.get("/calendars?calendarCode=C1").json()) == 1
    assert client.get("/calendars?limit=2&offset=2").json()[0]["calendarCode"] == "C2"
    assert scenario.client("SISVendor", 11).get("/calendars?totalCount=true")["Total-Count"] == "0"


@pytest.mark.parametrize("path", ["/calendars?", "/students?", "/studentSchoolAssociations?schoolId=11&"])
def test_a_page_behind_all_documents_is_empty(scenario, path):
    scenario.student("S1")
    scenario.enroll("S1", 11)
    client = scenario.client("SISVendor", 1)

    page = client.get(f"{path}offset={2**63 - 501}&limit=500")

    assert (page.status_code, page.json()) == (200, [])


def test_later_batches_of_a_page_contain_only_readable_documents(scenario, monkeypatch):
    """A page of large documents is read in several batches."""
    monkeypatch.setattr(collection, "BYTES_AT_ONCE", 1)
    paths = {}
    for student in ("S1", "S2", "S3"):
        scenario.student(student)
        paths[student] = scenario.enroll(student, 11)
    sis = client_of_token(scenario.client("SISVendor", 1).token)
    students = scenario.resource("Student")
    policy = row_policy(sis, students, Action.READ, scenario.documents.surface, DOCUMENTS)
    visible = all_documents(students, DOCUMENTS).restricted_by(policy)

    page = collection.page(visible, 25, 0)
    shown = [next(page)]
    assert scenario.api.delete(paths["S2"]).status_code == 204
    shown += page

    assert [json.loads(each.text)["studentUniqueId"] for each in shown] == ["S1", "S3"]


@pytest.mark.usefixtures("position")
def test_documents_of_an_organization_about_unrelated_people_are_left_out(scenario):
    scenario.student("S1")
    scenario.student("S2")
    scenario.enroll("S2", 11)
    for student in ("S1", "S2"):
        for organization in (12, 11, 1):
            scenario.make_responsible(student, organization)
    client = scenario.client_by(EOP, organizations=(1,))

    shown = paged(client, scenario.endpoint("StudentEducationOrganizationResponsibilityAssociation"), 2)

    assert [each["studentReference"]["studentUniqueId"] for each in shown] == ["S2"] * 3
    assert [each["educationOrganizationReference"]["educationOrganizationId"] for each in shown] == [12, 11, 1]


WINDOWS = ["", "?minChangeVersion=1", "?minChangeVersion=1&maxChangeVersion=9000000000"]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("Student", "?lastSurname=Ortiz"),
        *product(["Student", "Contact", "StudentContactAssociation", "StudentSchoolAssociation"], WINDOWS),
    ],
)
def test_pages_of_different_clients_share_a_plan(scenario, name, query):
    """Planning takes longer than a page; PostgreSQL makes five custom plans."""
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")  # Earlier tests of this session prepared statements for their documents.
    forget(connection.connection)
    endpoint = scenario.endpoint(name.replace("Contact", scenario.contact_name))
    for client in (scenario.client("SISVendor", school) for school in (11, 12, 21)):
        for _ in range(3):
            assert client.get(endpoint + query).json() == []

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(custom_plans), max(generic_plans) FROM pg_prepared_statements"
            " WHERE statement LIKE '%near AS%' AND statement NOT LIKE '%further AS%'"
        )
        replanned, planned_once = cursor.fetchone()
    assert replanned <= 5
    assert planned_once >= 4


def test_all_organizations_of_a_document_must_be_accessible(scenario):
    """As in an extension with references to two independent organizations."""
    offered = scenario.post(
        "CourseOffering", schoolReference={"schoolId": 11}, sessionReference=session_of(scenario, 11)
    )
    two = replace(scenario.resource("CourseOffering"), equality_constraints=())
    path = ["sessionReference", "schoolId"]
    type_ = ResourceType.objects.get(name="CourseOffering")
    KeyField.objects.create(resource_type=type_, name="sessionSchoolId", path=path, ignores_case=False)
    client = client_of_token(scenario.client_by(EO, organizations=(1,)).token)
    other = replace(client, education_organization_ids=(2,))

    def policies(is_for_changes):
        combined = CombinedStrategies((EO,), Subject(two, scenario.documents.surface, is_for_changes))
        return (ClientPolicy(combined, each, DOCUMENTS) for each in (client, other))

    strategy, stranger = policies(is_for_changes=False)

    def shown(policy):
        return len(list(collection.page(all_documents(two, DOCUMENTS).restricted_by(policy), 25, 0)))

    assert (shown(strategy), shown(stranger)) == (1, 0)
    assert scenario.api.delete(offered).status_code == 204
    DeletedDocument.objects.update(body=None)
    strategy, stranger = policies(is_for_changes=True)
    tracked = [TrackedWindow(two, Window(), policy, using=DOCUMENTS) for policy in (strategy, stranger)]
    assert tuple(each.count_deletes() for each in tracked) == (
        1,
        0,
    )
    assert tracked[0].count_key_changes() == 0


def session_of(scenario, school):
    body = scenario.body("Session", schoolReference={"schoolId": school})
    scenario.post("Session", schoolReference={"schoolId": school})
    year = body["schoolYearTypeReference"]["schoolYear"]
    return {"schoolId": school, "schoolYear": year, "sessionName": body["sessionName"]}
