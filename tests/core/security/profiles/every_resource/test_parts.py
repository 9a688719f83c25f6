"""For resources of every surface and random parts of a profile: what a client under it is answered and what it stores.

Documents have values of their own at every place, so that a hidden value is recognized wherever it appears.
"""

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.documents.paths import values_at
from edfi_api.core.models import Document
from edfi_api.model.profiles.definition import MemberSelection, ProfileRule, RuleElement
from tests.conftest import item_path
from tests.core.security.profiles.conftest import ClientOf
from tests.core.security.profiles.every_resource.conftest import Scene, plain, store_part
from tests.support.databases import rolled_back

Body = dict[str, Any]
ADDED = ("id", "_etag", "_lastModifiedDate")
BODIES_EACH = 8
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def test_what_is_served_is_the_visible_part(scene: Scene) -> None:
    path = scene.stored(scene.bodies[0].body)
    whole = scene.api.get(path).json()

    served = scene.client.get(path)
    body = served.json()

    added = {name: body.pop(name) for name in ADDED}
    shown = scene.oracle.shown({name: value for name, value in whole.items() if name not in ADDED})
    assert body == shown
    assert list(body) == list(shown)
    assert added["id"] == whole["id"]
    assert served["ETag"] == f'"{added["_etag"]}"'
    (listed,) = [each for each in scene.client.get(f"{scene.collection}?limit=500").json() if each["id"] == whole["id"]]
    assert listed == body | added


def test_no_answer_contains_a_hidden_value(scene: Scene) -> None:
    stored = scene.bodies[0]
    path = scene.stored(stored.body)
    whole = {name: value for name, value in scene.api.get(path).json().items() if name not in ADDED}
    shown = scene.oracle.shown(whole)
    hidden = set(stored.markers.values()) & set(leaves(whole)) - set(leaves(shown))
    hidden |= {href.rpartition("/")[2] for href in set(links(whole)) - set(links(shown))} - {path.rpartition("/")[2]}
    hidden |= descriptors(hidden) - descriptors(set(leaves(shown)))

    for response in answers(scene, path):
        text = text_of(response)
        assert [each for each in hidden if each in text] == [], text


def test_hidden_values_make_no_difference(scene: Scene) -> None:
    first, other = scene.bodies[0].body, scene.oracle.combined(scene.bodies[2].body, scene.bodies[0].body)

    def recorded(body: Body) -> list[str]:
        with rolled_back():
            path = scene.stored(body)
            told = [text_of(response) for response in answers(scene, path)]
        return normalised(told)

    for one, two in zip(recorded(first), recorded(other), strict=True):
        assert one == two


def test_a_write_changes_nothing_hidden(scene: Scene) -> None:
    stored, sent = scene.bodies[0].body, scene.oracle.spoilt(scene.bodies[1].body)
    path = scene.stored(stored)
    identified = sent | {"id": path.rsplit("/", 1)[1]}
    expected = scene.oracle.combined(stored, scene.bodies[1].body)

    read = scene.client.get(path)
    same = scene.client.put(path, read.json())
    assert (same.status_code, same.headers.get("ETag")) == (204, read["ETag"]), same.content
    assert scene.body_at(path) == stored

    put = scene.client.put(path, identified)
    assert put.status_code == 204, put.content
    assert scene.body_at(path) == expected
    assert plain(scene.client.get(path).json()) == scene.oracle.shown(expected)
    assert scene.client.get(path)["ETag"] == put["ETag"]

    again = scene.client.post(scene.collection, sent)
    assert (again.status_code, again["ETag"]) == (200, put["ETag"])


def test_what_is_created_is_the_visible_part_or_nothing(scene: Scene) -> None:
    sent = scene.bodies[0].body

    response = scene.client.post(scene.collection, sent if no_filter_hides(scene, sent) else scene.oracle.spoilt(sent))

    if scene.oracle.can_be_created(sent):
        assert response.status_code == 201, response.content
        assert scene.body_at(item_path(response)) == scene.oracle.shown(sent)
    else:
        assert response.json()["type"] == "urn:ed-fi:api:data-policy-enforced", response.content
        assert not Document.objects.filter(resource_type__name=scene.resource.name.resource, body=sent).exists()


