"""The relationship strategies over HTTP: accessible documents, and the texts of refusals. See
meadowlark/docs/design/authorization.md#people."""

import orjson
import pytest

from edfi_api.core.models import Document
from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import item_path
from tests.core.security.strategies.denials import DENIED, problem
from tests.core.security.strategies.scenario import EO, EOP, NFA

SSA_HINT = "You may need to create a corresponding 'StudentSchoolAssociation' item."


def unrelated(claims, items, hint=None):
    return {
        "detail": DENIED + (f" Hint: {hint}" if hint else ""),
        "type": "urn:ed-fi:api:security:authorization",
        "errors": [
            "No relationships have been established between the caller's education organization id "
            f"{claims} and {items}"
        ],
    }


def required(text, hint=None):
    return {
        "detail": f"{DENIED} {text}" + (f" Hint: {hint}" if hint else ""),
        "type": "urn:ed-fi:api:security:authorization:relationships:access-denied:element-required",
        "errors": [],
    }


def value(name):
    return f"the resource item's '{name}' value."


# --- people ---


def test_a_student_without_an_enrollment_can_be_created_but_not_read(scenario):
    sis = scenario.client("SISVendor", 1)

    posted = sis.post("/students", scenario.body("Student", studentUniqueId="S"))

    assert posted.status_code == 201
    assert problem(sis.get(item_path(posted))) == unrelated("claim ('1')", value("StudentUniqueId"), SSA_HINT)


def test_an_enrollment_at_a_claimed_school_makes_the_student_accessible(scenario):
    sis = scenario.client("SISVendor", 1)
    student = scenario.student("S")

    assert sis.post("/studentSchoolAssociations", scenario.enrollment("S", 11)).status_code == 201

    stored = sis.get(student)
    assert stored.status_code == 200
    assert sis.put(student, stored.json() | {"firstName": "New"}).status_code == 204


def test_without_its_last_enrollment_a_student_is_inaccessible_immediately(scenario):
    sis = scenario.client("SISVendor", 1)
    student = scenario.student("S")
    enrollment = scenario.enroll("S", 11)
    assert sis.get(student).status_code == 200

    assert sis.delete(enrollment).status_code == 204

    assert sis.get(student).status_code == 403
    assert sis.get("/students").json() == []


def test_a_contact_becomes_readable_through_an_enrolled_student(scenario):
    sis = scenario.client("SISVendor", 1)
    scenario.student("S")
    scenario.enroll("S", 11)
    endpoint, body = scenario.endpoint(scenario.contact_name), scenario.body(scenario.contact_name)
    contact = sis.post(endpoint, body)
    association = f"Student{scenario.contact_name}Association"
    assert contact.status_code == 201
    assert problem(sis.get(item_path(contact))) == unrelated(
        "claim ('1')",
        value(f"{scenario.contact_name}UniqueId"),
        f"You may need to create corresponding 'StudentSchoolAssociation' and '{association}' items.",
    )

    reference = {"studentReference": {"studentUniqueId": "S"}}
    assert sis.post(scenario.endpoint(association), scenario.body(association, **reference)).status_code == 201

    assert sis.get(item_path(contact)).status_code == 200


def test_an_enrollment_by_another_client_counts(scenario):
    student = scenario.student("S")
    scenario.enroll("S", 11)

    assert scenario.client("SISVendor", 11).get(student).status_code == 200
    assert scenario.client("SISVendor", 12).get(student).status_code == 403


@pytest.mark.parametrize("establish", ["employ", "assign"])
def test_staff_is_accessible_by_employment_or_assignment(scenario, establish):
    sis = scenario.client("SISVendor", 1)
    staff = scenario.staff("T")
    assert problem(sis.get(staff)) == unrelated(
        "claim ('1')",
        value("StaffUniqueId"),
        "You may need to create corresponding 'StaffEducationOrganizationEmploymentAssociation' or "
        "'StaffEducationOrganizationAssignmentAssociation' items.",
    )

    getattr(scenario, establish)("T", 12)

    assert sis.get(staff).status_code == 200


