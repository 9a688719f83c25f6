"""The examples of the OpenAPI documents are accepted in the order of loading, whatever the standard and extension."""

from pathlib import Path

import pytest

from descriptors.loading import load_bundled
from edfi_api.features.loading.reports.results import REFUSED
from edfi_api.web.metadata.openapi import examples_of
from tests.support.serving import LAKE_COUNTY, SERVED_BY_DEFAULT, STANDARDS, Served, served

HOMONYMS = Path(__file__).parents[2] / "model/metaed_projects" / "homonyms"


# One of each; all pairs only with `--every-standard`.
_USUAL = {(SERVED_BY_DEFAULT, LAKE_COUNTY), (STANDARDS[0], HOMONYMS)}
_PAIRS = [(standard, extension) for standard in STANDARDS for extension in (LAKE_COUNTY, HOMONYMS)]


@pytest.fixture(
    scope="module",
    params=[pytest.param(each, marks=() if each in _USUAL else pytest.mark.standards) for each in _PAIRS],
    ids=str,
)
def extended(request: pytest.FixtureRequest) -> Served:
    """A standard with an extension."""
    standard, extension = request.param
    return served(standard, extension)


@pytest.fixture(scope="module")
def surface(extended):
    return extended.surface


@pytest.fixture(scope="module")
def validators(extended):
    return extended.validators


@pytest.fixture(scope="module")
def _served_here(extended, served_in_module):
    with served_in_module(extended):
        yield


@pytest.fixture
def api_without_check(_served_here, api_without_check):
    return api_without_check


def test_every_example_is_accepted_in_load_order(api, extended, surface) -> None:
    loaded = load_bundled(surface, extended.standard, lambda refused: None, "default")
    assert loaded.total(REFUSED) == 0
    examples = examples_of(surface, extended.standard)

    answers = {each.url_path: api.post(f"/data{each.url_path}", examples.of(each)) for each in surface.resources}

    refused = {path: answer.content for path, answer in answers.items() if answer.status_code not in (200, 201)}
    assert refused == {}
