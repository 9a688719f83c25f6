"""A profiled request that is wrong in two ways is answered by the first of its order of checks, for every two."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import ApiTestClient, item_path
from tests.core.security.profiles.schools import MINIMAL_SCHOOL, address

HIDDEN = '<Filter propertyName="nameOfCounty" filterMode="ExcludeOnly"><Value>Hidden</Value></Filter>'
RULE = f'IncludeAll:<Collection name="addresses" memberSelection="IncludeAll">{HIDDEN}</Collection>'
PART, UNKNOWN = (f"application/vnd.ed-fi.School.{name}.writable+json" for name in ("Part", "Unknown"))
NOWHERE = "/schools/00000000-0000-4000-8000-000000000000"


@dataclass
class Sent:
    """A request as it is put together; `text` is added to the body's JSON."""

    method: str
    path: str
    body: dict[str, Any]
    who: str = "everyone"
    content_type: str = PART
    text: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def add_address(self, *addresses: dict[str, Any]) -> None:
        self.body["addresses"] = [*addresses, *self.body.get("addresses", [])]


@dataclass(frozen=True)
class Step:
    """One way to be wrong, and how it is answered: status, type and paths."""

    name: str
    make_wrong: Callable[[Sent], Any]
    answer: tuple[int, str, tuple[str, ...]]
    methods: tuple[str, ...] = ("POST", "PUT")


def setting(**changes: Any) -> Callable[[Sent], None]:
    return lambda sent: sent.body.update(changes)


def go_nowhere(sent: Sent) -> None:
    sent.path = NOWHERE
    sent.body["id"] = NOWHERE.rpartition("/")[2]


def failed(*paths: str) -> tuple[int, str, tuple[str, ...]]:
    return 400, "bad-request:data-validation-failed", paths


STEPS = (
    Step("repeated member", lambda s: setattr(s, "text", ', "webSite": "a", "webSite": "b"'), failed("$.webSite")),
    Step("unknown profile", lambda s: setattr(s, "content_type", UNKNOWN), (415, "profile:invalid-profile-usage", ())),
    Step("id of a new document", setting(id="7"), failed(), ("POST",)),
    Step("schema", setting(nameOfInstitution=7), failed("$.nameOfInstitution")),
    Step("hidden item", lambda s: s.add_address(address("H", nameOfCounty="Hidden")), failed("$.addresses[0]")),
    Step("other id", setting(id="00000000-0000-4000-8000-000000000001"), (400, "bad-request", ()), ("PUT",)),
    Step("same item twice", lambda s: s.body.update(gradeLevels=s.body["gradeLevels"] * 2), failed("$.gradeLevels")),
    Step("no grant", lambda s: setattr(s, "who", "reader"), (403, "security:authorization:access-denied:action", ())),
    Step("no document", go_nowhere, (404, "not-found", ()), ("PUT",)),
    Step("stored document", lambda s: setattr(s, "who", "stranger"), (403, "security:authorization", ())),
    Step("condition", lambda s: s.headers.update(HTTP_IF_MATCH='"0-l"'), (412, "optimistic-lock-failed", ())),
    Step("hidden contradiction", lambda s: s.add_address(address("P")), (400, "data-policy-enforced", ())),
    Step(
        "unknown descriptor",
        setting(schoolTypeDescriptor="uri://ed-fi.org/SchoolTypeDescriptor#Unknown"),
        (400, "bad-request", ("$.schoolTypeDescriptor",)),
    ),
    Step(
        "other identity",
        setting(schoolId=5),
        (400, "bad-request:data-validation-failed:key-change-not-supported", ()),
        ("PUT",),
    ),
    Step(
        "unresolved reference",
        setting(localEducationAgencyReference={"localEducationAgencyId": 99}),
        (409, "data-conflict:unresolved-reference", ("$.localEducationAgencyReference",)),
    ),
)
# Two senders cannot be combined; unknown descriptors are reported together with other unresolved references, and the
# violations of a body together with its id.
NOT_COMPARED = (
    {"no grant", "stored document"},
    {"unknown descriptor", "unresolved reference"},
    {"id of a new document", "schema"},
    {"id of a new document", "same item twice"},
)