def test_responsibility_needs_no_enrollment(scenario):
    client = scenario.client_by("RelationshipsWithStudentsOnlyThroughResponsibility", organizations=(1,))
    student = scenario.student("S")
    scenario.enroll("S", 11)
    assert problem(client.get(student)) == unrelated(
        "claim ('1')",
        value("StudentUniqueId"),
        "You may need to create a corresponding 'StudentEducationOrganizationResponsibilityAssociation' item.",
    )

    scenario.make_responsible("S", 1)

    assert client.get(student).status_code == 200


# --- organizations ---


def test_a_claim_covers_lower_organizations_only(scenario):
    calendars = {school: scenario.calendar("C", school) for school in (11, 12, 21)}
    district, school = scenario.client("SISVendor", 1), scenario.client("SISVendor", 11)

    assert {number for number, path in calendars.items() if district.get(path).status_code == 200} == {11, 12}
    assert {number for number, path in calendars.items() if school.get(path).status_code == 200} == {11}
    assert problem(school.get(calendars[21])) == unrelated("claim ('11')", value("SchoolId"))


def test_inverted_strategies_cover_higher_organizations(scenario):
    district, other = (
        scenario.post("Course", courseCode="A", educationOrganizationReference={"educationOrganizationId": 1}),
        (scenario.post("Course", courseCode="A", educationOrganizationReference={"educationOrganizationId": 12})),
    )
    client = scenario.client_by(f"{EO}Inverted", organizations=(11,))

    assert client.get(district).status_code == 200
    assert client.get(other).status_code == 403
    assert len(client.get("/courses").json()) == 1


def test_a_client_may_create_the_organization_that_it_claims(scenario):
    client = scenario.client_by(EO, organizations=(77,))

    assert client.post("/schools", scenario.body("School", schoolId=77)).status_code == 201
    answer = client.post("/schools", scenario.body("School", schoolId=78))
    assert problem(answer) == unrelated("claim ('77')", value("SchoolId"))


def test_a_change_of_the_hierarchy_applies_immediately(scenario):
    client, calendar = scenario.client("SISVendor", 2), scenario.calendar("C", 11)
    assert client.get(calendar).status_code == 403

    scenario.school(11, 2)

    assert client.get(calendar).status_code == 200


# --- writes ---


def test_writes_for_another_school_are_refused(scenario):
    sis = scenario.client("SISVendor", 1)
    scenario.student("S")

    answer = sis.post("/studentSchoolAssociations", scenario.enrollment("S", 21))

    assert problem(answer) == unrelated("claim ('1')", value("SchoolId"))
    assert scenario.api.get("/studentSchoolAssociations?studentUniqueId=S").json() == []


def test_an_update_is_authorized_by_stored_and_proposed_values(scenario):
    own, foreign = scenario.client("SISVendor", 1), scenario.client("SISVendor", 2)
    path = scenario.calendar("C", 11)
    body = own.get(path).json()

    assert problem(foreign.put(path, body)) == unrelated("claim ('2')", value("SchoolId"))
    assert problem(foreign.delete(path)) == unrelated("claim ('2')", value("SchoolId"))
    assert foreign.post("/calendars", body | {"id": None}).status_code == 403
    assert own.put(path, body).status_code == 204
    assert own.delete(path).status_code == 204


def test_a_key_change_may_not_leave_the_claims(scenario):
    path = scenario.enroll("S", 11) if scenario.student("S") else None
    sis = scenario.client("SISVendor", 1)
    stored = sis.get(path).json()

    assert sis.put(path, stored | {"schoolReference": {"schoolId": 12}}).status_code == 204
    answer = sis.put(path, stored | {"schoolReference": {"schoolId": 21}})

    assert problem(answer) == unrelated("claim ('1')", value("SchoolId"))
    assert sis.get(path).json()["schoolReference"]["schoolId"] == 12


