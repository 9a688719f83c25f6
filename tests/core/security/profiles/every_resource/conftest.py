"""A document of each resource of every surface, and a client with a random part for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.security.profiles.loading import store_profiles
from edfi_api.core.storage import store
from edfi_api.core.storage.descriptor_uri_cache import stored_uris
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.model.profiles.definition import MemberSelection, ProfileDefinition, ProfileRule, ResourceParts
from edfi_api.model.profiles.view import members_of
from edfi_api.model.surface.resource import Resource
from tests.conftest import ApiTestClient, item_path
from tests.core.security.profiles.distinct import Body, DistinctBody
from tests.core.security.profiles.every_resource.filters import with_filters_for
from tests.core.security.profiles.oracle import Oracle
from tests.core.security.profiles.random_rules import random_rule
from tests.support.databases import DOCUMENTS
from tests.support.examples import examples, is_chosen
from tests.support.factories import DocumentFactory
from tests.support.serving import Served
from tests.whole.contract.conftest import Case, cases

# The gate takes every so many resources; a run of `standards` takes all of them, each with EXAMPLES rules.
_STEP, _STEP_OF_DESCRIPTORS = 80, 250


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    is_whole = is_chosen("standards", metafunc.config)
    marks = [pytest.mark.standards] if is_whole else []
    chosen = list(cases(every=True)) if is_whole else _some()
    parameters = [
        pytest.param(case.served, case, position + turn, id=f"{case}-{position + turn}", marks=marks)
        for position, case in enumerate(chosen)
        for turn in range(examples(1))
    ]
    metafunc.parametrize(("served_here", "case", "number"), parameters, indirect=["served_here"], scope="module")


def _some() -> list[Case]:
    found = list(cases(every=False))
    others = [case for case in found if not case.resource.is_descriptor]
    return others[::_STEP] + [case for case in found if case.resource.is_descriptor][::_STEP_OF_DESCRIPTORS]


@pytest.fixture
def documents(case: Case) -> DocumentFactory:
    return case.served.documents


@pytest.fixture
def validators(case: Case) -> DocumentValidators:
    return case.served.validators


@pytest.fixture(scope="module")
def served_here(request: pytest.FixtureRequest, served_in_module) -> Iterator[Served]:
    with served_in_module(request.param) as here:
        yield here


@pytest.fixture
def api_without_check(served_here: Served, api_without_check: ApiTestClient) -> ApiTestClient:
    return api_without_check


@dataclass
class Scene:
    """A resource, a rule for it, and bodies that differ in values on which nothing depends."""

    resource: Resource
    rule: ProfileRule
    oracle: Oracle
    bodies: list[DistinctBody]
    api: ApiTestClient
    client: ApiTestClient

    @property
    def collection(self) -> str:
        return f"/data{self.resource.url_path}"

    def media_type(self, profile: str, usage: str) -> str:
        return f"application/vnd.ed-fi.{self.resource.name.resource}.{profile}.{usage}+json"

    def stored(self, body: Body) -> str:
        """The path of the document with this body, which an unrestricted client writes."""
        response = self.api.post(self.collection, body)
        assert response.status_code in (200, 201), response.content
        return item_path(response)

    def body_at(self, path: str) -> Body:
        """What is stored, as an unrestricted client reads it: without links and what the server adds."""
        return plain(self.api.get(path).json())


def plain(served: Any) -> Any:
    """Return what is served without links and the members that the server adds."""
    if isinstance(served, dict):
        added = ("id", "_etag", "_lastModifiedDate", "link")
        return {name: plain(value) for name, value in served.items() if name not in added}
    return [plain(item) for item in served] if isinstance(served, list) else served


@pytest.fixture
def scene(case: Case, number: int, api: ApiTestClient, client_of: Callable[..., ApiTestClient]) -> Scene:
    resource, documents = case.resource, case.served.documents
    bodies = [DistinctBody(resource, documents, seed) for seed in range(3)]
    _store_targets(case, bodies[0])
    rule = _rule(resource, number, bodies[0].body)
    store_part("Part", resource, rule)
    return Scene(resource, rule, Oracle(rule, resource), bodies, api, client_of("Part"))


def store_part(name: str, resource: Resource, rule: ProfileRule) -> None:
    """Store a profile with this rule for reading and writing the resource."""
    parts = ResourceParts(resource.name.resource, resource.name.project, read=rule, write=rule)
    store_profiles([ProfileDefinition(name, (parts,))], by="tests")


def _rule(resource: Resource, number: int, body: Body) -> ProfileRule:
    """Return a rule; of six successive numbers, three have a mode of their own at the root."""
    random = Random(f"{resource.name} {number}")  # noqa: S311  the same rule in each run
    selection = [*MemberSelection, None, None, None][number % 6]
    members = members_of(resource).root
    return with_filters_for(body, random_rule(random, members, selection), members, random)


def _store_targets(case: Case, made: DistinctBody) -> None:
    validators, surface = case.served.validators, case.served.surface
    case.served.documents.store_targets(case.resource, made.body)
    for name, uri in made.descriptors:
        namespace, code = uri.split("#")
        body = {"namespace": namespace, "codeValue": code, "shortDescription": code}
        incoming = validators[surface.by_name[name].name].validate(body, lambda ids: stored_uris(ids, DOCUMENTS))
        store.upsert(WriteRequest(incoming, using=DOCUMENTS))
