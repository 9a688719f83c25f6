"""Each mistake of `mistakes.toml` is sent; its answer names what was sent and says what to do."""

import json
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.security.profiles.loading import read_definitions, store_profiles
from tests.conftest import ApiTestClient, http, item_path, new_token
from tests.core.security.profiles.definitions import profile_xml
from tests.support.databases import rolled_back

_NO_FURTHER = "NoFurtherAuthorizationRequired"
_GRADES = [{"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"}]
_CATEGORY = "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"
_DESCRIPTORS = (
    ("gradeLevelDescriptors", "GradeLevelDescriptor", "Ninth grade"),
    ("gradeLevelDescriptors", "GradeLevelDescriptor", "Tenth grade"),
    ("educationOrganizationCategoryDescriptors", "EducationOrganizationCategoryDescriptor", "School"),
    ("academicSubjectDescriptors", "AcademicSubjectDescriptor", "Mathematics"),
)


@dataclass(frozen=True)
class Mistake:
    """A table of the file."""

    name: str
    request: str
    status: int
    says: list[str]
    client: str = "sandbox"
    type: str = "application/json"
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def _mistakes() -> list[Mistake]:
    tables = tomllib.loads((Path(__file__).parent / "mistakes.toml").read_text())["mistake"]
    return [Mistake(client=table.pop("as", "sandbox"), **table) for table in tables]


MISTAKES = _mistakes()


@dataclass(frozen=True)
class World:
    """The tokens of the clients, and the ids of documents by the words that stand for them."""

    tokens: dict[str, str]
    ids: dict[str, str]

    def filled(self, text: str) -> str:
        for word, id_ in self.ids.items():
            text = text.replace(word, id_)
        return text

    def answer_to(self, mistake: Mistake) -> Any:
        method, _, path = mistake.request.partition(" ")
        headers = {name: self.filled(value) for name, value in mistake.headers.items()}
        if mistake.client in self.tokens:
            headers = {"Authorization": f"Bearer {self.tokens[mistake.client]}"} | headers
        return http().generic(
            method, self.filled(path), self.filled(mistake.body), content_type=mistake.type, headers=headers
        )


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with django_db_blocker.unblock(), rolled_back():
        own = {"education_organization_ids": [255901001], "namespace_prefixes": ["uri://lakeside.example"]}
        tokens = {"sandbox": new_token("beginner"), "school": new_token("beginner at a school", "SISVendor", **own)}
        yield World(tokens, _documents(ApiTestClient(tokens["sandbox"])))


def _documents(api: ApiTestClient) -> dict[str, str]:
    for endpoint, type_, value in _DESCRIPTORS:
        body = {"namespace": f"uri://ed-fi.org/{type_}", "codeValue": value, "shortDescription": value}
        assert api.post(f"/{endpoint}", body).status_code in (200, 201)
    schools = [
        api.post(
            "/schools",
            {
                "schoolId": number,
                "nameOfInstitution": "Lakeside",
                "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": _CATEGORY}],
                "gradeLevels": _GRADES,
            },
        )
        for number in (255901001, 255901002)
    ]
    student = {"studentUniqueId": "604831", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    created = api.post("/students", student)
    enrolment = {
        "studentReference": {"studentUniqueId": "604831"},
        "schoolReference": {"schoolId": 255901001},
        "entryDate": "2025-08-20",
        "entryGradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade",
    }
    assert api.post("/studentSchoolAssociations", enrolment).status_code == 201
    return {"STUDENT_ID": _id(created), "SCHOOL_ID": _id(schools[0])}


def _id(created: Any) -> str:
    return item_path(created).rpartition("/")[2]


def test_there_are_a_hundred_of_them() -> None:
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES) >= 100


@pytest.mark.django_db
@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_the_answer_teaches(world: World, mistake: Mistake) -> None:
    response = world.answer_to(mistake)

    assert response.status_code == mistake.status, response.content
    said = "\n".join((*_texts(response), *map(str, response.headers.values())))
    assert [text for text in map(world.filled, mistake.says) if text not in said] == [], said


def _texts(response: Any) -> Iterator[str]:
    """The texts of the body, without the escapes of JSON."""
    return _in_value(json.loads(response.content)) if response.content else iter(())


def _in_value(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, child in value.items():
                yield name
                yield from _in_value(child)
        case list():
            for child in value:
                yield from _in_value(child)
        case _:
            yield str(value)


@pytest.mark.django_db
def test_a_large_body_of_unknown_members_costs_no_more(world: World) -> None:
    """Five of the members are compared."""
    members = ", ".join(f'"lastSurnam{number}": 1' for number in range(90_000))
    large = Mistake("large", "POST /data/ed-fi/students", 400, [], body=f"{{{members}}}")

    before = time.process_time()
    answer = world.answer_to(large)
    seconds = time.process_time() - before

    assert answer.status_code == 400
    assert len(answer.json()["hints"]) == 10
    assert seconds < 1


@pytest.mark.django_db
def test_members_that_a_profile_hides_are_not_told(world: World) -> None:
    rule = 'ExcludeOnly:<Property name="middleName"/>'
    store_profiles(read_definitions(profile_xml("Student", rule, rule, "Portal")), by="tests")
    media_type = "application/vnd.ed-fi.student.portal.writable+json"
    body = '{"studentUniqueId": "1", "firstName": "Mae", "middleNam": "Ida"}'

    answer = world.answer_to(Mistake("hidden", "POST /data/ed-fi/students", 400, [], type=media_type, body=body))

    assert answer.status_code == 400
    assert "$.middleNam" in answer.content.decode()
    assert "middleName" not in answer.content.decode()


@pytest.mark.django_db
def test_descriptors_that_the_client_may_not_read_are_not_told(world: World) -> None:
    mistake = next(each for each in MISTAKES if each.name == "a mistyped code value")
    grant = {"claims": ["domains/everything"], "actions": ["Create"], "strategies": {"Create": [_NO_FURTHER]}}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Writer", "grants": [grant]}]})), by="tests")
    writer = replace(world, tokens={"sandbox": new_token("writer", "Writer")})

    said = writer.answer_to(mistake).json()["hints"][0]

    assert "Ninht grade" in said
    assert "Did you mean" not in said