def test_a_stored_document_is_never_refused_for_what_is_required_to_create_it(scene: Scene) -> None:
    path = scene.stored(scene.bodies[0].body)
    sent = scene.oracle.spoilt(scene.bodies[0].body)

    assert scene.client.post(scene.collection, sent).status_code == 200
    assert scene.client.put(path, sent | {"id": path.rsplit("/", 1)[1]}).status_code == 204


def test_whatever_is_sent_is_answered_and_leaves_a_valid_body(scene: Scene, validators: DocumentValidators) -> None:
    random = Random(str(scene.resource.name))  # noqa: S311  the same bodies in each run
    path = scene.stored(scene.bodies[0].body)
    id_ = {"id": path.rsplit("/", 1)[1]}

    for _ in range(BODIES_EACH):
        sent = scene.bodies[random.randrange(2)].body
        for _ in range(random.randint(1, 4)):
            name = random.choice(list(sent))
            sent = {**sent, name: mutated(sent[name], random)}
        put = scene.client.put(path, json.dumps(sent | id_))
        responses = put, scene.client.post(scene.collection, json.dumps(sent))
        assert [each.content for each in responses if each.status_code >= 500] == []
        for document in Document.objects.filter(resource_type__name=scene.resource.name.resource):
            validators[scene.resource.name].check(document.body)


def test_a_part_without_rules_is_as_no_profile(scene: Scene) -> None:
    store_part("Whole", scene.resource, ProfileRule(MemberSelection.INCLUDE_ALL))
    path = scene.stored(scene.bodies[0].body)
    changed = scene.bodies[1].body | {"id": path.rsplit("/", 1)[1]}

    whole, through = scene.api.get(path), scene.api.get(path, HTTP_ACCEPT=scene.media_type("Whole", "readable"))
    tag = through.json()["_etag"]
    assert through.content == whole.content.replace(whole["ETag"].strip('"').encode(), tag.encode())
    assert tag.startswith(whole["ETag"].strip('"') + ".")

    put = scene.api.put(path, changed, content_type=scene.media_type("Whole", "writable"))
    assert put.status_code == 204, put.content
    assert scene.body_at(path) == scene.bodies[1].body


@pytest.mark.parametrize("organization", [1008, 1])
def test_authorization_is_the_same(scene: Scene, client_of: ClientOf, organization: int) -> None:
    """Also where what it depends on is hidden. 1008 is the number of the school in all documents."""
    claims = {"claim_set_name": "SISVendor", "education_organization_ids": [organization]}
    client = client_of(**claims, namespace_prefixes=["uri://ed-fi.org"])
    path = scene.stored(scene.bodies[0].body)
    readable, writable = scene.media_type("Part", "readable"), scene.media_type("Part", "writable")
    same = scene.oracle.spoilt(scene.bodies[0].body)
    identified = same | {"id": path.rsplit("/", 1)[1]}
    whole_new = scene.bodies[0].body
    whole = whole_new | {"id": identified["id"]}

    pairs = (
        (client.get(path), client.get(path, HTTP_ACCEPT=readable)),
        (client.get(scene.collection), client.get(scene.collection, HTTP_ACCEPT=readable)),
        (client.put(path, whole), client.put(path, identified, content_type=writable)),
        (client.post(scene.collection, whole_new), client.post(scene.collection, same, content_type=writable)),
    )
    for without, under in pairs:
        assert without.status_code == under.status_code, (without.content, under.content)
        if without.status_code == 403:
            assert without.json()["errors"] == under.json()["errors"]
        elif without.request["REQUEST_METHOD"] == "GET" and isinstance(without.json(), list):
            assert [each["id"] for each in without.json()] == [each["id"] for each in under.json()]


