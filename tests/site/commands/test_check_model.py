"""`manage.py check_model`: all problems of a model, before it is served."""

import json
from pathlib import Path

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from tests.model.apischema.official import CORE
from tests.model.surface.models import write_project
from tests.site.commands.conftest import CommonExtension, Run
from tests.support.serving import LAKE_COUNTY


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    folder = write_project(tmp_path / "broken", "Broken", "", "1.0.0")
    (folder / "Model.metaed").write_text(
        'Domain Entity Boat\n    documentation "A boat."\n    integer BoatId\n        documentation "Its number."\n'
        "        is part of identity\n    domain entity EdFi.Schol\n"
        '        documentation "Its school."\n        is optional\n'
    )
    return folder


def test_a_valid_model_can_be_served(run: Run) -> None:
    outcome = run("check_model", BUNDLED_STANDARDS / "5.2")

    assert outcome.output == f"0 errors, 0 warnings: {BUNDLED_STANDARDS / '5.2'} can be served\n"
    assert not outcome.failure


def test_a_project_without_xml_schemas_is_a_warning(run: Run) -> None:
    outcome = run("check_model", BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)

    assert outcome.output == (
        f"{LAKE_COUNTY}/DomainEntity/Crossing.metaed:69:15: warning: 'Section' is the name of a domain entity of the"
        " core too; LakeCounty is served without XML schemas\n"
        "    69 | Domain Entity Section\n"
        "       |               ^\n"
        f"0 errors, 1 warning: {BUNDLED_STANDARDS / '5.2'}, {LAKE_COUNTY} can be served\n"
    )
    assert not outcome.failure


def test_each_problem_is_shown_with_its_position_and_line(run: Run, broken: Path) -> None:
    outcome = run("check_model", BUNDLED_STANDARDS / "5.2", broken)

    assert outcome.output == (
        f"{broken}/Model.metaed:6:19: there is no domain entity 'Schol' in EdFi; did you mean 'School'?\n"
        "     6 |     domain entity EdFi.Schol\n"
        "       |                   ^\n"
    )
    assert outcome.failure == "1 error, 0 warnings"


def test_a_published_deviation_that_does_not_apply_is_an_error(run: Run, tmp_path: Path) -> None:
    deviation = {"resource": "Boat", "path": "$.sail", "required": True, "reason": "So it is published."}
    folder = write_project(
        tmp_path / "fleet",
        "Ed-Fi",
        "Domain Entity Boat\n  integer BoatId is part of identity",
        publishedDeviations=[deviation, deviation | {"resource": "Oar"}],
    )

    outcome = run("check_model", folder)

    assert f"{folder}/package.json:1:1: published deviation: Boat has no $.sail\n" in outcome.output
    assert f"{folder}/package.json:1:1: published deviation: there is no resource Oar in Ed-Fi\n" in outcome.output
    assert outcome.failure == "2 errors, 1 warning"  # It has no `URI`, which XML schemas need.


@pytest.mark.long
def test_an_extension_alone_is_checked_with_the_configured_standard(run: Run, configured, broken: Path) -> None:
    configured(DATA_STANDARD="3.3.1-b")

    assert run("check_model", LAKE_COUNTY).output.endswith(
        "8 warnings about the data standard itself; --all lists them\n"
        f"0 errors, 1 warning: {BUNDLED_STANDARDS / '3.3.1-b'}, {LAKE_COUNTY} can be served\n"
    )
    assert run("check_model", broken).failure == "1 error, 0 warnings"


def test_a_bundled_standard_is_found_by_its_name(run: Run, broken: Path) -> None:
    """Regardless of the configured standard."""
    assert run("check_model", "5.2", LAKE_COUNTY).output.endswith(
        f"0 errors, 1 warning: {BUNDLED_STANDARDS / '5.2'}, {LAKE_COUNTY} can be served\n"
    )
    assert "did you mean 'School'?" in run("check_model", "3.3.1-b", broken).output


def test_an_unknown_standard_lists_the_bundled_ones(run: Run) -> None:
    outcome = run("check_model", "9.9")

    assert outcome.output == ""
    assert outcome.failure.endswith("'9.9': no such folder or file; bundled are: 3.3.1-b, 4.0, 5.2, 6.1")


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    return write_project(tmp_path / "doubtful", "Doubtful", """
Domain Entity Ride
  integer RideNumber is part of identity
  domain entity EdFi.LearningObjective is optional
""", "1.0.0")  # fmt: skip


