"""The domains of a resource."""

from tests.model.surface.models import SurfaceOf, named

CORE = """
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Room
  string RoomCode is part of identity
Descriptor Color
Subdomain Classes of Teaching
  domain entity School
Domain Teaching
  domain entity School
  descriptor Color
Domain Buildings
  domain entity School
"""


def test_a_resource_lists_its_domains_then_its_subdomains(surface_of: SurfaceOf) -> None:
    surface = surface_of(CORE)

    assert named(surface, "School").domains == ("Teaching", "Buildings", "Classes")
    assert named(surface, "ColorDescriptor").domains == ("Teaching",)
    assert named(surface, "Room").domains == ()


def test_domains_of_extensions_follow(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        CORE,
        Sample="""
Domain Sports
  domain entity EdFi.School
""",
    )

    assert named(surface, "School").domains == ("Teaching", "Buildings", "Classes", "Sports")


def test_a_project_lists_its_domains_without_subdomains(surface_of: SurfaceOf) -> None:
    assert surface_of(CORE).projects[0].domains == ("Teaching", "Buildings")