def mutated(value: Any, random: Random) -> Any:
    """The value with a change somewhere in it: a member or an item less, twice, or another in its place."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        name = random.choice(list(value))
        changed = mutated(value[name], random)
        return {**value, name: changed} if random.random() < 0.8 else {k: v for k, v in value.items() if k != name}
    if isinstance(value, list) and value and random.random() < 0.8:
        position = random.randrange(len(value))
        instead = random.choice([[], [value[position]] * 2, [mutated(value[position], random)]])
        return [*value[:position], *instead, *value[position + 1 :]]
    return random.choice([None, "", "x", 7, -1.5, True, [], {}, [{}], [[]], {"x": 1}, "2030-02-30", "a#b", "x" * 2000])


def no_filter_hides(scene: Scene, body: Body) -> bool:
    return scene.oracle.shown(scene.oracle.combined(body, body)) == scene.oracle.shown(body) and not any(
        element.filter for element in elements(scene.rule)
    )


def elements(rule: ProfileRule) -> Iterator[RuleElement]:
    for element in rule.elements:
        yield element
        yield from elements(element.rule)


def answers(scene: Scene, path: str) -> Iterator[Any]:
    """The answers to requests of every kind by the client under the profile; the last ones write."""
    client, collection, id_ = scene.client, scene.collection, path.rsplit("/", 1)[1]
    sent = scene.oracle.spoilt(scene.bodies[1].body)
    identified = sent | {"id": id_}
    first = client.get(path)
    yield first
    yield client.get(path, HTTP_IF_NONE_MATCH=first["ETag"])
    yield client.get(f"{collection}?totalCount=true")
    yield client.get(f"{collection}?minChangeVersion=1&limit=1&offset=0")
    yield client.get(f"{collection}/partitions?number=1")
    yield client.get(f"{collection}?noSuchField=1")
    for name, value in query_values(scene):
        yield client.get(f"{collection}?{name}={quote(value)}&totalCount=true")
    related = f"/relations/v1{scene.resource.url_path}/{id_}"
    yield client.get(f"{related}?include=body")
    # Without bodies, which are those of other resources and have links of their own.
    yield client.get(f"{related}?direction=outgoing")
    yield client.put(path, identified, HTTP_IF_MATCH='"0-l"')
    yield client.post(collection, sent, HTTP_IF_NONE_MATCH="*")
    yield client.put(path, {"id": id_})
    yield client.put(path, sent)
    yield client.post(collection, [])
    yield client.put(path, with_unknown_descriptors(identified))
    yield client.post(collection, scene.bodies[1].body)
    yield client.put(path, first.json())
    yield client.put(path, identified)
    yield client.get(path)
    yield client.post(collection, sent)
    yield client.delete(path, HTTP_IF_MATCH='"0-l"')
    yield client.delete(path)
    yield client.get(f"{collection}/deletes")
    yield client.get(f"{collection}/keyChanges")
    yield client.post(collection, sent)
    yield client.get(f"{collection}?totalCount=true")


def query_values(scene: Scene) -> Iterator[tuple[str, str]]:
    """Every query field with the value of the stored document."""
    for field in scene.resource.query_fields:
        for _, value in values_at(scene.bodies[0].body, field.paths[0].steps):
            yield field.name, str(value).lower() if isinstance(value, bool) else str(value)


def with_unknown_descriptors(body: Any) -> Any:
    if isinstance(body, dict):
        return {
            name: "uri://x.org/X#X"
            if name.endswith("Descriptor") and isinstance(value, str)
            else with_unknown_descriptors(value)
            for name, value in body.items()
        }
    return [with_unknown_descriptors(item) for item in body] if isinstance(body, list) else body


def descriptors(uris: set[str]) -> set[str]:
    """The ids of the stored descriptors with these URIs."""
    keys = {uri.rpartition("#")[2] for uri in uris if "#Distinct" in uri}
    found = Document.objects.filter(body__codeValue__in=keys).values_list(
        "document_uuid", "body__namespace", "body__codeValue"
    )
    return {str(id_) for id_, namespace, code in found if f"{namespace}#{code}" in uris}


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    else:
        yield str(value)


def links(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "href" in value:
            yield value["href"]
        for each in value.values():
            yield from links(each)
    elif isinstance(value, list):
        for each in value:
            yield from links(each)


def text_of(response: Any) -> str:
    content = b"".join(response) if response.streaming else response.content
    headers = {name: value for name, value in response.headers.items() if name.lower() != "correlationid"}
    return f"{response.status_code} {headers} {content.decode()}"


def normalised(texts: list[str]) -> list[str]:
    """Ids, versions and dates by the order of their first appearance."""
    known: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return known.setdefault(found[0], f"<{len(known)}>")

    def without_moments(text: str) -> str:
        text = re.sub(r'"correlationId":"[^"]*"|"_lastModifiedDate":"[^"]*"|"pageTokens":\[[^]]*\]', "", text)
        return re.sub(r"'Next-Page-Token': '[^']*'|'Content-Length': '\d+'", "", text)

    server_made = re.compile(rf'{UUID.pattern}|(?<=")\d+(?=-[ln])|(?<="changeVersion":)\d+')
    return [server_made.sub(numbered, without_moments(text)) for text in texts]
