"""`/v3/profiles`: XML kept as sent, its rules, and profiles that do not fit."""

import pytest

from edfi_api.core.security.profiles.models import Profile
from tests.features.management_api.managing import APPLICATION, PROFILE_XML, Managing, created_id


def test_a_profile_is_kept_as_it_was_sent(management: Managing) -> None:
    id_ = created_id(management.post("/v3/profiles", {"name": "Portal", "definition": PROFILE_XML}))

    assert management.get("/v3/profiles").json() == [{"id": id_, "name": "Portal"}]
    assert management.get(f"/v3/profiles/{id_}").json() == {"id": id_, "name": "Portal", "definition": PROFILE_XML}
    other = PROFILE_XML.replace("firstName", "middleName")
    body = {"id": id_, "name": "Portal", "definition": other}
    assert management.put(f"/v3/profiles/{id_}", body).status_code == 204
    assert management.get(f"/v3/profiles/{id_}").json()["definition"] == other

    Profile.objects.filter(pk=id_).update(definition=Profile.objects.get().definition.replace("middle", "last"))
    assert '<Property name="lastName"/>' in management.get(f"/v3/profiles/{id_}").json()["definition"]
    assert management.delete(f"/v3/profiles/{id_}").status_code == 204
    assert management.get(f"/v3/profiles/{id_}").json()["detail"] == (
        f"Profile {id_} not found. It may have been recently deleted."
    )


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        (
            {"name": "", "definition": " "},
            {"Name": ["Profile name is required."], "Definition": ["Profile definition is required."]},
        ),
        ({"name": "x" * 501}, {"Name": ["Profile name must be 500 characters or less."]}),
        (
            {"name": "With blank"},
            {"Name": ["Profile name must consist of letters, digits, hyphens, and underscores."]},
        ),
        ({"name": "Other"}, {"Name": ["Name must match the name attribute in the XML definition."]}),
        (
            {"definition": "<Profile name='Portal'>"},
            {"Definition": ["Profile definition XML is invalid or does not match the XSD."]},
        ),
        (
            {
                "definition": "<Profile name='Portal'><Resource name='Student'>"
                "<ReadContentType memberSelection='ExcludeOnly'>"
                "<Collection name='StudentIdentificationDocuments' memberSelection='IncludeAll'/>"
                "</ReadContentType></Resource></Profile>"
            },
            {
                "Definition": [
                    "Collection 'StudentIdentificationDocuments' in read content type hides nothing. To hide the whole "
                    'member: <Property name="StudentIdentificationDocuments"/>. To show it: leave it out.'
                ]
            },
        ),
        (
            {"definition": "<Profile name='Portal'/>"},
            {"Definition": ["Profile XML must contain at least one <Resource> element."]},
        ),
        (
            {"definition": "<Profile name='Portal'><Resource/><Other/></Profile>"},
            {
                "Definition": [
                    "All <Resource> elements must have a name attribute.",
                    "Profile definition XML is invalid or does not match the XSD.",
                ]
            },
        ),
        (
            {"definition": "<!DOCTYPE Profile [<!ENTITY a 'b'>]>" + PROFILE_XML},
            {"Definition": ["Profile definition XML is invalid or does not match the XSD."]},
        ),
        (
            {"definition": PROFILE_XML.replace("kept", "x" * 2**20)},
            {"Definition": ["Profile definition XML is invalid or does not match the XSD."]},
        ),
    ],
)
def test_rules_of_a_profile(management: Managing, changes: dict, errors: dict) -> None:
    answer = management.post("/v3/profiles", {"name": "Portal", "definition": PROFILE_XML} | changes)

    assert answer.status_code == 400
    found = answer.json()["validationErrors"]
    assert {key: sorted(texts) for key, texts in found.items()} == errors


def test_names_are_taken_in_any_case(management: Managing) -> None:
    id_ = created_id(management.post("/v3/profiles", {"name": "Portal", "definition": PROFILE_XML}))
    other = PROFILE_XML.replace("Portal", "PORTAL")
    third = created_id(management.post("/v3/profiles", {"name": "X", "definition": PROFILE_XML.replace("Portal", "X")}))

    again = management.post("/v3/profiles", {"name": "PORTAL", "definition": other})
    changed = management.put(f"/v3/profiles/{third}", {"id": third, "name": "PORTAL", "definition": other})

    assert again.json()["validationErrors"] == {"Name": ["Profile 'PORTAL' already exists."]}
    assert changed.json()["validationErrors"] == {"Name": ["A profile with this name already exists."]}
    assert Profile.objects.get(pk=id_).name == "Portal"


def test_an_assigned_profile_stays(management: Managing, vendor: int) -> None:
    id_ = created_id(management.post("/v3/profiles", {"name": "Portal", "definition": PROFILE_XML}))
    management.post("/v3/applications", APPLICATION | {"vendorId": vendor, "profileIds": [id_]})

    answer = management.delete(f"/v3/profiles/{id_}")

    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:ed-fi:api:conflict:dependent-item-exists"
    assert answer.json()["detail"] == "Profile is assigned to applications and cannot be deleted."


def test_a_definition_that_does_not_fit_is_stored_and_said(management: Managing) -> None:
    body = {"name": "Portal", "definition": PROFILE_XML.replace('"Student"', '"Unicorn"')}

    answer = management.post("/v3/profiles?verbose=true", body)

    assert answer.status_code == 201
    assert any("Unicorn" in notice for notice in answer.json()["notices"])
