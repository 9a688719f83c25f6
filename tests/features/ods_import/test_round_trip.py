"""Documents that an ODS has of ours come back as they were: the examples of OpenAPI and random bodies of all resources.

The tables are those that the model says, with an extension of the tests.
"""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from descriptors.loading import load_bundled
from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.exceptions import IdentityConflict
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, bulk_writer
from edfi_api.features.loading.bulk.free_order import missing_resources
from edfi_api.features.ods_import.compatibility import ServedModel
from edfi_api.features.sql_views.bodies import ResourceBodies
from edfi_api.features.sql_views.tables import sql_tables
from edfi_api.model.surface.resource import JsonPath, Resource, Surface
from edfi_api.web.metadata.openapi import examples_of
from references.exceptions import UnresolvedReference
from tests.features.ods_import.canonical import differences
from tests.features.ods_import.ods import database, tables_script
from tests.features.ods_import.running import import_documents
from tests.features.ods_import.stored import Stored, stored
from tests.features.sql_views.models import compiled, views_once
from tests.support.databases import DOCUMENTS, rolled_back
from tests.support.examples import examples
from tests.support.factories import DocumentFactory
from tests.support.serving import LAKE_COUNTY, served

HOMONYMS = Path(__file__).parents[2] / "model/metaed_projects" / "homonyms"
# How many random bodies each resource has.
EXAMPLES = examples(1)
# An ODS has these references where others have their values, so they are not left out.
_SHARED = ("evaluationObjectiveReference", "locationSchoolReference", "schoolYearTypeReference")
# An ODS rounds amounts of money.
_PLACES_OF_MONEY = 2
_LETTERS = "aé'\"\\%{}\t\n\U0001f4a1"


EXTENSIONS = [LAKE_COUNTY, HOMONYMS]


# In the gate `test_mapping.py` reads random documents.
@pytest.mark.standards
@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_random_documents_come_back_as_they_were(round_trip, extension, seed) -> None:
    written = round_trip(extension, lambda surface: write_random(surface, random.Random(seed)))  # noqa: S311  for tests

    assert len(written) > 340


@pytest.mark.standards
@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda folder: folder.name)
def test_the_examples_of_openapi_come_back_as_they_were(round_trip, extension) -> None:
    written = round_trip(extension, write_examples)

    assert len(written) > 3_400  # Among them the bundled values of descriptors.


@pytest.fixture
def round_trip(api_without_check, monkeypatch):
    """Writes documents of 5.2 with an extension, which an ODS gets, and which are imported again; the documents."""

    def run(extension: Path, write_documents: Callable[[Surface], None]) -> dict[str, Stored]:
        model, of_test = compiled(BUNDLED_STANDARDS / "5.2", extension), served("5.2", extension)
        surface, tables = of_test.surface, sql_tables(model)
        worker = os.environ.get("PYTEST_XDIST_WORKER", "only")
        with of_test.instead(), database(f"ods_round_trip_{worker}", script=tables_script(tables)) as ods:
            numbers = resource_types.numbers(DOCUMENTS)
            served_model = ServedModel(surface, tables, ResourceBodies(model, surface, numbers))
            monkeypatch.setattr(ServedModel, "current", lambda using: served_model)
            with rolled_back():
                write_documents(surface)
                ods.fill(views_once(model, surface, numbers))
                written = stored()
            assert "refused, see" not in import_documents(ods)
            assert stored_differences(written, stored()) == []
        return written

    return run


def stored_differences(written: dict[str, Stored], read: dict[str, Stored]) -> list[str]:
    assert read.keys() == written.keys()
    found = [
        f"{one.endpoint} {difference}"
        for id_, one in written.items()
        for difference in differences("$", one.body, read[id_].body)
    ]
    return found + [one.endpoint for id_, one in written.items() if one[2:] != read[id_][2:]]


def write_examples(surface: Surface) -> None:
    load_bundled(surface, BUNDLED_STANDARDS / "5.2", lambda refused: None, DOCUMENTS)
    examples = examples_of(surface, BUNDLED_STANDARDS / "5.2")
    write([Candidate.of(each, examples.of(each), None) for each in surface.resources])


