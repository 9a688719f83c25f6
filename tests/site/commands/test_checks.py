"""`manage.py check`: problems of the model."""

from pathlib import Path

from edfi_api.core.served import current_compilation
from edfi_api.site.checks import log_warnings_of_the_model
from tests.model.surface.models import write_project
from tests.site.commands.conftest import CommonExtension, Run
from tests.support.serving import LAKE_COUNTY


def test_a_project_without_xml_schemas_is_a_warning(run: Run, configured) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=(LAKE_COUNTY,))

    outcome = run("check")

    assert (
        f"(edfi_api.W001) {LAKE_COUNTY}/DomainEntity/Crossing.metaed:69:15: 'Section' is the name of a domain entity "
        "of the core too; LakeCounty is served without XML schemas"
    ) in outcome.failure
    assert "1 issue" in outcome.failure


def test_warnings_about_text_are_counted_with_the_command_that_lists_them(
    run: Run, configured, tmp_path: Path, caplog
) -> None:
    text = "Domain Entity Boat\n  integer BoatId is part of identity\nDomain Fleet\n  domain entity School\n"
    configured(DATA_STANDARD="5.2", EXTENSIONS=(write_project(tmp_path / "fleet", "Fleet", text, "1.0.0"),))

    log_warnings_of_the_model()

    sentence = "The model has 1 warning; manage.py check_model lists them."
    assert f"(edfi_api.W009) {sentence}" in run("check").failure
    assert caplog.messages == [sentence]


def test_an_unusable_part_of_an_api_schema_file_is_a_warning(
    run: Run, configured, common_extension: CommonExtension
) -> None:
    """Clients would not notice, since unknown members are ignored."""
    configured(DATA_STANDARD=str(common_extension.standard), EXTENSIONS=(common_extension.file,))

    assert (
        f"(edfi_api.W003) {common_extension.file}: "
        "$.projectSchema.resourceSchemas.boats.commonExtensionOverrides[0]: warning: "
        "Boat has no object at $.properties.rig; the common extension is without effect"
    ) in run("check").failure


def test_a_bundled_standard_alone_has_no_warnings(run: Run, configured) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=())

    assert current_compilation().schema_files.warnings == ()
    assert run("check").output == "System check identified no issues (0 silenced).\n"