def test_an_unchanged_post_is_denied_like_a_changed_one(scenario):
    path = scenario.calendar("C", 11)
    body = {name: value for name, value in scenario.api.get(path).json().items() if not name.startswith("_")}
    del body["id"]

    assert scenario.client("SISVendor", 2).post("/calendars", body).status_code == 403


def test_a_missing_document_is_404_instead_of_403(scenario):
    path = scenario.calendar("C", 11)
    body = scenario.api.get(path).json()
    scenario.api.delete(path)
    sis = scenario.client("SISVendor", 2)

    assert sis.get(path).status_code == 404
    assert sis.delete(path).status_code == 404
    assert sis.put(path, body).status_code == 404


# --- missing values ---


def test_an_unknown_school_is_a_required_element(scenario):
    scenario.student("S")

    answer = scenario.client("SISVendor", 1).post("/studentSchoolAssociations", scenario.enrollment("S", 999))

    assert problem(answer) == required("The 'SchoolId' value is required for authorization purposes.")


def test_a_claimed_school_that_does_not_exist_is_a_required_element(scenario):
    scenario.student("S")

    answer = scenario.client("SISVendor", 999).post("/studentSchoolAssociations", scenario.enrollment("S", 999))

    assert problem(answer) == required("The 'SchoolId' value is required for authorization purposes.")


def test_all_unresolved_elements_are_reported_and_unrelated_ones_are_not(scenario):
    client = scenario.client_by(EOP, organizations=(1,))
    both = client.post("/studentSchoolAssociations", scenario.enrollment("Nobody", 999))
    scenario.student("S")
    one = client.post("/studentSchoolAssociations", scenario.enrollment("S", 999))

    assert problem(both) == required(
        "The values of one or more of the following properties are required for authorization purposes: 'SchoolId', "
        "'StudentUniqueId'.",
        SSA_HINT,
    )
    assert problem(one) == required("The 'SchoolId' value is required for authorization purposes.")


@pytest.mark.parametrize("strategy", ["StudentsOnly", "StudentsOnlyThroughResponsibility"])
def test_an_unknown_student_is_a_required_element_with_the_hint_of_the_strategy(scenario, strategy):
    client = scenario.client_by(f"RelationshipsWith{strategy}", organizations=(1,))

    answer = client.post("/studentSchoolAssociations", scenario.enrollment("Nobody", 11))

    hint = {
        "StudentsOnly": SSA_HINT,
        "StudentsOnlyThroughResponsibility": "You may need to create a corresponding "
        "'StudentEducationOrganizationResponsibilityAssociation' item.",
    }[strategy]
    assert problem(answer) == required("The 'StudentUniqueId' value is required for authorization purposes.", hint)


def test_an_unknown_staff_is_a_required_element_with_its_hint(scenario):
    body = scenario.body(
        "StaffEducationOrganizationEmploymentAssociation",
        staffReference={"staffUniqueId": "Nobody"},
        educationOrganizationReference={"educationOrganizationId": 11},
    )

    answer = scenario.client_by(EOP, organizations=(1,)).post("/staffEducationOrganizationEmploymentAssociations", body)

    assert problem(answer) == required(
        "The 'StaffUniqueId' value is required for authorization purposes.",
        "You may need to create corresponding 'StaffEducationOrganizationEmploymentAssociation' or "
        "'StaffEducationOrganizationAssignmentAssociation' items.",
    )


def test_each_hint_is_given_once(scenario):
    contact = scenario.contact_name
    reference = {f"{contact.lower()}Reference": {f"{contact.lower()}UniqueId": "Nobody"}}
    body = scenario.body(f"Student{contact}Association", studentReference={"studentUniqueId": "Nobody"}, **reference)

    answer = scenario.client_by(EOP, organizations=(1,)).post(f"/student{contact}Associations", body)

    assert problem(answer) == required(
        "The values of one or more of the following properties are required for authorization purposes: "
        f"'StudentUniqueId', '{contact}UniqueId'.",
        f"{SSA_HINT} You may need to create corresponding 'StudentSchoolAssociation' and 'Student{contact}Association' "
        "items.",
    )