@pytest.mark.long
def test_warnings_about_the_standard_are_only_counted(run: Run, doubtful: Path) -> None:
    own = f"{doubtful}/Model.metaed:4:17: warning: domain entity 'LearningObjective' is deprecated: "

    output = run("check_model", "3.3.1-b", doubtful).output

    assert output.startswith(own)
    assert output.count(": warning: ") == 1
    assert output.endswith(
        "8 warnings about the data standard itself; --all lists them\n"
        f"0 errors, 1 warning: {BUNDLED_STANDARDS / '3.3.1-b'}, {doubtful} can be served\n"
    )


@pytest.mark.long
def test_all_warnings_are_listed_on_request(run: Run, doubtful: Path) -> None:
    output = run("check_model", "--all", "3.3.1-b", doubtful).output

    assert output.count(": warning: ") == 9
    assert f"{BUNDLED_STANDARDS}/3.3.1-b/DomainEntity/Course.metaed:70:19: warning: " in output
    assert "--all" not in output
    assert output.endswith(f"0 errors, 9 warnings: {BUNDLED_STANDARDS / '3.3.1-b'}, {doubtful} can be served\n")


def test_warnings_of_an_extension_inside_the_folder_of_the_standard_are_listed(run: Run, tmp_path: Path) -> None:
    standard = write_project(tmp_path / "standard", "Ed-Fi", "Domain Entity Boat\n  integer BoatId is part of identity")
    extension = write_project(
        standard / "extension", "Sails", "Domain Entity Sail\n  integer SailId is part of identity role name SailId"
    )

    output = run("check_model", standard, extension).output

    assert f"{extension}/Model.metaed:2:11: warning: role name and name are both 'SailId'\n" in output
    assert f"{standard}/Model.metaed:" not in output


def test_a_common_extension_without_the_common_is_a_warning_from_text_and_from_a_file(
    run: Run, common_extension: CommonExtension
) -> None:
    standard, project, file = common_extension.standard, common_extension.project, common_extension.file

    from_text, from_file = run("check_model", standard, project), run("check_model", standard, file)

    assert f"{project}/Model.metaed:3:20: warning: 'Boat' has no common 'Rig'; the extension is without effect\n" in (
        from_text.output
    )
    assert from_text.output.endswith(f"0 errors, 1 warning: {standard}, {project} can be served\n")
    assert from_file.output == (
        f"{file}: $.projectSchema.resourceSchemas.boats.commonExtensionOverrides[0]: warning: "
        "Boat has no object at $.properties.rig; the common extension is without effect\n"
        "1 warning about the data standard itself; --all lists them\n"
        f"0 errors, 1 warning: {standard}, {file} can be served\n"
    )


def test_without_paths_the_configured_projects_are_checked(run: Run, configured, broken: Path) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=(broken,))

    assert run("check_model").failure == "1 error, 0 warnings"


@pytest.mark.long
def test_a_model_with_warnings_can_be_served(run: Run) -> None:
    outcome = run("check_model", BUNDLED_STANDARDS / "3.3.1-b")

    assert "Course.metaed:70:19: warning: domain entity 'LearningObjective' is deprecated" in outcome.output
    assert outcome.output.endswith("3.3.1-b can be served\n")
    assert not outcome.failure


def test_an_invalid_api_schema_file_is_reported_with_the_json_path(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "ApiSchema.json"
    file.write_text(json.dumps(CORE | {"apiSchemaVersion": "9.0.0"}))

    outcome = run("check_model", file)

    assert outcome.output == f"{file}: $: apiSchemaVersion is 9.0.0; only versions 1.x can be read\n"
    assert outcome.failure == "1 error, 0 warnings"


def test_a_missing_path_is_an_error(run: Run, tmp_path: Path) -> None:
    outcome = run("check_model", tmp_path / "nothing")

    assert outcome.output == f"{tmp_path}/nothing:1:1: no such folder\n"
    assert outcome.failure == "1 error, 0 warnings"


def test_text_cannot_extend_an_api_schema_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "ApiSchema.json"
    file.write_text(json.dumps(CORE))

    outcome = run("check_model", file, LAKE_COUNTY)

    assert "name the ApiSchema file of the extension instead" in outcome.failure
