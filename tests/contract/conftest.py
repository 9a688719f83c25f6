"""The fixtures of the suite belong to the case: a resource of one of several surfaces."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from edfi_api.documents.incoming import Preparers
from edfi_api.model.surface.resource import Resource
from tests.factories import DocumentFactory
from tests.serving import LAKE_COUNTY, STANDARDS, Served, served


@dataclass(frozen=True)
class Case:
    """A resource where it is served."""

    served: Served
    resource: Resource

    def __str__(self) -> str:
        return f"{self.served.name}-{self.resource.endpoint}"


def cases() -> Iterator[Case]:
    """Every resource of both standards, and all that the extension project adds to or changes in the newer one."""
    for standard in STANDARDS:
        yield from (Case(served(standard), resource) for resource in served(standard).surface.resources)
    alone, extended = served(STANDARDS[-1]).surface, served(STANDARDS[-1], LAKE_COUNTY)
    for resource in extended.surface.resources:
        plain = alone.by_name.get(resource.name)
        if plain is None or plain.json_schema != resource.json_schema:
            yield Case(extended, resource)


@pytest.fixture(params=cases(), ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
def resource(case: Case) -> Resource:
    return case.resource


@pytest.fixture
def documents(case: Case) -> DocumentFactory:
    return case.served.documents


@pytest.fixture
def preparers(case: Case) -> Preparers:
    return case.served.preparers


@pytest.fixture
def api_without_check(case: Case, api_without_check):
    with case.served.instead():
        yield api_without_check
