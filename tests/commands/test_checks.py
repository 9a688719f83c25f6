"""`manage.py check`: what is wrong with the model before it is served."""

from pathlib import Path

from edfi_api.startup import current_compilation
from tests.commands.conftest import Run
from tests.serving import LAKE_COUNTY
from tests.surface.models import write_project


def test_why_a_project_has_no_xml_schemas_is_a_warning(run: Run, configured) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=(LAKE_COUNTY,))

    outcome = run("check")

    assert (
        f"(edfi_api.W001) {LAKE_COUNTY}/DomainEntity/Crossing.metaed:69:15: 'Section' is the name of a domain entity "
        "of the core too; LakeCounty is served without XML schemas"
    ) in outcome.failure
    assert "1 issue" in outcome.failure


def test_what_is_left_out_of_an_api_schema_file_is_a_warning(run: Run, configured, tmp_path: Path) -> None:
    """Clients would not notice: members that a resource does not have are ignored."""
    standard = "Domain Entity Boat\n  integer BoatId is part of identity\n{}Common Rig\n  string Kind is optional"
    additions = """
Domain Entity EdFi.Boat additions
  common extension EdFi.Rig is optional
Common EdFi.Rig additions
  integer Masts is optional
"""
    with_rig = write_project(tmp_path / "old", "Ed-Fi", standard.format("  common Rig is optional\n"))
    without_rig = write_project(tmp_path / "new", "Ed-Fi", standard.format(""))
    sails = write_project(tmp_path / "sails", "Sails", additions, "1.0.0")
    configured(DATA_STANDARD=str(with_rig), EXTENSIONS=(sails,))
    run("export_api_schema", "--output", tmp_path / "ApiSchema.json")
    configured(DATA_STANDARD=str(without_rig), EXTENSIONS=(tmp_path / "ApiSchema-Sails.json",))

    assert (
        f"(edfi_api.W003) {tmp_path}/ApiSchema-Sails.json: "
        "$.projectSchema.resourceSchemas.boats.commonExtensionOverrides[0]: warning: "
        "Boat has no object at $.properties.rig; the common extension is without effect"
    ) in run("check").failure


def test_a_bundled_standard_alone_is_without_warnings(run: Run, configured) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=())

    assert current_compilation().schema_files.warnings == ()
    assert run("check").told == "System check identified no issues (0 silenced).\n"
