"""What a write under a profile stores, and how it is refused."""

import re
from typing import Any

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.core.security.profiles.schools import HOME, MINIMAL_SCHOOL, WORK, address, cities, school
from tests.web.batch.batch_client import BatchClient

ENFORCED = "The data cannot be saved because a data policy has been applied to the request that prevents it."
WITHOUT_HOME = (
    '<Filter propertyName="addressTypeDescriptor" filterMode="ExcludeOnly"><Value>' + HOME.lower() + "</Value></Filter>"
)
ADDRESSES = f'<Collection name="addresses" memberSelection="IncludeAll">{WITHOUT_HOME}</Collection>'
STUDENT = {"studentUniqueId": "604822", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}


def with_id(body: dict[str, Any], path: str) -> dict[str, Any]:
    return body | {"id": path.rsplit("/", 1)[1]}


def stored(resource: str) -> dict[str, Any]:
    return Document.objects.get(resource_type__name=resource).body


def problem(response) -> dict[str, Any]:
    body = response.json()
    assert response["Content-Type"] == "application/problem+json"
    assert body.pop("correlationId")
    return body


def enforced(message: str) -> dict[str, Any]:
    return {
        "detail": ENFORCED,
        "type": "urn:ed-fi:api:data-policy-enforced",
        "title": "Data Policy Enforced",
        "status": 400,
        "validationErrors": {},
        "errors": [message],
    }


CANNOT_CREATE = enforced(
    "The Profile definition for 'Part' excludes (or does not include) one or more required data elements needed to "
    "create the resource."
)
CONTRADICTS = enforced(
    "The Profile definition for 'Part' hides one or more stored data elements that do not agree with the supplied data."
)


def test_a_put_replaces_what_is_visible_and_keeps_what_is_hidden(api, narrow) -> None:
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann", "generationCodeSuffix": "II"}))
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')

    response = client.put(path, with_id(STUDENT | {"firstName": "May", "maidenName": "Ruiz"}, path))

    assert (response.status_code, response.content) == (204, b"")
    assert stored("Student") == STUDENT | {"firstName": "May", "maidenName": "Ruiz", "middleName": "Ann"}
    assert response["ETag"] == client.get(path)["ETag"]


def test_a_post_onto_a_stored_document_merges(api, narrow) -> None:
    api.post("/students", STUDENT | {"middleName": "Ann"})
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')

    response = client.post("/students", STUDENT | {"lastSurname": "Ruiz", "middleName": "Eve"})

    assert response.status_code == 200
    assert stored("Student") == STUDENT | {"lastSurname": "Ruiz", "middleName": "Ann"}


def test_a_new_document_has_what_is_visible_alone(api, narrow) -> None:
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')

    assert client.post("/students", STUDENT | {"middleName": "Ann"}).status_code == 201
    assert stored("Student") == STUDENT


def test_what_was_read_changes_nothing(api, narrow) -> None:
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann"}))
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')
    before = client.get(path)

    response = client.put(path, before.json())

    assert response.status_code == 204
    assert response["ETag"] == before["ETag"]
    assert client.get(path, HTTP_IF_NONE_MATCH=response["ETag"]).status_code == 304


def test_strict_handling_refuses_unknown_members_but_not_hidden_ones(api, narrow) -> None:
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/><Property name="dateEnteredUS"/>')
    sent = STUDENT | {"middleName": "Ann", "dateEnteredUS": "8/9/2020"}

    refused = client.post("/students", sent | {"shoeSize": 40}, HTTP_PREFER="handling=strict")

    assert problem(refused)["validationErrors"] == {"$.shoeSize": ["shoeSize is not a member of this resource."]}
    assert client.post("/students", sent, HTTP_PREFER="handling=strict").status_code == 201
    assert client.post("/students", sent | {"shoeSize": 1})["Lenient-Handling"] == '"$.shoeSize";reason=unknown-member'


