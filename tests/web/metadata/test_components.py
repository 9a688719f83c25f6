"""JSON schemas as OpenAPI components, on small models. See
meadowlark/docs/reference/contract.md#discovery-and-metadata."""

from typing import Any

from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata.openapi import descriptors_document, resources_document
from tests.model.surface.models import SurfaceOf

SCHOOL = """
Domain Entity School
  integer SchoolId is part of identity
  string SchoolName is required
  string Motto is optional
  decimal Rating is optional
  common Address is optional collection
  common Contact is optional
Common Address
  string City is part of identity
  string Street is optional
  common Period is optional collection
Common Period
  date BeginDate is part of identity
Common Contact
  string ContactName is required
Domain Entity Section
  domain entity School is part of identity
  string SectionCode is part of identity
  domain entity School is optional role name Partner
"""


def schemas(surface: Surface) -> dict[str, Any]:
    return resources_document(surface, "https://h")["components"]["schemas"]


def properties(surface: Surface, component: str) -> dict[str, Any]:
    return schemas(surface)[component]["properties"]


def test_every_object_of_a_document_is_a_component_named_after_its_path(surface_of: SurfaceOf) -> None:
    names = {name for name in schemas(surface_of(SCHOOL)) if name.startswith("edFi_")}

    assert names == {
        "edFi_school",
        "edFi_schoolAddress",
        "edFi_schoolAddressPeriod",
        "edFi_schoolContact",
        "edFi_schoolReference",
        "edFi_section",
    }


def test_objects_are_plain_refs(surface_of: SurfaceOf) -> None:
    school = properties(surface_of(SCHOOL), "edFi_school")

    assert school["contact"] == {"$ref": "#/components/schemas/edFi_schoolContact"}
    assert school["addresses"]["items"] == {"$ref": "#/components/schemas/edFi_schoolAddress"}


def test_references_of_all_roles_share_the_component_of_their_target(surface_of: SurfaceOf) -> None:
    section = properties(surface_of(SCHOOL), "edFi_section")

    assert section["schoolReference"]["$ref"] == "#/components/schemas/edFi_schoolReference"
    assert section["partnerSchoolReference"]["$ref"] == "#/components/schemas/edFi_schoolReference"


def test_the_id_comes_first_and_server_members_last(surface_of: SurfaceOf) -> None:
    section = list(properties(surface_of(SCHOOL), "edFi_section"))

    assert section[0] == "id"
    assert section[-2:] == ["_etag", "_lastModifiedDate"]


def test_identity_is_marked_on_values_and_inside_references(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL)
    section = properties(surface, "edFi_section")

    assert section["sectionCode"]["x-Ed-Fi-isIdentity"] is True
    assert section["schoolReference"] == {"$ref": "#/components/schemas/edFi_schoolReference"}
    assert properties(surface, "edFi_schoolReference")["schoolId"]["x-Ed-Fi-isIdentity"] is True


def test_identifying_members_of_items_are_marked_as_identity(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL)

    address = properties(surface, "edFi_schoolAddress")
    assert address["city"]["x-Ed-Fi-isIdentity"] is True
    assert "x-Ed-Fi-isIdentity" not in address["street"]
    assert properties(surface, "edFi_schoolAddressPeriod")["beginDate"]["x-Ed-Fi-isIdentity"] is True
    assert "x-Ed-Fi-isIdentity" not in properties(surface, "edFi_school")["addresses"]


def test_values_that_may_be_left_out_are_nullable(surface_of: SurfaceOf) -> None:
    school = schemas(surface_of(SCHOOL))["edFi_school"]

    assert school["properties"]["motto"]["x-nullable"] is True
    assert "x-nullable" not in school["properties"]["schoolName"]
    assert school["required"] == ["schoolId", "schoolName"]


def test_numbers_have_the_formats_that_generated_clients_need(surface_of: SurfaceOf) -> None:
    school = properties(surface_of(SCHOOL), "edFi_school")

    assert (school["rating"]["type"], school["rating"]["format"]) == ("number", "double")
    assert (school["schoolId"]["type"], school["schoolId"]["format"]) == ("integer", "int32")


def test_descriptions_are_the_documentation_of_the_model(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL)

    assert schemas(surface)["edFi_school"]["description"] == "About it."
    assert properties(surface, "edFi_school")["motto"]["description"] == "About it."


def test_extensions_have_a_container_and_a_component_of_their_project(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL,
        GrandBend="""
Domain Entity EdFi.School additions
  string Mascot is required
  common Trophy is optional collection
Common Trophy
  string TrophyName is part of identity
Domain Entity Applicant
  string ApplicantCode is part of identity
  domain entity EdFi.School is required
""",
    )

    assert properties(surface, "edFi_school")["_ext"] == {"$ref": "#/components/schemas/edFi_schoolExtensions"}
    assert properties(surface, "edFi_schoolExtensions") == {
        "grandbend": {"$ref": "#/components/schemas/grandBend_schoolExtension"}
    }
    assert properties(surface, "grandBend_schoolExtension")["trophies"]["items"] == {
        "$ref": "#/components/schemas/grandBend_schoolExtensionTrophy"
    }
    assert properties(surface, "grandBend_applicant")["schoolReference"] == {
        "$ref": "#/components/schemas/edFi_schoolReference"
    }


def test_two_different_objects_never_share_a_name(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Room
  string RoomCode is part of identity
  common Chair is optional collection
Common Chair
  string Color is part of identity
Domain Entity RoomChair
  string RoomChairCode is part of identity
""")

    assert "roomChairCode" in properties(surface, "edFi_roomChair")
    assert properties(surface, "edFi_room")["chairs"]["items"] == {"$ref": "#/components/schemas/edFi_room_chairs"}
    assert "color" in properties(surface, "edFi_room_chairs")


def test_deprecated_properties_are_marked(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity School
  integer SchoolId is part of identity
  string Fax deprecated "Nobody has one." is optional
""")

    fax = properties(surface, "edFi_school")["fax"]
    assert (fax["deprecated"], fax["x-Ed-Fi-isDeprecated"]) == (True, True)


def test_descriptors_have_a_separate_document(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL + "\nDescriptor Color\n")

    descriptors = descriptors_document(surface, "https://h")

    assert list(descriptors["paths"]) == [
        "/ed-fi/colorDescriptors",
        "/ed-fi/colorDescriptors/{id}",
        "/ed-fi/colorDescriptors/partitions",
        "/ed-fi/colorDescriptors/deletes",
        "/ed-fi/colorDescriptors/keyChanges",
    ]
    color = descriptors["components"]["schemas"]["edFi_colorDescriptor"]["properties"]
    assert color["codeValue"]["x-Ed-Fi-isIdentity"] is True
    assert "edFi_colorDescriptor" not in schemas(surface)
