"""`manage.py export_api_schema`, and serving the exported files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from edfi_api.core.served import current_compilation, current_surface
from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from tests.site.commands.conftest import Run
from tests.support.serving import LAKE_COUNTY


def test_the_standard_alone_is_printed(run: Run, configured) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=())

    content = json.loads(run("export_api_schema").output)

    assert content["apiSchemaVersion"] == "1.0.0"
    assert content["projectSchema"]["projectVersion"] == "5.2.0"
    assert content["projectSchema"]["resourceNameMapping"]["School"] == "schools"


def test_every_project_is_written_to_its_own_file(run: Run, configured, tmp_path: Path) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=(LAKE_COUNTY,))
    file = tmp_path / "ApiSchema.json"

    outcome = run("export_api_schema", "--output", file)

    assert outcome.output.splitlines() == [
        f"{file}: Ed-Fi 5.2.0",
        f"{tmp_path}/ApiSchema-LakeCounty.json: LakeCounty 1.2.0",
    ]
    assert run("export_api_schema").failure == "Ed-Fi, LakeCounty need a file each: say --output ApiSchema.json"


def test_an_export_can_be_served(run: Run, configured, tmp_path: Path) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=(LAKE_COUNTY,))
    compiled = current_surface()
    run("export_api_schema", "--output", tmp_path / "ApiSchema.json")

    configured(DATA_STANDARD=str(tmp_path / "ApiSchema.json"), EXTENSIONS=(tmp_path / "ApiSchema-LakeCounty.json",))

    assert current_surface().resources == compiled.resources


def test_an_api_schema_file_extends_a_compiled_standard(run: Run, configured, tmp_path: Path) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=(LAKE_COUNTY,))
    compiled = current_surface()
    run("export_api_schema", "--output", tmp_path / "ApiSchema.json")

    configured(DATA_STANDARD="5.2", EXTENSIONS=(tmp_path / "ApiSchema-LakeCounty.json",))

    assert without_domains(current_surface()) == without_domains(compiled)
    assert current_surface().organizations == compiled.organizations


def without_domains(surface: Surface) -> list[Resource]:
    """Domains of an extension that list resources of the core are exported in the core's file only."""
    return [replace(resource, domains=()) for resource in surface.resources]


@pytest.mark.long
def test_a_changed_api_schema_file_is_read_again(run: Run, configured, tmp_path: Path) -> None:
    file = tmp_path / "ApiSchema.json"
    configured(DATA_STANDARD="5.2", EXTENSIONS=())
    run("export_api_schema", "--output", file)
    configured(DATA_STANDARD=str(file), CACHE_DIR=tmp_path / "cache")
    before = current_surface()

    file.write_text(file.read_text().replace('"endpointName"', "").replace("studentUniqueId", "pupilUniqueId"))
    current_compilation.cache_clear()

    assert "studentUniqueId" in before.by_name[ResourceName("Ed-Fi", "Student")].json_schema["properties"]
    assert "pupilUniqueId" in current_surface().by_name[ResourceName("Ed-Fi", "Student")].json_schema["properties"]


def test_an_unwritable_path_is_reported(run: Run, tmp_path: Path) -> None:
    failure = run("export_api_schema", "--output", tmp_path / "nowhere" / "file.json").failure

    assert failure == f"{tmp_path}/nowhere/file.json: No such file or directory"


def test_an_unknown_standard_is_reported(run: Run, configured) -> None:
    configured(DATA_STANDARD="6.7")

    failure = run("export_api_schema").failure

    assert failure == "unknown data standard '6.7': no such folder or file; bundled are: 3.3.1-b, 4.0, 5.2, 6.1"