def test_strict_handling_refuses_a_key_that_looks_like_a_stored_one(api, narrow) -> None:
    api.post("/students", STUDENT | {"studentUniqueId": "Ab-1"})
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')
    twin = STUDENT | {"studentUniqueId": "Ab\u200b-1"}

    refused = client.post("/students", twin, HTTP_PREFER="handling=strict")
    lenient = client.post("/students", twin)

    assert (refused.status_code, list(problem(refused)["validationErrors"])) == (400, ["$.studentUniqueId"])
    assert (lenient.status_code, lenient["Lenient-Handling"]) == (201, '"$.studentUniqueId";reason=like-stored-key')
    # No longer new.
    assert client.post("/students", twin, HTTP_PREFER="handling=strict").status_code == 200


def test_strict_handling_refuses_a_new_document_that_a_profile_prevents_as_lenient_does(api, narrow) -> None:
    api.post("/students", STUDENT | {"studentUniqueId": "Ab-1"})
    client = narrow("Student", 'ExcludeOnly:<Property name="birthDate"/>')
    twin = STUDENT | {"studentUniqueId": "ab-1"}

    answers = [problem(client.post("/students", twin, **strict)) for strict in ({}, {"HTTP_PREFER": "handling=strict"})]

    assert answers[0]["type"] == "urn:ed-fi:api:data-policy-enforced"
    assert answers[0] == answers[1]


@pytest.mark.usefixtures("descriptors")
def test_hidden_members_are_dropped_unseen(api, narrow) -> None:
    """Wrong types, unknown descriptors, dangling references and repeated items of hidden members are no errors."""
    api.post("/schools", MINIMAL_SCHOOL | {"webSite": "https://north"})
    hidden = ("webSite", "addresses", "localEducationAgencyReference", "schoolTypeDescriptor", "gradeLevels")
    client = narrow("School", "ExcludeOnly:" + "".join(f'<Property name="{name}"/>' for name in hidden))
    nonsense = {
        "webSite": {"a": [1.5]},
        "addresses": [address("X"), address("X"), 7],
        "localEducationAgencyReference": {"localEducationAgencyId": 99},
        "schoolTypeDescriptor": "uri://ed-fi.org/SchoolTypeDescriptor#Unheard-of",
        "gradeLevels": [],
    }

    assert client.post("/schools", MINIMAL_SCHOOL | {"shortNameOfInstitution": "N"} | nonsense).status_code == 200
    assert stored("School") == MINIMAL_SCHOOL | {"shortNameOfInstitution": "N", "webSite": "https://north"}


@pytest.mark.usefixtures("descriptors")
@pytest.mark.parametrize(
    ("sent", "expected"),
    [(["S", "U", "P", "V"], ["S", "Q", "U", "P", "V", "T"]), (["R"], ["R", "Q", "T"]), ([], ["Q", "T"])],
)
def test_hidden_items_keep_their_places(api, narrow, sent: list[str], expected: list[str]) -> None:
    kept = [address(city, HOME if city in "QT" else WORK, nameOfCounty=f"of {city}") for city in "PQRST"]
    path = item_path(api.post("/schools", MINIMAL_SCHOOL | {"addresses": kept}))
    client = narrow("School", f"IncludeAll:{ADDRESSES}")

    assert cities(client.get(path).json()) == ["P", "R", "S"]
    assert client.put(path, with_id(school(*sent), path)).status_code == 204
    assert cities(stored("School")) == expected
    hidden = [each for each in stored("School")["addresses"] if each["addressTypeDescriptor"] == HOME]
    assert hidden == [kept[1], kept[4]]


@pytest.mark.usefixtures("descriptors")
def test_matched_items_keep_their_hidden_members(api, narrow) -> None:
    path = item_path(api.post("/schools", MINIMAL_SCHOOL | {"addresses": [address("P", nameOfCounty="C")]}))
    rule = 'ExcludeOnly:<Collection name="addresses" memberSelection="ExcludeOnly"><Property name="nameOfCounty"/>'
    client = narrow("School", f"{rule}</Collection>")
    sent = [address("New"), address("P", WORK.upper().replace("URI:", "uri:"), buildingSiteNumber="7")]

    assert client.put(path, with_id(MINIMAL_SCHOOL | {"addresses": sent}, path)).status_code == 204
    assert stored("School")["addresses"] == [
        address("New"),
        address("P", nameOfCounty="C", buildingSiteNumber="7"),
    ]