def add_claim_set(name: str, *actions: str, strategy: str = "NoFurtherAuthorizationRequired") -> None:
    """A claim set that grants nothing but these actions on schools."""
    grant = {"claims": ["ed-fi/school"], "actions": actions, "strategies": [strategy]}
    load(read_claims(json.dumps({"claimSets": [{"name": name, "grants": [grant]}]}).encode()), by="tests")


@pytest.fixture
def clients(api, descriptors, store, client_of) -> dict[str, ApiTestClient]:
    store("Part", "School", read=RULE, write=RULE)
    add_claim_set("Readers", "Read")
    add_claim_set("District", "Create", "Read", "Update", strategy="RelationshipsWithEdOrgsOnly")
    return {
        "everyone": client_of("Part"),
        "reader": client_of("Part", claim_set_name="Readers"),
        "stranger": client_of("Part", claim_set_name="District", education_organization_ids=[1]),
    }


@pytest.fixture
def school(api, descriptors) -> str:
    kept = {"addresses": [address("P", nameOfCounty="Hidden")]}
    return item_path(api.post("/schools", MINIMAL_SCHOOL | kept))


def answered(client: ApiTestClient, sent: Sent) -> tuple[int, str, tuple[str, ...]]:
    body = json.dumps(sent.body)[:-1] + sent.text + "}"
    response = client.request(sent.method.lower(), sent.path, body, content_type=sent.content_type, **sent.headers)
    problem = response.json()
    paths = tuple(sorted(problem.get("validationErrors", {})))
    return response.status_code, problem["type"].removeprefix("urn:ed-fi:api:"), paths


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_the_first_failing_step_answers(clients, school: str, method: str) -> None:
    steps = [step for step in STEPS if method in step.methods]
    pairs = [(step, step) for step in steps]
    pairs += [(a, b) for a, b in combinations(steps, 2) if {a.name, b.name} not in NOT_COMPARED]

    for first, second in pairs:
        id_ = {} if method == "POST" else {"id": school.rsplit("/", 1)[1]}
        sent = Sent(method, "/schools" if method == "POST" else school, MINIMAL_SCHOOL | id_)
        for step in dict.fromkeys((second, first)):
            step.make_wrong(sent)

        assert answered(clients[sent.who], sent) == first.answer, (first.name, second.name)


QUERIES = {
    "unknown profile": ("accept", 406),
    "paging": ("limit=-1", 400),
    "change versions": ("minChangeVersion=x", 400),
    "hidden field": ("webSite=x", 400),
    "no grant": ("who", 403),
}


@pytest.mark.parametrize("path", ["/schools", "/schools/partitions"])
def test_the_order_of_a_query(store, client_of, api, path: str) -> None:
    rule = 'ExcludeOnly:<Property name="webSite"/>'
    store("Part", "School", read=rule, write=rule)
    add_claim_set("Writers", "Create")
    reader, writer = client_of("Part"), client_of("Part", claim_set_name="Writers")
    steps = [name for name in QUERIES if "partitions" not in path or name != "paging"]

    def told(*wrong: str) -> tuple[int, Any]:
        query = "&".join(QUERIES[name][0] for name in wrong if "=" in QUERIES[name][0])
        headers = {"HTTP_ACCEPT": UNKNOWN.replace("writable", "readable")} if "unknown profile" in wrong else {}
        response = (writer if "no grant" in wrong else reader).get(f"{path}?{query}", **headers)
        problem = response.json()
        return response.status_code, (problem["type"], problem["errors"])

    for first, second in combinations(steps, 2):
        assert told(first, second) == told(first), (first, second)
        assert told(first)[0] == QUERIES[first][1]


def test_the_order_of_a_read(store, client_of, api) -> None:
    store("Part", "School", read="IncludeAll")
    add_claim_set("Writers", "Create")
    reader, writer = client_of("Part"), client_of("Part", claim_set_name="Writers")
    unknown = {"HTTP_ACCEPT": UNKNOWN.replace("writable", "readable")}

    assert writer.get(NOWHERE, **unknown).status_code == 406
    assert writer.get(NOWHERE).status_code == 403
    assert reader.get(NOWHERE).status_code == 404