def test_an_unresolved_reference_without_element_is_a_conflict(scenario):
    sis = scenario.client("SISVendor", 1)
    body = scenario.body("Course", educationOrganizationReference={"educationOrganizationId": 11})
    session = {"schoolId": 11, "schoolYear": 2026, "sessionName": "None"}

    answer = sis.post(
        "/sections",
        scenario.body("Section", courseOfferingReference=session | {"localCourseCode": "X"}),
    )

    assert body
    assert problem(answer) == required("The 'SchoolId' value is required for authorization purposes.")
    calendar = scenario.body("Calendar", schoolReference={"schoolId": 11}, schoolYearTypeReference={"schoolYear": 1999})
    assert sis.post("/calendars", calendar).status_code == 409


# --- wording ---


@pytest.mark.parametrize(
    ("organizations", "claims"),
    [
        ((), "claims (none)"),
        ((2, 21), "claims ('2', '21')"),
        ((9, 8, 7, 6, 5, 4), "claims ('4', '5', '6', '7', '8', ...)"),
    ],
)
def test_claimed_ids_are_reported_in_order_up_to_a_limit(scenario, organizations, claims):
    path = scenario.calendar("C", 11)

    assert problem(scenario.client("SISVendor", *organizations).get(path)) == unrelated(claims, value("SchoolId"))


def test_several_elements_are_reported_together_with_their_hints(scenario):
    scenario.student("S")
    path = scenario.enroll("S", 11)

    assert problem(scenario.client("SISVendor", 2).get(path)) == unrelated(
        "claim ('2')",
        "one or more of the following properties of the resource item: 'SchoolId', 'StudentUniqueId'.",
        SSA_HINT,
    )


def test_one_of_several_relationship_strategies_is_enough(scenario):
    scenario.student("S")
    scenario.make_responsible("S", 1)
    student = scenario.student("S")
    both = scenario.client_by(
        "RelationshipsWithStudentsOnly",
        "RelationshipsWithStudentsOnlyThroughResponsibility",
        organizations=(1,),
    )

    assert both.get(student).status_code == 200
    assert [each["studentUniqueId"] for each in both.get("/students").json()] == ["S"]


def test_failures_of_all_relationship_strategies_are_one_message(scenario):
    student = scenario.student("S")
    both = scenario.client_by(
        "RelationshipsWithStudentsOnly",
        "RelationshipsWithStudentsOnlyThroughResponsibility",
        organizations=(1,),
    )

    assert problem(both.get(student)) == unrelated(
        "claim ('1')",
        value("StudentUniqueId"),
        f"{SSA_HINT} You may need to create a corresponding "
        "'StudentEducationOrganizationResponsibilityAssociation' item.",
    )


def test_people_only_ignores_organizations(scenario):
    scenario.student("S")
    scenario.enroll("S", 11)
    foreign = scenario.enroll("S", 21)

    assert scenario.client_by("RelationshipsWithPeopleOnly", organizations=(1,)).get(foreign).status_code == 200
    assert scenario.client_by(EOP, organizations=(1,)).get(foreign).status_code == 403


def test_no_further_authorization_required_allows_reading(scenario):
    assert scenario.client_by(NFA).get(scenario.calendar("C", 11)).status_code == 200


# --- configuration ---


@pytest.mark.parametrize("name", ["Foo", "RelationshipsWithEdOrgsAndPeopleIncludingDeletes"])
def test_an_unknown_strategy_is_a_configuration_error(scenario, name):
    answer = scenario.client_by(name).get("/calendars")

    assert answer.status_code == 500
    assert answer.json()["type"] == "urn:ed-fi:api:system:configuration:security"
    assert answer.json()["errors"] == [
        f"Could not find authorization strategy implementations for the following strategy names: '{name}'."
    ]