@pytest.mark.usefixtures("descriptors")
def test_items_that_the_filter_hides_are_refused_all_at_once(api, narrow) -> None:
    client = narrow("School", f"IncludeAll:{ADDRESSES}")
    sent = MINIMAL_SCHOOL | {"addresses": [address("A", HOME), address("B"), address("C", HOME)]}
    text = "Submitted collection item failed the writable profile value filter."

    assert problem(client.post("/schools", sent)) == {
        "detail": "The request data failed validation against the assigned profile. See 'validationErrors' for "
        "details.",
        "type": "urn:ed-fi:api:bad-request:data-validation-failed",
        "title": "Data Validation Failed",
        "status": 400,
        "validationErrors": {"$.addresses[0]": [text], "$.addresses[2]": [text]},
        "errors": [text, text],
    }
    # Behind the schema.
    response = client.post("/schools", sent | {"nameOfInstitution": 7, "webSite": "x"})
    assert set(response.json()["validationErrors"]) == {"$.nameOfInstitution", "$.webSite"}


@pytest.mark.usefixtures("descriptors")
def test_what_lacks_hidden_required_members_is_not_created(api, narrow) -> None:
    client = narrow("School", 'ExcludeOnly:<Property name="gradeLevels"/>')

    assert problem(client.post("/schools", MINIMAL_SCHOOL)) == CANNOT_CREATE
    assert not Document.objects.filter(resource_type__name="School").exists()

    path = item_path(api.post("/schools", MINIMAL_SCHOOL))
    assert client.post("/schools", MINIMAL_SCHOOL | {"nameOfInstitution": "South"}).status_code == 200
    assert client.put(path, with_id(MINIMAL_SCHOOL | {"nameOfInstitution": "East"}, path)).status_code == 204
    assert stored("School") == MINIMAL_SCHOOL | {"nameOfInstitution": "East"}


@pytest.fixture
def record(api, documents, resource_named) -> dict[str, Any]:
    """The body of an academic record whose targets are stored."""
    resource = resource_named("StudentAcademicRecord")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    return body


RANKING = {"classRank": 7, "totalNumberInClass": 30}
PARTIAL_RANKING = 'IncludeAll:<Object name="classRanking" memberSelection="ExcludeOnly"><Property name="{}"/></Object>'


def test_an_object_is_not_created_without_hidden_required_members(api, narrow, record) -> None:
    path = item_path(api.post("/studentAcademicRecords", record))
    client = narrow("StudentAcademicRecord", PARTIAL_RANKING.format("totalNumberInClass"))

    response = client.put(path, with_id(record | {"classRanking": RANKING}, path))

    assert problem(response) == CANNOT_CREATE
    assert client.put(path, with_id(record, path)).status_code == 204
    api.put(path, with_id(record | {"classRanking": RANKING}, path))
    assert client.put(path, with_id(record | {"classRanking": {"classRank": 8}}, path)).status_code == 204
    assert stored("StudentAcademicRecord")["classRanking"] == {"classRank": 8, "totalNumberInClass": 30}


@pytest.mark.parametrize("shown", ['<Property name="percentageRanking"/>', ""])
def test_an_object_that_is_sent_with_hidden_members_alone_is_refused(api, narrow, record, shown: str) -> None:
    rule = f'IncludeAll:<Object name="classRanking" memberSelection="IncludeOnly">{shown}</Object>'
    client = narrow("StudentAcademicRecord", rule)
    body = record | {"classRanking": RANKING}

    operation = {"resource": "/ed-fi/studentAcademicRecords", "document": body}

    posted = client.post("/studentAcademicRecords", body)
    batched = BatchClient(client.token).independent(operation)

    assert not Document.objects.filter(resource_type__name="StudentAcademicRecord").exists()
    path = item_path(api.post("/studentAcademicRecords", record))
    put, again = client.put(path, with_id(body, path)), client.post("/studentAcademicRecords", body)
    update = operation | {"op": "update", "id": path.rsplit("/", 1)[1]}
    batched += BatchClient(client.token).independent(operation, update)
    assert stored("StudentAcademicRecord") == record
    assert [problem(each) for each in (posted, put, again)] == [CANNOT_CREATE] * 3
    assert [(each["status"], each["problem"]["type"]) for each in batched] == [(400, CANNOT_CREATE["type"])] * 3


