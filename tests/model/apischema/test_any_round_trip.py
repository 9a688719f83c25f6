"""The surface of any model survives an export and import."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings

from edfi_api.model.apischema.reader import read_api_schemas
from edfi_api.model.apischema.writer import api_schema
from tests.model.surface.random_models import Entities, entities, paths_to_entities, paths_to_values, surface_of
from tests.support.examples import examples


@given(entities(paths_to_entities) | entities(paths_to_values))
@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_resources_are_equal_after_a_round_trip(made: Entities) -> None:
    surface = surface_of(made)

    with TemporaryDirectory() as folder:
        file = Path(folder) / "ApiSchema.json"
        file.write_text(json.dumps(api_schema(surface, surface.core_project)))
        returned, _ = read_api_schemas([file])

    assert returned.resources == surface.resources
