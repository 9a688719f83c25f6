"""Two worlds that differ only in what a client may not read give equal answers to whatever it sends."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import ApiTestClient
from tests.core.security.strategies.granted import student, writer
from tests.core.security.strategies.scenario import EOP, Scenario
from tests.features.loading.bulk.both_ways import rolled_back
from tests.support.examples import examples
from tests.web.batch.batch_client import BatchClient, parts

EXAMPLES = examples(5)
OWN, HIDDEN, ABSENT = "S-own", "S-hidden", "S-absent"
NAMES = st.sampled_from([OWN, HIDDEN, HIDDEN, ABSENT])
BODIES = st.builds(
    lambda first, birth: {"firstName": first, "birthDate": birth},
    *[st.sampled_from(["Mae", "May"]), st.sampled_from(["2010-02-03", "2011-11-11"])],
)
GUESSES = st.sampled_from([None, "*", '"1-l"', "hidden", "own"])
# What differs between answers to equal requests.
_OWN_VALUES = ("correlationId", "id", "location", "etag", "changeVersion", "_etag", "_lastModifiedDate", "link", "href")

settings_of_worlds = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@st.composite
def operations(draw, kinds: tuple[str, ...]) -> dict[str, Any]:
    """An operation of a batch; `ifMatch` of a document may be that of the first world."""
    kind, name = draw(st.sampled_from(kinds)), draw(NAMES)
    operation: dict[str, Any] = {"op": kind.partition(" ")[0], "resource": "/ed-fi/students"}
    if kind.endswith("by key"):
        operation["naturalKey"] = {"studentUniqueId": name}
    elif kind.endswith("by id"):
        operation["id"] = name
    if operation["op"] != "delete":
        operation["document"] = student(name, **draw(BODIES))
    condition = draw(st.sampled_from(["ifMatch", "ifNoneMatch"]))
    if operation["op"] != "create" and (guess := draw(GUESSES)) is not None:
        operation[condition] = guess
    return operation


def requests(*kinds: str) -> st.SearchStrategy[list[Any]]:
    """Batches, some of which are made to fail, and reads."""
    batch = st.fixed_dictionaries(
        {
            "mode": st.sampled_from(["atomic", "independent"]),
            "order": st.sampled_from(["given", "free"]),
            "operations": st.lists(operations(kinds), min_size=1, max_size=4),
            "fails": st.booleans(),
        }
    )
    read = st.builds(
        lambda path, name: f"{path}?studentUniqueId={name}&totalCount=true",
        st.sampled_from(["/students", "/studentSchoolAssociations", "/students/partitions"]),
        NAMES,
    )
    return st.lists(st.one_of(batch, batch, read), min_size=1, max_size=4)


class World:
    """The answers of one world: `build` makes what the client may not read, and `tags` are guesses of versions."""

    def __init__(self, scenario: Scenario, build: Callable[[], None], tags: dict[str, str]) -> None:
        self._scenario = scenario
        self._tags = tags
        build()

    def answers(self, client: ApiTestClient, sent: list[Any]) -> list[Any]:
        self._ids = {each["studentUniqueId"]: each["id"] for each in self._scenario.api.get("/students").json()}
        return [self._answer(client, request) for request in sent]

    def _answer(self, client: ApiTestClient, request: Any) -> Any:
        if isinstance(request, str):
            response = client.get(request)
            return response.status_code, response.headers.get("Total-Count"), self._comparable(response.json())
        operations = [self._with_ids(each) for each in request["operations"]]
        if request["fails"]:
            operations.append({"resource": "/ed-fi/students", "document": {}})
        response = BatchClient(client.token).send(operations, mode=request["mode"], order=request["order"])
        headers = {
            name: value for name, value in response.headers.items() if name not in ("CorrelationId", "correlationid")
        }
        headers.pop("Content-Length", None)
        body = parts(response) if response.status_code == 200 else response.json()
        return response.status_code, sorted(headers), self._comparable(body)

    def _with_ids(self, operation: dict[str, Any]) -> dict[str, Any]:
        found = dict(operation)
        if "id" in found:
            found["id"] = self._ids.get(found["id"], "00000000-0000-4000-8000-000000000000")
        for condition in ("ifMatch", "ifNoneMatch"):
            if condition in found:
                found[condition] = self._tags.get(found[condition], found[condition])
        return found

    def _comparable(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._comparable(each) for each in value]
        if isinstance(value, dict):
            return {name: self._comparable(each) for name, each in value.items() if name not in _OWN_VALUES}
        return value


@pytest.fixture
def own(scenario: Scenario) -> Scenario:
    """Return the scenario with a student of district 1, whom the client may read."""
    scenario.student(OWN)
    scenario.enroll(OWN, 11)
    scenario.body("StudentEducationOrganizationResponsibilityAssociation")
    return scenario


def hide(scenario: Scenario, *, responsible: bool = False, versions: int = 1, **members: Any) -> None:
    """A student of district 2, with more than one version before."""
    for number in range(versions):
        scenario.api.post("/students", student(HIDDEN, firstName=f"Before {number}"))
    assert scenario.api.post("/students", student(HIDDEN, **members)).status_code == 200
    scenario.enroll(HIDDEN, 21)
    if responsible:
        scenario.make_responsible(HIDDEN, 21)


def tag_of(scenario: Scenario, name: str) -> str:
    found = scenario.api.get(f"/students?studentUniqueId={name}").json()
    return f'"{found[0]["_etag"]}"' if found else '"2-l"'


def compare(scenario: Scenario, client: ApiTestClient, sent: list[Any], *builds: Callable[[], None]) -> None:
    """The answers in both worlds, with the guesses that hold in the first one."""
    tags: dict[str, str] = {}

    def answers(build: Callable[[], None]) -> Any:
        def in_world() -> Any:
            world = World(scenario, build, tags)
            if not tags:
                tags.update(hidden=tag_of(scenario, HIDDEN), own=tag_of(scenario, OWN))
            return world.answers(client, sent)

        return rolled_back(in_world)

    first, second = map(answers, builds)
    assert json.dumps(first, indent=1) == json.dumps(second, indent=1)


@settings_of_worlds
@given(sent=requests("delete by key", "update by key"), who=st.sampled_from(["reads and writes", "writes all"]))
def test_by_key_and_by_reading_nothing_tells_whether_a_document_exists(own, reader, sent, who) -> None:
    compare(own, reader[who], sent, lambda: hide(own, responsible=True), lambda: None)


@settings_of_worlds
@given(
    sent=requests("upsert", "create", "update by id", "delete by id", "delete by key", "update by key"),
    who=st.sampled_from(["reads and writes", "writes all"]),
)
def test_nothing_tells_the_values_the_version_or_the_referrers_of_a_document(own, reader, sent, who) -> None:
    compare(
        own,
        reader[who],
        sent,
        lambda: hide(own, responsible=True, firstName="Mae", birthDate="2010-02-03"),
        lambda: hide(own, firstName="May", birthDate="2011-11-11", versions=2),
    )


@pytest.fixture
def reader(own: Scenario) -> dict[str, ApiTestClient]:
    return {"reads and writes": own.client_by(EOP, organizations=(1,)), "writes all": writer(1)}