def test_a_hidden_rest_that_would_be_invalid_is_kept_whole(api, narrow, record) -> None:
    full = record | {"classRanking": RANKING | {"percentageRanking": 90}}
    path = item_path(api.post("/studentAcademicRecords", full))
    client = narrow("StudentAcademicRecord", PARTIAL_RANKING.format("percentageRanking"))

    assert problem(client.put(path, with_id(record, path))) == CONTRADICTS
    assert stored("StudentAcademicRecord") == full


def test_a_value_that_contradicts_a_hidden_one_is_refused(api, narrow, documents, resource_named) -> None:
    resource = resource_named("StudentSchoolAssociation")
    body = documents.minimal_body(resource) | {
        "calendarReference": {"calendarCode": "Value", "schoolId": 1008, "schoolYear": 2026},
        "schoolYearTypeReference": {"schoolYear": 2026},
    }
    documents.store_targets(resource, body)
    api.post("/schoolYearTypes", {"schoolYear": 2027, "currentSchoolYear": False, "schoolYearDescription": "2027"})
    path = item_path(api.post("/studentSchoolAssociations", body))
    client = narrow("StudentSchoolAssociation", 'ExcludeOnly:<Property name="calendarReference"/>')

    response = client.put(path, with_id(body | {"schoolYearTypeReference": {"schoolYear": 2027}}, path))

    assert problem(response) == CONTRADICTS
    assert stored("StudentSchoolAssociation") == body


@pytest.mark.usefixtures("descriptors")
def test_an_item_with_the_key_of_a_hidden_one_is_refused(api, narrow) -> None:
    kept = [address("P", doNotPublishIndicator=True, nameOfCounty="Hidden")]
    api.post("/schools", MINIMAL_SCHOOL | {"addresses": kept})
    filtered = '<Filter propertyName="nameOfCounty" filterMode="ExcludeOnly"><Value>Hidden</Value></Filter>'
    rule = f'IncludeAll:<Collection name="addresses" memberSelection="IncludeAll">{filtered}</Collection>'
    client = narrow("School", rule)

    assert problem(client.post("/schools", school("P"))) == CONTRADICTS
    assert client.post("/schools", school("R")).status_code == 200
    assert cities(stored("School")) == ["P", "R"]


@pytest.mark.usefixtures("descriptors")
def test_a_filtered_collection_is_required_if_none_of_its_items_is_left(api, narrow) -> None:
    """What the visible part lacks by itself is reported as without a profile; hidden items count as there."""
    levels = '<Filter propertyName="gradeLevelDescriptor" filterMode="ExcludeOnly"><Value>x</Value></Filter>'
    rule = f'IncludeAll:<Collection name="gradeLevels" memberSelection="IncludeAll">{levels}</Collection>'
    client = narrow("School", rule)
    without = {name: value for name, value in MINIMAL_SCHOOL.items() if name != "gradeLevels"}

    new = client.post("/schools", without)
    api.post("/schools", MINIMAL_SCHOOL)
    update = client.post("/schools", without)

    for response in (new, update):
        assert problem(response)["validationErrors"] == {"$.gradeLevels": ["gradeLevels is required."]}


@pytest.mark.usefixtures("descriptors")
def test_a_dangling_reference_is_reported_at_its_place_in_what_was_sent(api, narrow) -> None:
    kept = [address("P", HOME), address("Q", HOME)]
    path = item_path(api.post("/schools", MINIMAL_SCHOOL | {"addresses": kept}))
    client = narrow("School", f"IncludeAll:{ADDRESSES}")
    unknown = "uri://ed-fi.org/AddressTypeDescriptor#Unknown"

    response = client.put(path, with_id(MINIMAL_SCHOOL | {"addresses": [address("R"), address("S", unknown)]}, path))

    assert response.status_code == 400
    assert list(response.json()["validationErrors"]) == ["$.addresses[1].addressTypeDescriptor"]