def write_random(surface: Surface, source: random.Random) -> None:
    factory = DocumentFactory(surface)
    write([Candidate.of(each, Varied(each, source).body(factory.full_body(each)), None) for each in surface.resources])


def write(candidates: list[Candidate[Any]]) -> None:
    """Write candidates, of the subclasses of one superclass only the first, whose identity the others would have, and
    nothing that refers to these.
    """
    absent: set[str] = set()
    with bulk_writer(DOCUMENTS, processes=0) as writer:
        for each in writer.write(candidates):
            if isinstance(each.result, IdentityConflict | UnresolvedReference):
                assert isinstance(each.result, IdentityConflict) or missing_resources(each.result) <= absent
                absent.add(each.candidate.resource.name.resource)
            else:
                assert isinstance(each.result, Outcome), (each.candidate.text, each.result)
    assert len(absent) < 20


class Varied:
    """Bodies with the identity and the references of another one, without some members, and with other values."""

    def __init__(self, resource: Resource, source: random.Random) -> None:
        self._resource = resource
        self._random = source
        self._share = source.choice((0.1, 0.5, 0.9))
        self._fixed = set(self._fixed_paths())
        self._decimals = {limit.path: limit for limit in resource.decimals}

    def body(self, full: dict[str, Any]) -> dict[str, Any]:
        return self._object(self._resource.json_schema, JsonPath(()), full)

    def _fixed_paths(self) -> Iterator[JsonPath]:
        yield from self._resource.identity
        for rule in self._resource.equality_constraints:
            yield from (rule.source, rule.target)
        for reference in self._resource.references:
            yield from (pair.here for pair in reference.identity)

    def _object(self, schema: dict[str, Any], path: JsonPath, full: dict[str, Any]) -> dict[str, Any]:
        required, made = schema.get("required", ()), {}
        for name, member in schema["properties"].items():
            is_kept = name in required or name in _SHARED or self._is_of_identity(path / name)
            if name in full and (is_kept or self._random.random() < self._share):
                made[name] = self._value(member, path / name, full[name])
        return {name: value for name, value in made.items() if value not in ({}, [])}

    def _is_of_identity(self, path: JsonPath) -> bool:
        return any(each.steps[: len(path.steps)] == path.steps for each in self._resource.identity)

    def _value(self, schema: dict[str, Any], path: JsonPath, full: Any) -> Any:
        match schema["type"]:
            case "object":
                return self._object(schema, path, full)
            case "array":
                return [self._value(schema["items"], path / "[*]", item) for item in full]
        is_fixed = path in self._fixed or path.steps[-1].endswith("Descriptor") or self._resource.is_descriptor
        return full if is_fixed else self._scalar(schema, path, full)

    def _scalar(self, schema: dict[str, Any], path: JsonPath, full: Any) -> Any:
        match schema["type"]:
            case "boolean":
                return self._random.random() < 0.5
            case "integer":
                return self._random.randint(schema.get("minimum", 0), min(schema.get("maximum", 30_000), 30_000))
            case "number":
                places = min(self._decimals[path].decimal_places, _PLACES_OF_MONEY)
                digits = self._decimals[path].total_digits - self._decimals[path].decimal_places + places
                return self._random.randrange(10 ** min(digits, 15)) / 10**places
        return self._text(schema, full)

    def _text(self, schema: dict[str, Any], full: str) -> str:
        match schema.get("format"):
            case "date":
                return f"20{self._random.randint(10, 29)}-0{self._random.randint(1, 9)}-{self._random.randint(10, 28)}"
            case "date-time":
                return f"2026-03-04T{self._random.randint(10, 23)}:15:0{self._random.randint(0, 9)}Z"
            case "time":
                return f"{self._random.randint(10, 23)}:{self._random.randint(10, 59)}:00"
        longest = min(schema.get("maxLength", 40), 40)
        length = self._random.randint(max(schema.get("minLength", 1), 1), longest)
        inside = "".join(self._random.choices(_LETTERS, k=length))
        return f"x{inside[1:-1]}x"[:length] if length > 1 else full[:1]