def test_a_strategy_without_elements_is_a_configuration_error(scenario):
    answer = scenario.client_by("RelationshipsWithStudentsOnly").get("/calendars")

    assert answer.status_code == 500
    assert answer.json()["errors"] == [
        "The resource 'Calendar' is configured with the 'RelationshipsWithStudentsOnly' authorization strategy, but no "
        "Student securable element resolves to a root table column."
    ]


def test_a_stored_document_without_its_element_is_inaccessible(scenario, standard):
    if standard == "3.3.1-b":
        pytest.skip("no element is optional there")
    scenario.student("S")
    scenario.enroll("S", 11)
    path = scenario.post("StudentAssessment", studentReference={"studentUniqueId": "S"})

    assert problem(scenario.client_by(EOP, organizations=(1,)).get(path)) == {
        "detail": f"{DENIED} The existing 'ReportedSchool' value is required for authorization purposes.",
        "type": "urn:ed-fi:api:security:authorization:relationships:invalid-data:element-uninitialized",
        "errors": [
            "The existing resource item is inaccessible to clients using the 'RelationshipsWithEdOrgsAndPeople' "
            "authorization strategy."
        ],
    }


def test_a_stored_document_that_lost_its_student_is_inaccessible_with_a_hint(scenario):
    scenario.student("S")
    path = scenario.enroll("S", 11)
    enrollment = Document.objects.filter(document_uuid=path.rsplit("/", 1)[1])
    enrollment.update(student=None)
    client = scenario.client_by(EOP, organizations=(1,))

    answers = [client.get(path), client.delete(path), client.put(path, scenario.api.get(path).json())]

    enrollment.update(student="S")
    for answer in answers:
        assert problem(answer) == {
            "detail": f"{DENIED} The existing 'StudentUniqueId' value is required for authorization purposes. "
            f"Hint: {SSA_HINT}",
            "type": "urn:ed-fi:api:security:authorization:relationships:invalid-data:element-uninitialized",
            "errors": [
                "The existing resource item is inaccessible to clients using the 'RelationshipsWithEdOrgsAndPeople' "
                "authorization strategy."
            ],
        }


# --- deleted documents and disclosure ---


def test_a_deletion_stays_visible_after_the_enrollment_is_deleted(scenario):
    sis = scenario.client("EdFiAPIPublisherReader", 1)
    scenario.student("S")
    enrollment = scenario.enroll("S", 11)
    calendars = [scenario.calendar("C", school) for school in (11, 21)]
    responsibility = scenario.make_responsible("S", 11)
    for path in (responsibility, enrollment, *calendars):
        assert scenario.api.delete(path).status_code == 204

    seen = sis.get("/studentEducationOrganizationResponsibilityAssociations/deletes").json()
    assert [each["keyValues"]["studentUniqueId"] for each in seen] == ["S"]
    assert len(sis.get("/studentSchoolAssociations/deletes").json()) == 1
    assert [each["keyValues"]["schoolId"] for each in sis.get("/calendars/deletes").json()] == [11]
    assert scenario.client("EdFiAPIPublisherReader", 2).get("/studentSchoolAssociations/deletes").json() == []


def test_relations_contain_only_readable_documents(scenario):
    scenario.student("S")
    calendars = {school: scenario.calendar("C", school) for school in (11, 21)}
    year = scenario.api.get("/schoolYearTypes").json()[0]["id"]
    sis = scenario.client("EdFiAPIPublisherReader", 1)

    found = sis.get(f"/relations/v1/ed-fi/schoolYearTypes/{year}").json()

    assert {each["id"] for each in found} == {calendars[11].rsplit("/", 1)[1]}
    assert sis.get("/relations/v1" + calendars[21].removeprefix("/data")).status_code == 403