def test_conditions_hold_for_the_version_that_is_merged(api, narrow) -> None:
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann"}))
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')
    part = client.get(path)["ETag"]
    sent = with_id(STUDENT | {"firstName": "May"}, path)

    assert client.put(path, sent, HTTP_IF_MATCH='"0-l"').status_code == 412
    assert client.post("/students", sent, HTTP_IF_NONE_MATCH="*").status_code == 400  # It has an id.
    assert client.post("/students", STUDENT, HTTP_IF_NONE_MATCH="*").status_code == 412
    assert client.put(path, sent, HTTP_IF_MATCH=part).status_code == 204
    assert client.put(path, sent, HTTP_IF_MATCH=part).status_code == 412
    assert stored("Student") == STUDENT | {"firstName": "May", "middleName": "Ann"}


def test_a_change_of_hidden_members_moves_the_tag_and_the_date(api, narrow) -> None:
    """A client that reads one member may replace or delete all of them: an older tag must not let it do so."""
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann"}))
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')
    whole, part = api.get(path)["ETag"], client.get(path)["ETag"]
    assert re.fullmatch(whole.strip('"') + r"\.[0-9a-f]{8}", part.strip('"'))

    changed = api.put(path, with_id(STUDENT | {"middleName": "Eve"}, path))["ETag"]

    again = client.get(path)
    assert again["ETag"].startswith(changed.rstrip('"') + ".")
    assert again.json()["_etag"] == again["ETag"].strip('"')
    assert [each["_etag"] for each in client.get("/students").json()] == [again["ETag"].strip('"')]
    assert client.get(path, HTTP_IF_NONE_MATCH=part).status_code == 200
    assert client.get(path, HTTP_IF_NONE_MATCH=again["ETag"]).status_code == 304
    version = int(changed.strip('"').partition("-")[0])
    assert len(client.get(f"/students?minChangeVersion={version}").json()) == 1


def test_a_write_with_the_tag_from_before_a_hidden_change_is_refused(api, store, client_of) -> None:
    """Reading one member and writing all of them, as if the other writer's value had been seen."""
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann"}))
    store("Part", "Student", read='IncludeOnly:<Property name="firstName"/>', write="IncludeAll")
    client = client_of("Part")
    tag = client.get(path)["ETag"]
    api.put(path, with_id(STUDENT | {"middleName": "Eve"}, path))
    upsert = {"resource": "/ed-fi/students", "document": STUDENT, "ifMatch": tag}
    delete = {"op": "delete", "resource": "/ed-fi/students", "id": path.rpartition("/")[2], "ifMatch": tag}
    delete_by_key = delete | {"id": None, "naturalKey": {"studentUniqueId": STUDENT["studentUniqueId"]}}

    assert client.put(path, with_id(STUDENT, path), HTTP_IF_MATCH=tag).status_code == 412
    assert client.post("/students", STUDENT, HTTP_IF_MATCH=tag).status_code == 412
    assert client.delete(path, HTTP_IF_MATCH=tag).status_code == 412
    assert BatchClient(client.token).statuses(upsert, delete, delete_by_key) == [412, 412, 412]
    assert stored("Student") == STUDENT | {"middleName": "Eve"}

    current = client.get(path)["ETag"]
    assert client.post("/students", STUDENT, HTTP_IF_NONE_MATCH=current).status_code == 412
    assert client.put(path, with_id(STUDENT, path), HTTP_IF_MATCH=f"W/{current}").status_code == 412
    assert client.put(path, with_id(STUDENT, path), HTTP_IF_MATCH=f'"0-l", {current}').status_code == 204
    assert client.delete(path, HTTP_IF_MATCH=client.get(path)["ETag"]).status_code == 204


