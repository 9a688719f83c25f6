"""Two made-up standards, and mappings between them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from edfi_api.features.loading.mapping import UnmappedCounts
from edfi_api.features.loading.mapping.files import read
from edfi_api.features.loading.mapping.plans import compile_plans
from edfi_api.features.loading.mapping.translation import DescriptorValues, Step, Translator
from edfi_api.model.surface.resource import ResourceName, Surface

BEFORE = """
Descriptor Colour
Descriptor Hue
Shared String Remark
Domain Entity Boat
  integer BoatId is part of identity
  descriptor Colour is optional
  string Title is optional
  domain entity Boat is optional role name Parent
Domain Entity Crew
  domain entity Boat is part of identity
  integer Rank is part of identity
  string Nickname is optional
Common Badge
  string BadgeCode is part of identity
  descriptor Hue is optional
Common Wage
  integer Amount is part of identity
  date Since is optional
Domain Entity Watch
  domain entity Crew is part of identity
  date WatchDate is part of identity
  common Badge is optional collection
  common Wage is optional
  shared string Remark is optional collection
  descriptor Colour is optional collection
Domain Entity Flag
  integer FlagId is part of identity
"""
AFTER = """
Descriptor Colour
Descriptor Tint
Shared String Remark
Domain Entity Ship
  integer ShipId is part of identity
  descriptor Colour is optional
  domain entity Ship is optional collection role name Parent
  string Title is optional
Domain Entity Crew
  domain entity Ship is part of identity
  string RankName is part of identity
  integer Rank is optional
Domain Entity CrewBadge
  domain entity Crew is part of identity
  string BadgeCode is part of identity
  descriptor Tint is optional
Common Wage
  integer Amount is part of identity
  date Since is required
Domain Entity Watch
  domain entity Crew is part of identity
  date WatchDate is part of identity
  common Wage is optional collection
  shared string Remark is optional collection
  descriptor Colour is optional
"""
MAPPING = """
from = "1.0"
to = "2.0"

[namespaces]
"uri://ed-fi.org/HueDescriptor" = "uri://ed-fi.org/TintDescriptor"

[values]
"uri://ed-fi.org/ColourDescriptor#Grey" = "uri://ed-fi.org/ColourDescriptor#Gray"

[resources.boats]
to = "ships"

[resources.boats.members]
boatId = "shipId"
parentBoatReference = "parentShips[*].parentShipReference"

[resources.hueDescriptors]
to = "tintDescriptors"

[resources.crews.members]
boatReference = "shipReference"

[resources.crews.lost_members]
nickname = "nobody asked for it"

[resources.crews.given]
rankName = "Rank {rank}"

[resources.watches.members]
wage = "wages[*]"
"colours[*].colourDescriptor" = "colourDescriptor"

[resources.watches.given]
"wages[*].since" = "{watchDate}"

[[resources.watches.makes]]
to = "crewBadges"
each = "badges"

[resources.watches.makes.members]
crewReference = "crewReference"
"badges[*].badgeCode" = "badgeCode"
"badges[*].hueDescriptor" = "tintDescriptor"

[resources.flags]
lost = "ships have none"
"""


class Result(NamedTuple):
    """Bodies by resource, what was lost, and what was given."""

    bodies: list[tuple[str, Any]]
    lost: dict[tuple[str, str], int]
    given: dict[tuple[str, str], int]


@pytest.fixture
def surfaces(surface_of) -> tuple[Surface, Surface]:
    return surface_of(BEFORE, "1.0"), surface_of(AFTER, "2.0")


@pytest.fixture
def step_of(surfaces, tmp_path: Path) -> Callable[[str], Step]:
    """Compiles the text of a mapping."""

    def compiled(text: str) -> Step:
        path = tmp_path / "boats.toml"
        path.write_text(text)
        file, source = read(path)
        return Step("boats", compile_plans(file, source, *surfaces), DescriptorValues(file.namespaces, file.values))

    return compiled


@pytest.fixture
def translate(surfaces, step_of) -> Callable[[str, Any], Result]:
    translator = Translator(*surfaces, [step_of(MAPPING)])

    def translated(resource: str, body: Any) -> Result:
        unmapped = UnmappedCounts()
        found = translator.translate(ResourceName("Ed-Fi", resource), body, unmapped)
        return Result(
            [(each.resource.resource, each.body) for each in found],
            {(place.resource, place.path): count for place, count in unmapped.lost.items()},
            {(place.resource, place.path): count for place, count in unmapped.given.items()},
        )

    return translated
