"""A mapping file with errors is refused as a whole, with all of them: the line, the key, and what to do."""

import pytest

from edfi_api.features.loading.mapping.files import InvalidMapping
from tests.features.loading.mapping.conftest import MAPPING


def faults(step_of, text: str) -> list[str]:
    with pytest.raises(InvalidMapping) as refused:
        step_of(text)
    return [str(fault) for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'boatId = "shipId"',
            'boatIdd = "shipId"',
            [
                "boats.toml:15: resources.boats.members.boatIdd: 1.0 has no boatIdd in boats; did you mean 'boatId'?",
                "boats.toml:14: resources.boats.members.boatId: 2.0 has no boatId in ships; say under 'members' where "
                "it goes, or under 'lost_members' why it is left out",
            ],
        ),
        (
            'boatId = "shipId"',
            'boatId = "shipIdd"',
            ["boats.toml:15: resources.boats.members.boatId: 2.0 has no shipIdd in ships; did you mean 'shipId'?"],
        ),
        (
            'boatId = "shipId"',
            'boatId = "title"',
            [
                "boats.toml:15: resources.boats.members.boatId: boatId is a value of type integer, and title is not",
            ],
        ),
        (
            'boatReference = "shipReference"',
            'boatReference = "rankName"',
            [
                "boats.toml:22: resources.crews.members.boatReference: boatReference is a reference, and its place is "
                "none",
            ],
        ),
        (
            'lost = "ships have none"\n',
            "",
            [
                "boats.toml:46: resources.flags: 2.0 has no resource flags; name another with 'to', or say with 'lost' "
                "why its documents are left out",
            ],
        ),
        (
            "[resources.flags]",
            "[resources.flagz]",
            [
                "boats.toml:46: resources.flagz: 1.0 has no such resource; did you mean 'flags'?",
                "boats.toml: resources.flags: 2.0 has no resource flags; name another with 'to', or say with 'lost' "
                "why its documents are left out",
            ],
        ),
        (
            'to = "ships"',
            'to = "shipps"',
            [
                "boats.toml:11: resources.boats: 2.0 has no resource shipps; did you mean 'ships'?; name another with "
                "'to', or say with 'lost' why its documents are left out",
            ],
        ),
        (
            'rankName = "Rank {rank}"',
            'rankName = "Rank {rang}"',
            ["boats.toml:28: resources.crews.given.rankName: 1.0 has no value rang"],
        ),
        (
            'each = "badges"',
            'each = "badge"',
            ["boats.toml:39: resources.watches.makes.each: 1.0 has no array badge"],
        ),
        (
            'rankName = "Rank {rank}"\n',
            "",
            [
                "boats.toml:27: resources.crews.given.rankName: 2.0 requires rankName in crews, which no member "
                "becomes; say under 'given' what it is",
            ],
        ),
        ('to = "ships"', "to = 7", ["boats.toml:12: resources.boats.to: Expected `str | null`, got `int`"]),
        ('to = "2.0"', "", ["boats.toml: Object missing required field `to`"]),
        ('to = "2.0"', "to = ", ["boats.toml: not TOML: Invalid value (at line 3, column 6)"]),
    ],
    ids=range(13),
)
def test_every_error_is_named_with_its_place(step_of, old: str, new: str, expected: list[str]) -> None:
    assert MAPPING.count(old) == 1

    assert faults(step_of, MAPPING.replace(old, new)) == expected