def test_only_tags_of_its_profiles_match_for_a_client_that_reads_through_them(api, store, client_of) -> None:
    """Whoever reads the whole document may name its version by any tag."""
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann"}))
    store("Wide", "Student", read='ExcludeOnly:<Property name="maidenName"/>')
    store("Part", "Student", read='ExcludeOnly:<Property name="middleName"/>')
    store("Writer", "Student", write='ExcludeOnly:<Property name="maidenName"/>')
    whole, wide = api.get(path)["ETag"], client_of("Wide").get(path)["ETag"]
    same = with_id(STUDENT | {"middleName": "Ann"}, path)
    clients = [client_of(*profiles) for profiles in (("Part",), ("Wide",), ("Part", "Wide"), ("Writer",))]

    def statuses(tag: str) -> list[int]:
        upsert = {"resource": "/ed-fi/students", "document": STUDENT | {"middleName": "Ann"}, "ifMatch": tag}
        alone = [client.put(path, same, HTTP_IF_MATCH=tag).status_code for client in (*clients, api)]
        assert [BatchClient(client.token).statuses(upsert) for client in (*clients, api)] == [
            [200 if status == 204 else status] for status in alone
        ]
        return alone

    assert statuses(whole) == [412, 412, 412, 204, 204]
    assert statuses(wide) == [412, 204, 204, 204, 204]
    # The answer of a write has a tag of the profile that it was under.
    writer = client_of("Part", "Writer")
    written = writer.put(path, same)["ETag"]
    assert writer.put(path, same, HTTP_IF_MATCH=written).status_code == 204


def test_a_missing_document_is_not_found(client_of, narrow) -> None:
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')
    path = "/students/00000000-0000-4000-8000-000000000000"

    assert client.put(path, with_id(STUDENT, path)).status_code == 404
    assert client.put(path, with_id(STUDENT, path), HTTP_IF_MATCH="*").status_code == 412
    assert client.put(path, with_id(STUDENT, path.replace("0000-4", "0001-4"))).status_code == 400


def test_a_key_change_keeps_what_is_hidden(api, narrow, documents, resource_named) -> None:
    documents.store(resource_named("School"))
    period = {"classPeriodName": "P1", "schoolReference": {"schoolId": 1008}, "officialAttendancePeriod": True}
    path = item_path(api.post("/classPeriods", period))
    client = narrow("ClassPeriod", 'ExcludeOnly:<Property name="officialAttendancePeriod"/>')

    response = client.put(path, with_id({"classPeriodName": "P2", "schoolReference": {"schoolId": 1008}}, path))

    assert response.status_code == 204
    assert stored("ClassPeriod") == period | {"classPeriodName": "P2"}


def test_a_part_that_hides_nothing_writes_as_without_a_profile(api, narrow) -> None:
    client = narrow("Student", "IncludeAll")

    response = client.post("/students", STUDENT | {"middleName": "Ann"})

    assert response.status_code == 201
    assert stored("Student") == STUDENT | {"middleName": "Ann"}
    assert response["ETag"] == client.get(item_path(response))["ETag"]


def test_the_operations_of_a_batch_merge_as_single_requests(api, narrow) -> None:
    path = item_path(api.post("/students", STUDENT | {"middleName": "Ann"}))
    client = narrow("Student", 'ExcludeOnly:<Property name="middleName"/>')
    upsert = {"op": "upsert", "resource": "/ed-fi/students", "document": STUDENT | {"firstName": "May"}}
    update = {"op": "update", "resource": "/ed-fi/students", "id": path.rsplit("/", 1)[1], "document": STUDENT}
    by_name = upsert | {"profile": "application/vnd.ed-fi.student.Part.writable+json"}

    for token, operation, expected in (
        (client.token, upsert, {"firstName": "May"}),
        (client.token, update, {}),
        (api.token, by_name, {"firstName": "May"}),
    ):
        assert BatchClient(token).statuses(operation)[0] in (200, 204)
        assert stored("Student") == STUDENT | {"middleName": "Ann"} | expected
