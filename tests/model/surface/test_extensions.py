"""Additions of extension projects: resources, members of core documents, members of commons."""

from edfi_api.model.surface.resource import ResourceName
from tests.model.surface.json_schema import exists, validator
from tests.model.surface.models import SurfaceOf, named, texts
from tests.model.surface.paths import equal_paths, item_keys, paths_of, query_fields

CORE = """
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
  common Address is optional collection
Domain Entity School based on EducationOrganization
  integer SchoolId renames identity property EducationOrganizationId
  common Bell is optional
Domain Entity Depot based on EducationOrganization
  integer DepotId renames identity property EducationOrganizationId
Domain Entity Section
  string SectionIdentifier is part of identity
  domain entity School is part of identity
Domain Entity Student
  string StudentCode is part of identity
Association StudentSectionAssociation
  domain entity Student
  domain entity Section
Association GeneralStudentProgramAssociation
  domain entity Student
  domain entity Section
Common Address
  string City is part of identity
Common Bell
  string Tone is optional
"""


def test_new_entities_get_endpoints_below_their_project(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        GrandBend="""
Domain Entity Applicant
  string ApplicantCode is part of identity
  domain entity EdFi.School is required
  descriptor Mood is optional
Descriptor Mood
""",
    )
    applicant = named(surface, "Applicant", project="GrandBend")

    assert applicant.url_path == "/grand-bend/applicants"
    assert surface.by_endpoint["grand-bend", "mooddescriptors"].name == ResourceName("GrandBend", "MoodDescriptor")
    assert applicant.references[0].target == ResourceName("Ed-Fi", "School")
    assert applicant.descriptors[0].target == ResourceName("GrandBend", "MoodDescriptor")
    assert applicant.json_schema["title"] == "GrandBend.Applicant"
    assert [(project.name, project.endpoint, project.is_extension) for project in surface.projects] == [
        ("Ed-Fi", "ed-fi", False),
        ("GrandBend", "grand-bend", True),
    ]


def test_entities_of_one_name_in_two_projects_are_separate(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        Transit="""
Domain Entity Section
  integer SectionNumber is part of identity
Domain Entity Ride
  string RideCode is part of identity
  domain entity Section is optional
  domain entity EdFi.Section is optional role name School
""",
    )

    assert surface.by_endpoint["transit", "sections"].name == ResourceName("Transit", "Section")
    assert {str(r.path): r.target.project for r in named(surface, "Ride", "Transit").references} == {
        "$.sectionReference": "Transit",
        "$.schoolSectionReference": "Ed-Fi",
    }


def test_additions_are_below_ext_and_the_lowered_project_name(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        GrandBend="""
Domain Entity EdFi.School additions
  date FoundingDate is required
  string SchoolBadge is optional collection
  decimal Rank is optional
  descriptor Mood is optional
Descriptor Mood
""",
    )
    school = named(surface, "School")
    body = {"schoolId": 1, "_ext": {"grandbend": {"foundingDate": "1990-09-01", "badges": [{"schoolBadge": "x"}]}}}

    assert validator(school.json_schema).is_valid(body)
    assert validator(school.json_schema).is_valid({"schoolId": 1})
    assert set(school.json_schema["properties"]["_ext"]["properties"]["grandbend"]["properties"]) == {
        "foundingDate",
        "badges",
        "rank",
        "moodDescriptor",
    }
    assert texts(d.path for d in school.descriptors) == ["$._ext.grandbend.moodDescriptor"]
    assert texts(limit.path for limit in school.decimals) == ["$._ext.grandbend.rank"]
    assert texts(school.value_paths.dates) == ["$._ext.grandbend.foundingDate"]
    assert item_keys(school)["$._ext.grandbend.badges"] == ["$.schoolBadge"]


def test_a_required_addition_is_required_where_its_project_adds_anything(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        Sample="""
Domain Entity EdFi.School additions
  date FoundingDate is required
  bool Fenced is optional
""",
    )
    schema = validator(named(surface, "School").json_schema)

    assert not schema.is_valid({"schoolId": 1, "_ext": {"sample": {"fenced": True}}})
    assert not schema.is_valid({"schoolId": 1, "_ext": {"sample": {"foundingDate": "1990-09-01", "unknown": 1}}})


def test_additions_change_neither_identity_nor_query_fields_nor_security(surface_of: SurfaceOf) -> None:
    additions = """
Association EdFi.StudentSectionAssociation additions
  domain entity EdFi.School is required
  string Motto is optional
"""
    plain = named(surface_of(CORE), "StudentSectionAssociation")

    extended = named(surface_of(CORE, Sample=additions), "StudentSectionAssociation")

    assert extended.identity == plain.identity
    assert extended.query_fields == plain.query_fields
    assert extended.securable_elements == plain.securable_elements


def test_additions_of_several_projects_are_combined(surface_of: SurfaceOf) -> None:
    addition = """
Domain Entity EdFi.Student additions
  bool Left is optional
"""
    surface = surface_of(CORE, One=addition, Two=addition)

    assert set(named(surface, "Student").json_schema["properties"]["_ext"]["properties"]) == {"one", "two"}


