"""Components that several resources share: of one shape, or narrowed differently."""

from typing import Any

import pytest
from openapi_spec_validator import validate

from edfi_api.core.security.profiles.catalog import StoredProfile
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.json_files import canonical_json
from edfi_api.model.profiles.xml_files import read_xml
from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata.profile_openapi import profile_document
from tests.model.surface.models import SurfaceOf

# The things of a hull and the hull's things of a boat have one component: edFi_boatHullThing.
BOATS = """
Common Thing
  string Code is part of identity
  string Color is optional
Domain Entity Boat
  integer BoatId is part of identity
  common Thing is optional collection role name Hull
Domain Entity BoatHull
  integer BoatHullId is part of identity
  common Thing is optional collection
"""


@pytest.fixture
def boats(surface_of: SurfaceOf) -> Surface:
    return surface_of(BOATS)


def document_of(surface: Surface, *resources: str) -> dict[str, Any]:
    (definition,) = read_xml(f'<Profile name="Harbour">{"".join(resources)}</Profile>'.encode())
    stored = StoredProfile(1, definition.name, canonical_json(definition).decode(), ProfileChecker(surface))
    assert not stored.is_incompatible
    document = profile_document(surface, "https://h", stored)
    validate(document)
    return document


def reading(resource: str, collection: str, rule: str) -> str:
    narrowed = f'<Collection name="{collection}" memberSelection="ExcludeOnly">{rule}</Collection>' if rule else ""
    part = f'<ReadContentType memberSelection="IncludeAll">{narrowed}</ReadContentType>'
    return f'<Resource name="{resource}">{part}</Resource>'


def items_of(document: dict[str, Any], component: str, collection: str) -> str:
    return document["components"]["schemas"][component]["properties"][collection]["items"]["$ref"].rpartition("/")[2]


def test_resources_that_show_the_same_share_a_component(boats: Surface) -> None:
    document = document_of(boats, reading("Boat", "hullThings", ""), reading("BoatHull", "things", ""))

    assert items_of(document, "edFi_boat_readable", "hullThings") == "edFi_boatHullThing_readable"
    assert items_of(document, "edFi_boatHull_readable", "things") == "edFi_boatHullThing_readable"


def test_a_component_that_is_narrowed_differently_is_named_after_its_resource(boats: Surface) -> None:
    hidden = '<Property name="color"/>'
    document = document_of(boats, reading("Boat", "hullThings", ""), reading("BoatHull", "things", hidden))

    whole, narrowed = (
        items_of(document, component, collection)
        for component, collection in (("edFi_boat_readable", "hullThings"), ("edFi_boatHull_readable", "things"))
    )

    assert (whole, narrowed) == ("edFi_boat_edFi_boatHullThing_readable", "edFi_boatHullThing_readable")
    schemas = document["components"]["schemas"]
    assert set(schemas[whole]["properties"]) == {"code", "color"}
    assert set(schemas[narrowed]["properties"]) == {"code"}
