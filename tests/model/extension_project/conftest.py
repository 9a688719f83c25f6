"""The extension Lake County on each standard, compiled and served."""

from collections.abc import Iterator

import pytest

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from tests.support.factories import DocumentFactory
from tests.support.serving import LAKE_COUNTY, OTHERS_MARKED, Served, served

PROJECT = "LakeCounty"


@pytest.fixture(scope="session", params=OTHERS_MARKED)
def lake_county(request: pytest.FixtureRequest) -> Served:
    return served(request.param, LAKE_COUNTY)


@pytest.fixture(scope="session")
def surface(lake_county: Served) -> Surface:
    return lake_county.surface


@pytest.fixture(scope="session")
def documents(lake_county: Served) -> DocumentFactory:
    return lake_county.documents


@pytest.fixture(scope="session")
def validators(lake_county: Served) -> DocumentValidators:
    return lake_county.validators


@pytest.fixture(scope="module")
def _served_here(lake_county: Served, served_in_module) -> Iterator[None]:
    with served_in_module(lake_county):
        yield


@pytest.fixture
def api_without_check(_served_here, api_without_check):
    return api_without_check


@pytest.fixture(scope="session")
def resource_named(surface: Surface):
    """The resource of the core with this name, in this surface."""
    return lambda name: surface.by_name[ResourceName("Ed-Fi", name)]


@pytest.fixture(scope="session")
def own(surface: Surface):
    """The resource of the extension with this name."""

    def find(name: str) -> Resource:
        return surface.by_name[ResourceName(PROJECT, name)]

    return find