def test_references_in_additions_are_references_of_the_extended_resource(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        Xyz="""
Association EdFi.StudentSectionAssociation additions
  domain entity EdFi.School is optional
""",
    )
    association = named(surface, "StudentSectionAssociation")

    added = association.references[-1]

    assert str(added.path) == "$._ext.xyz.schoolReference"
    assert [(str(pair.here), str(pair.there)) for pair in added.identity] == [
        ("$._ext.xyz.schoolReference.schoolId", "$.schoolId")
    ]
    assert not added.is_required
    assert equal_paths(association) == {
        frozenset({"$._ext.xyz.schoolReference.schoolId", "$.sectionReference.schoolId"})
    }


def test_a_merge_in_additions_may_refer_to_the_core_document(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        Xyz="""
Association EdFi.StudentSectionAssociation additions
  association EdFi.StudentSectionAssociation is optional role name Former
    merge FormerStudentSectionAssociation.Student with Student
""",
    )

    assert equal_paths(named(surface, "StudentSectionAssociation")) == {
        frozenset(
            {
                "$._ext.xyz.formerStudentSectionAssociationReference.studentCode",
                "$.studentReference.studentCode",
            }
        )
    }


def test_a_common_extension_adds_to_the_items_of_that_entity_only(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        Sample="""
Common EdFi.Address additions
  string GateCode is required
  descriptor Mood is optional
Common EdFi.Bell additions
  bool Loud is optional
Domain Entity EdFi.School additions
  common extension EdFi.Address is optional collection
  common extension EdFi.Bell is optional
Descriptor Mood
""",
    )
    school, depot = named(surface, "School"), named(surface, "Depot")
    items = school.json_schema["properties"]["addresses"]["items"]["properties"]
    body = {
        "schoolId": 1,
        "addresses": [{"city": "Elm", "_ext": {"sample": {"gateCode": "77"}}}],
        "bell": {"tone": "A", "_ext": {"sample": {"loud": True}}},
    }

    assert items["_ext"]["properties"]["sample"]["required"] == ["gateCode"]
    assert "_ext" not in school.json_schema["properties"]
    assert "_ext" not in depot.json_schema["properties"]["addresses"]["items"]["properties"]
    assert validator(school.json_schema).is_valid(body)
    assert texts(d.path for d in school.descriptors) == ["$.addresses[*]._ext.sample.moodDescriptor"]
    assert item_keys(school) == {"$.addresses": ["$.city"]}


def test_subclasses_of_core_entities_are_resources_of_the_extension(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        Sample="""
Domain Entity Academy based on EdFi.EducationOrganization
  integer AcademyId renames identity property EducationOrganizationId
Association StudentArtAssociation based on EdFi.GeneralStudentProgramAssociation
  bool Gifted is optional
""",
    )
    academy = named(surface, "Academy", "Sample")
    organization = next(a for a in surface.abstract_resources if a.name.resource == "EducationOrganization")

    assert academy.url_path == "/sample/academies"
    assert set(academy.json_schema["properties"]) == {"academyId", "addresses"}
    assert academy.superclass is not None
    assert academy.superclass.name == ResourceName("Ed-Fi", "EducationOrganization")
    assert academy.name in organization.subclasses
    assert texts(named(surface, "StudentArtAssociation", "Sample").identity) == [
        "$.sectionReference.schoolId",
        "$.sectionReference.sectionIdentifier",
        "$.studentReference.studentCode",
    ]
    assert [t.resource for t in surface.organizations.types] == ["School", "Depot", "Academy", "EducationOrganization"]


def test_extension_entities_have_query_fields_like_those_of_the_core(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        Sample="""
Domain Entity Applicant
  string ApplicantCode is part of identity
  domain entity EdFi.Section is optional role name Art
""",
    )

    assert query_fields(named(surface, "Applicant", "Sample")) == {
        "id": ["$.id"],
        "applicantCode": ["$.applicantCode"],
        "artSchoolId": ["$.artSectionReference.schoolId"],
        "artSectionIdentifier": ["$.artSectionReference.sectionIdentifier"],
    }


def test_every_path_of_an_extended_resource_exists_in_its_body(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE
        + """
Inline Common Hours
  time Opening is required
""",
        Sample="""
Common EdFi.Address additions
  domain entity EdFi.Section is required
  common Gate is optional collection
Common Gate
  string GateCode is part of identity
  domain entity Guard is part of identity
Domain Entity Guard
  string GuardCode is part of identity
  domain entity EdFi.School is part of identity
Domain Entity EdFi.School additions
  common extension EdFi.Address is optional collection
  domain entity Guard is optional collection
  inline common EdFi.Hours is optional role name Office
  choice Fence is optional
Choice Fence
  decimal Height is required
  string Material is required collection
Association EdFi.StudentSectionAssociation additions
  domain entity Guard is required
  common Gate is required
""",
    )
    extended = [named(surface, "School"), named(surface, "StudentSectionAssociation")]

    missing = [str(p) for resource in extended for p in paths_of(resource) if not exists(p, resource.json_schema)]

    assert missing == []
    assert "$.addresses[*]._ext.sample.gates[*].guardReference.guardCode" in texts(paths_of(extended[0]))
    assert item_keys(extended[0])["$.addresses[*]._ext.sample.gates"] == [
        "$.gateCode",
        "$.guardReference.guardCode",
        "$.guardReference.schoolId",
    ]
