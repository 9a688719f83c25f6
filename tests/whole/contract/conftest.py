"""Fixtures of the suite: each case is a resource of one of several surfaces."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.model.surface.resource import Resource, ResourceKind, Surface
from tests.support.examples import is_chosen
from tests.support.factories import DocumentFactory
from tests.support.serving import LAKE_COUNTY, SERVED_BY_DEFAULT, STANDARDS, Served, served


@dataclass(frozen=True)
class Case:
    """A resource and the surface that serves it."""

    served: Served
    resource: Resource

    def __str__(self) -> str:
        return f"{self.served.name}-{self.resource.endpoint}"


def cases(*, every: bool) -> Iterator[Case]:
    """Every resource of the standard that is served by default, and what the extension project adds or changes in it.

    Of the other standards `every` resource, or the entities that only they have.
    """
    default = served(SERVED_BY_DEFAULT)
    for standard in STANDARDS:
        here = served(standard)
        for resource in here.surface.resources:
            if every or here is default or _is_new_entity(resource, default.surface):
                yield Case(here, resource)
    extended = served(SERVED_BY_DEFAULT, LAKE_COUNTY)
    for resource in extended.surface.resources:
        plain = default.surface.by_name.get(resource.name)
        if plain is None or plain.json_schema != resource.json_schema:
            yield Case(extended, resource)


def _is_new_entity(resource: Resource, other: Surface) -> bool:
    return resource.kind is ResourceKind.ENTITY and resource.name not in other.by_name


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Groups the tests by surface, since its resource types and claims are written once for all its resources."""
    if "resource" in metafunc.fixturenames:
        pairs = [
            pytest.param(case.served, case.resource, id=str(case))
            for case in cases(every=is_chosen("standards", metafunc.config))
        ]
        metafunc.parametrize(("served_here", "resource"), pairs, indirect=True, scope="module")


@pytest.fixture(scope="module")
def served_here(request: pytest.FixtureRequest, served_in_module) -> Iterator[Served]:
    with served_in_module(request.param) as here:
        yield here


@pytest.fixture(scope="module")
def resource(request: pytest.FixtureRequest) -> Resource:
    return request.param


@pytest.fixture
def documents(served_here: Served) -> DocumentFactory:
    return served_here.documents


@pytest.fixture
def validators(served_here: Served) -> DocumentValidators:
    return served_here.validators


@pytest.fixture
def api_without_check(served_here: Served, api_without_check):
    return api_without_check
