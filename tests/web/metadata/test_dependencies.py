"""The dependency order, on small models. See
meadowlark/docs/reference/contract.md#dependency-order."""

import pytest
from lxml import etree

from edfi_api.model.surface.load_order import load_steps
from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata.fixed_documents import graphml
from tests.model.surface.models import SurfaceOf

STUDENTS = """
Domain Entity Student
  string StudentUniqueId is part of identity
Domain Entity School
  integer SchoolId is part of identity
Association StudentSchoolAssociation
  domain entity Student
  domain entity School
Domain Entity Grade
  domain entity Student is part of identity
  string Title is part of identity
"""


def steps(surface: Surface) -> list[tuple[int, str, str]]:
    return [(step.order, step.resource, " ".join(step.operations)) for step in load_steps(surface)]


def test_targets_come_first_and_a_group_is_alphabetical(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Room
  string RoomCode is part of identity
  descriptor Color is required
Domain Entity Chair
  string ChairCode is part of identity
  domain entity Room is optional
Domain Entity Building
  string BuildingCode is part of identity
Descriptor Color
""")

    assert steps(surface) == [
        (1, "/ed-fi/buildings", "Create Update"),
        (1, "/ed-fi/colorDescriptors", "Create Update"),
        (2, "/ed-fi/rooms", "Create Update"),
        (3, "/ed-fi/chairs", "Create Update"),
    ]


def test_referrers_of_students_come_after_the_enrollment(surface_of: SurfaceOf) -> None:
    surface = surface_of(STUDENTS)

    assert steps(surface) == [
        (1, "/ed-fi/schools", "Create Update"),
        (1, "/ed-fi/students", "Create"),
        (2, "/ed-fi/studentSchoolAssociations", "Create Update"),
        (3, "/ed-fi/grades", "Create Update"),
        (3, "/ed-fi/students", "Update"),
    ]


def test_contacts_are_updated_after_both_of_their_associations(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        STUDENTS
        + """
Domain Entity Contact
  string ContactUniqueId is part of identity
Association StudentContactAssociation
  domain entity Student
  domain entity Contact
Domain Entity Call
  domain entity Contact is part of identity
  string Title is part of identity
"""
    )

    found = steps(surface)

    assert (1, "/ed-fi/contacts", "Create") in found
    assert (3, "/ed-fi/studentContactAssociations", "Create Update") in found
    assert (4, "/ed-fi/calls", "Create Update") in found
    assert (4, "/ed-fi/contacts", "Update") in found


def test_referrers_of_staff_come_after_employment_and_assignment(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Staff
  string StaffUniqueId is part of identity
Domain Entity Place
  string PlaceCode is part of identity
Association StaffEducationOrganizationEmploymentAssociation
  domain entity Staff
  domain entity Place
  date HireDate is part of identity
Association StaffEducationOrganizationAssignmentAssociation
  domain entity Staff
  domain entity Place
  date BeginDate is part of identity
  association StaffEducationOrganizationEmploymentAssociation is optional role name Employment
Domain Entity StaffLeave
  domain entity Staff is part of identity
  date BeginDate is part of identity
""")

    assert steps(surface) == [
        (1, "/ed-fi/places", "Create Update"),
        (1, "/ed-fi/staffs", "Create"),
        (2, "/ed-fi/staffEducationOrganizationEmploymentAssociations", "Create Update"),
        (3, "/ed-fi/staffEducationOrganizationAssignmentAssociations", "Create Update"),
        (4, "/ed-fi/staffLeaves", "Create Update"),
        (4, "/ed-fi/staffs", "Update"),
    ]


def test_people_without_their_associations_are_ordinary_resources(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Student
  string StudentUniqueId is part of identity
Domain Entity Grade
  domain entity Student is part of identity
  string Title is part of identity
""")

    assert steps(surface) == [(1, "/ed-fi/students", "Create Update"), (2, "/ed-fi/grades", "Create Update")]


def test_school_years_are_left_out(surface: Surface) -> None:
    assert "/ed-fi/schoolYearTypes" not in {step.resource for step in load_steps(surface)}


def test_the_bundled_standard_loads_people_before_and_updates_them_after_their_associations(
    surface: Surface, standard: str
) -> None:
    order = {(step.resource, step.operations): step.order for step in load_steps(surface)}
    both = ("Create", "Update")
    relatives, families = {
        "3.3.1-b": ("/ed-fi/parents", "/ed-fi/studentParentAssociations"),
        "4.0": ("/ed-fi/parents", "/ed-fi/studentParentAssociations"),
        "5.2": ("/ed-fi/contacts", "/ed-fi/studentContactAssociations"),
        "6.1": ("/ed-fi/contacts", "/ed-fi/studentContactAssociations"),
    }[standard]

    enrollment = order[("/ed-fi/studentSchoolAssociations", both)]
    assert order[("/ed-fi/students", ("Create",))] < enrollment
    assert order[("/ed-fi/students", ("Update",))] == enrollment + 1
    assert order[(relatives, ("Update",))] == order[(families, both)] + 1
    assert order[("/ed-fi/schools", both)] > order[("/ed-fi/localEducationAgencies", both)]


def test_every_required_reference_of_the_bundled_standard_points_to_an_earlier_resource(surface: Surface) -> None:
    order = {step.resource: step.order for step in load_steps(surface) if "Create" in step.operations}
    years = "SchoolYearType"

    forwards = {
        (resource.endpoint, reference.target.resource)
        for resource in surface.resources
        for reference in resource.references
        if reference.is_required and reference.target in surface.by_name and reference.target.resource != years
        if order[surface.by_name[reference.target].url_path] >= order[resource.url_path]
    }

    assert forwards == set()


def test_the_graph_repeats_people_after_their_associations(surface_of: SurfaceOf) -> None:
    edges = etree.fromstring(graphml(surface_of(STUDENTS))).iterfind(".//{*}edge")

    assert {(edge.get("source"), edge.get("target")) for edge in edges} == {
        ("/ed-fi/schools", "/ed-fi/studentSchoolAssociations"),
        ("/ed-fi/students", "/ed-fi/studentSchoolAssociations"),
        ("/ed-fi/studentSchoolAssociations", "/ed-fi/grades"),
        ("/ed-fi/studentSchoolAssociations", "/ed-fi/students#Retry"),
    }


@pytest.mark.parametrize("accepted", ["application/graphml", "application/json, Application/GraphML;q=0.5"])
def test_graphml_is_served_on_request(accepted: str, client) -> None:
    response = client.get("/metadata/dependencies", headers={"Accept": accepted})

    assert response["Content-Type"] == "application/graphml"
    assert b'<graph id="EdFi Dependencies" edgedefault="directed">' in response.content
