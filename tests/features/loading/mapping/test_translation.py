"""What becomes of documents: their members, references, descriptor values and keys."""

from edfi_api.features.loading.mapping import UnmappedCounts
from edfi_api.model.surface.resource import ResourceName
from tests.features.loading.mapping.conftest import MAPPING

GREY, GRAY = "uri://ed-fi.org/ColourDescriptor#GREY", "uri://ed-fi.org/ColourDescriptor#Gray"
CREW = {"boatId": 1, "rank": 2}
NEW_CREW = {"shipId": 1, "rankName": "Rank 2"}


def test_members_are_renamed_in_documents_and_in_references_to_them(translate) -> None:
    boat = translate("Boat", {"boatId": 2, "title": "Lark", "parentBoatReference": {"boatId": 1}})
    crew = translate("Crew", {"boatReference": {"boatId": 1}, "rank": 2})

    assert boat.bodies == [
        ("Ship", {"shipId": 2, "title": "Lark", "parentShips": [{"parentShipReference": {"shipId": 1}}]})
    ]
    assert crew.bodies == [("Crew", {"shipReference": {"shipId": 1}, "rank": 2, "rankName": "Rank 2"})]


def test_what_is_given_to_a_key_is_given_to_references_to_it(translate) -> None:
    watch = translate("Watch", {"crewReference": CREW, "watchDate": "2025-01-02"})

    assert watch.bodies == [("Watch", {"crewReference": NEW_CREW, "watchDate": "2025-01-02"})]
    assert (watch.lost, watch.given) == ({}, {})


def test_an_object_becomes_an_item_and_what_it_lacks_is_given(translate) -> None:
    body = {"crewReference": CREW, "watchDate": "2025-01-02"}

    without, with_date = (
        translate("Watch", {**body, "wage": wage}) for wage in ({"amount": 5}, {"amount": 5, "since": "2024-01-01"})
    )

    assert without.bodies[0][1]["wages"] == [{"amount": 5, "since": "2025-01-02"}]
    assert without.given == {("watches", "wages[*].since"): 1}
    assert with_date.bodies[0][1]["wages"] == [{"amount": 5, "since": "2024-01-01"}]
    assert with_date.given == {}


def test_of_an_array_the_first_item_becomes_a_member_and_the_others_are_lost(translate) -> None:
    colours = [{"colourDescriptor": f"uri://ed-fi.org/ColourDescriptor#{code}"} for code in ("Red", "Blue", "Green")]

    watch = translate("Watch", {"crewReference": CREW, "watchDate": "2025-01-02", "colours": colours})

    assert watch.bodies[0][1]["colourDescriptor"] == "uri://ed-fi.org/ColourDescriptor#Red"
    assert watch.lost == {("watches", "colours[*].colourDescriptor"): 2}


def test_items_become_documents_and_of_those_with_one_key_the_first_does(translate) -> None:
    badges = [
        {"badgeCode": "A", "hueDescriptor": "uri://ed-fi.org/HueDescriptor#Dark"},
        {"badgeCode": "B"},
        {"badgeCode": "A"},
    ]

    watch = translate("Watch", {"crewReference": CREW, "watchDate": "2025-01-02", "badges": badges})

    dark = "uri://ed-fi.org/TintDescriptor#Dark"
    assert watch.bodies == [
        ("Watch", {"crewReference": NEW_CREW, "watchDate": "2025-01-02"}),
        ("CrewBadge", {"crewReference": NEW_CREW, "badgeCode": "A", "tintDescriptor": dark}),
        ("CrewBadge", {"crewReference": NEW_CREW, "badgeCode": "B"}),
    ]
    assert watch.lost == {("watches", "badges"): 1}


def test_lost_members_and_documents_are_counted(translate) -> None:
    crew = translate("Crew", {"boatReference": {"boatId": 1}, "rank": 2, "nickname": "Jo"})

    assert "nickname" not in crew.bodies[0][1]
    assert crew.lost == {("crews", "nickname"): 1}
    assert translate("Flag", {"flagId": 1}) == ([], {("flags", ""): 1}, {})


def test_descriptor_values_are_mapped_where_they_are_used_and_where_they_are_defined(translate) -> None:
    boat = translate("Boat", {"boatId": 1, "colourDescriptor": GREY})
    grey = translate("ColourDescriptor", {"namespace": "uri://ed-fi.org/ColourDescriptor", "codeValue": "Grey"})
    dark = translate("HueDescriptor", {"namespace": "uri://ed-fi.org/HueDescriptor", "codeValue": "Dark"})

    assert boat.bodies[0][1]["colourDescriptor"] == GRAY
    assert grey.bodies == [("ColourDescriptor", {"namespace": "uri://ed-fi.org/ColourDescriptor", "codeValue": "Gray"})]
    assert dark.bodies == [("TintDescriptor", {"namespace": "uri://ed-fi.org/TintDescriptor", "codeValue": "Dark"})]


def test_what_the_standard_does_not_know_is_left_to_the_api(translate) -> None:
    extras = {"colour": [1], "_ext": {"sample": {}}, "remarks": "none"}

    assert translate("Boat", {"boatId": {}, **extras}).bodies == [("Ship", {"shipId": {}, **extras})]
    assert translate("Watch", {"badges": "x", "remarks": [3]}).bodies == [("Watch", {"badges": "x", "remarks": [3]})]
    assert translate("Boat", [1]).bodies == [("Ship", [1])]
    assert translate("Sail", {"sailId": 1}).bodies == [("Sail", {"sailId": 1})]


def test_a_digest_of_the_key_is_the_same_in_references(surfaces, step_of) -> None:
    step = step_of(MAPPING.replace('"Rank {rank}"', '"{key}"'))

    (crew,) = step.translate(
        ResourceName("Ed-Fi", "Crew"), {"boatReference": {"boatId": "1"}, "rank": "2"}, UnmappedCounts()
    )
    (watch,) = step.translate(
        ResourceName("Ed-Fi", "Watch"), {"crewReference": CREW, "watchDate": "2025-01-02"}, UnmappedCounts()
    )

    assert len(crew.body["rankName"]) == 32
    assert watch.body["crewReference"] == {"shipId": 1, "rankName": crew.body["rankName"]}
