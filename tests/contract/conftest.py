"""Fixtures of the suite: each case is a resource of one of several surfaces."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from edfi_api.documents.incoming import Preparers
from edfi_api.model.surface.resource import Resource
from tests.factories import DocumentFactory
from tests.serving import LAKE_COUNTY, STANDARDS, Served, served


@dataclass(frozen=True)
class Case:
    """A resource and the surface that serves it."""

    served: Served
    resource: Resource

    def __str__(self) -> str:
        return f"{self.served.name}-{self.resource.endpoint}"


def cases() -> Iterator[Case]:
    """Every resource of both standards, and those that the extension project adds or changes in the newer one."""
    for standard in STANDARDS:
        yield from (Case(served(standard), resource) for resource in served(standard).surface.resources)
    alone, extended = served(STANDARDS[-1]).surface, served(STANDARDS[-1], LAKE_COUNTY)
    for resource in extended.surface.resources:
        plain = alone.by_name.get(resource.name)
        if plain is None or plain.json_schema != resource.json_schema:
            yield Case(extended, resource)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Groups the tests by surface, since its resource types and claims are written once for all its resources."""
    if "resource" in metafunc.fixturenames:
        pairs = [pytest.param(case.served, case.resource, id=str(case)) for case in cases()]
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
def preparers(served_here: Served) -> Preparers:
    return served_here.preparers


@pytest.fixture
def api_without_check(served_here: Served, api_without_check):
    return api_without_check