def test_a_refused_delete_links_to_readable_referrers(scenario):
    """A client that deletes a student learns that enrollments elsewhere exist, but not where."""
    student = scenario.student("S")
    enrollments = {1: scenario.enroll("S", 11), 2: scenario.enroll("S", 21)}
    related = student.replace("/data/", "/relations/v1/")
    clients = {id_: scenario.client("SISVendor", id_) for id_ in (1, 2, 999)}

    refused = {id_: client.delete(student) for id_, client in clients.items()}

    for answer in refused.values():
        assert answer.status_code == 409
        assert answer.json()["errors"] == []
    assert refused[999].json()["detail"].endswith("is referenced by existing item(s).")
    for id_, enrollment in enrollments.items():
        assert refused[id_].json()["detail"].endswith("is referenced by existing StudentSchoolAssociation item(s).")
        assert refused[id_]["Link"] == f'<http://testserver{related}>; rel="related"'
        assert [each["id"] for each in clients[id_].get(related).json()] == [enrollment.rsplit("/", 1)[1]]
    assert "Link" not in refused[999]
    assert clients[999].get(related).status_code == 403


def test_a_client_that_may_delete_but_not_read_gets_no_link(scenario):
    scenario.student("S")
    scenario.enroll("S", 11)
    grant = {"claims": ["ed-fi/student"], "actions": ["Delete"], "strategies": [NFA]}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Deletes", "grants": [grant]}]})), by="tests")

    refused = scenario.client("Deletes").delete(scenario.student("S"))

    assert refused.status_code == 409
    assert "Link" not in refused


def test_conditional_requests_disclose_nothing_unreadable(scenario):
    """Neither the version nor the existence of a document."""
    path = scenario.calendar("A", 21)
    stored = scenario.api.get(path).json()
    body = {name: stored[name] for name in stored if name[0] != "_" and name != "id"}
    right, client = f'"{stored["_etag"]}"', scenario.client_by(EO, organizations=(1,))
    for tag in (right, '"1"', "*"):
        for header in ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH"):
            condition = {header: tag}
            answers = [
                client.get(path, **condition),
                client.put(path, stored, **condition),
                client.delete(path, **condition),
                client.post("/calendars", body, **condition),
            ]
            assert {answer.status_code for answer in answers} == {403}
            assert not any("ETag" in answer for answer in answers)
    assert scenario.api.get(path).json() == stored


NO_ORGANIZATIONS = {
    "detail": "There was a problem authorizing the request. The caller has not been configured correctly for accessing "
    "resources authorized by relationships.",
    "type": "urn:ed-fi:api:security:authorization:relationships:invalid-client:no-education-organizations",
    "errors": [
        "The API client has been given permissions on a resource that uses the 'RelationshipsWithEdOrgsAndPeople' "
        "authorization strategy but the client doesn't have any education organizations assigned."
    ],
}


@pytest.mark.parametrize("rest", ["", "?totalCount=true&limit=0", "/partitions", "?minChangeVersion=0"])
def test_without_organizations_no_list_is_readable(scenario, rest):
    refused = scenario.client("SISVendor").get(f"/students{rest}")

    assert refused.status_code == 403
    assert "operator of the server has to assign education organizations" in refused.json()["hints"][0]
    assert problem(refused) == NO_ORGANIZATIONS


@pytest.mark.parametrize("rest", ["/deletes", "/keyChanges"])
def test_without_organizations_no_changes_are_readable(scenario, rest):
    refused = scenario.client("EdFiAPIPublisherReader").get(f"/studentSchoolAssociations{rest}")

    assert (refused.status_code, refused.json()["type"]) == (403, NO_ORGANIZATIONS["type"])


def test_without_organizations_what_needs_none_is_readable(scenario):
    client = scenario.client("SISVendor")

    assert client.get("/gradeLevelDescriptors").status_code == 200
    assert client.get("/schoolYearTypes").status_code == 200


def test_a_write_without_organizations_says_what_the_operator_does(scenario):
    scenario.student("S")

    refused = scenario.client("SISVendor").post(
        "/studentSchoolAssociations", scenario.body("StudentSchoolAssociation", studentUniqueId="S")
    )

    assert refused.status_code == 403
    assert "operator of the server has to assign education organizations" in refused.json()["hints"][0]
