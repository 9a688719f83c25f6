"""`manage.py check_model`: everything that is wrong with a model, before anybody serves it."""

import json
from pathlib import Path

import pytest

from edfi_api.conf import BUNDLED_STANDARDS
from tests.apischema.official import CORE
from tests.commands.conftest import Run
from tests.serving import LAKE_COUNTY
from tests.surface.models import write_project


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    folder = write_project(tmp_path / "broken", "Broken", "", "1.0.0")
    (folder / "Model.metaed").write_text(
        'Domain Entity Boat\n    documentation "A boat."\n    integer BoatId\n        documentation "Its number."\n'
        "        is part of identity\n    domain entity EdFi.Schol\n"
        '        documentation "Its school."\n        is optional\n'
    )
    return folder


def test_a_sound_model_can_be_served(run: Run) -> None:
    outcome = run("check_model", BUNDLED_STANDARDS / "5.2")

    assert outcome.told == f"0 errors, 0 warnings: {BUNDLED_STANDARDS / '5.2'} can be served\n"
    assert not outcome.failure


def test_what_keeps_a_project_from_having_xml_schemas_is_a_warning(run: Run) -> None:
    outcome = run("check_model", BUNDLED_STANDARDS / "5.2", LAKE_COUNTY)

    assert outcome.told == (
        f"{LAKE_COUNTY}/DomainEntity/Crossing.metaed:69:15: warning: 'Section' is the name of a domain entity of the"
        " core too; LakeCounty is served without XML schemas\n"
        "    69 | Domain Entity Section\n"
        "       |               ^\n"
        f"0 errors, 1 warning: {BUNDLED_STANDARDS / '5.2'}, {LAKE_COUNTY} can be served\n"
    )
    assert not outcome.failure


def test_each_problem_has_its_place_and_the_line_itself(run: Run, broken: Path) -> None:
    outcome = run("check_model", BUNDLED_STANDARDS / "5.2", broken)

    assert outcome.told == (
        f"{broken}/Model.metaed:6:19: there is no domain entity 'Schol' in EdFi; did you mean 'School'?\n"
        "     6 |     domain entity EdFi.Schol\n"
        "       |                   ^\n"
    )
    assert outcome.failure == "1 error, 0 warnings"


def test_a_published_deviation_that_fits_nothing_is_a_problem(run: Run, tmp_path: Path) -> None:
    deviation = {"resource": "Boat", "path": "$.sail", "required": True, "reason": "So it is published."}
    folder = write_project(
        tmp_path / "fleet",
        "Ed-Fi",
        "Domain Entity Boat\n  integer BoatId is part of identity",
        publishedDeviations=[deviation, deviation | {"resource": "Oar"}],
    )

    outcome = run("check_model", folder)

    assert f"{folder}/package.json:1:1: published deviation: Boat has no $.sail\n" in outcome.told
    assert f"{folder}/package.json:1:1: published deviation: there is no resource Oar in Ed-Fi\n" in outcome.told
    assert outcome.failure == "2 errors, 1 warning"  # It has no `URI`, which XML schemas need.


def test_an_extension_alone_is_checked_with_the_configured_standard(run: Run, configured, broken: Path) -> None:
    configured(DATA_STANDARD="3.3.1-b")

    assert run("check_model", LAKE_COUNTY).told.endswith(
        "8 warnings about the data standard itself; --all lists them\n"
        f"0 errors, 1 warning: {BUNDLED_STANDARDS / '3.3.1-b'}, {LAKE_COUNTY} can be served\n"
    )
    assert run("check_model", broken).failure == "1 error, 0 warnings"


def test_a_bundled_standard_is_known_by_its_name(run: Run, broken: Path) -> None:
    """Whatever is configured."""
    assert run("check_model", "5.2", LAKE_COUNTY).told.endswith(
        f"0 errors, 1 warning: {BUNDLED_STANDARDS / '5.2'}, {LAKE_COUNTY} can be served\n"
    )
    assert "did you mean 'School'?" in run("check_model", "3.3.1-b", broken).told


def test_an_unknown_standard_is_answered_with_the_bundled_ones(run: Run) -> None:
    outcome = run("check_model", "9.9")

    assert outcome.told == ""
    assert outcome.failure.endswith("'9.9': no such folder or file; bundled are: 3.3.1-b, 5.2")


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    return write_project(tmp_path / "doubtful", "Doubtful", """
Domain Entity Ride
  integer RideNumber is part of identity
  domain entity EdFi.LearningObjective is optional
""", "1.0.0")  # fmt: skip


def test_warnings_about_the_standard_do_not_bury_those_of_the_author(run: Run, doubtful: Path) -> None:
    own = f"{doubtful}/Model.metaed:4:17: warning: domain entity 'LearningObjective' is deprecated: "

    told = run("check_model", "3.3.1-b", doubtful).told

    assert told.startswith(own)
    assert told.count(": warning: ") == 1
    assert told.endswith(
        "8 warnings about the data standard itself; --all lists them\n"
        f"0 errors, 1 warning: {BUNDLED_STANDARDS / '3.3.1-b'}, {doubtful} can be served\n"
    )


def test_all_warnings_are_listed_on_request(run: Run, doubtful: Path) -> None:
    told = run("check_model", "--all", "3.3.1-b", doubtful).told

    assert told.count(": warning: ") == 9
    assert f"{BUNDLED_STANDARDS}/3.3.1-b/DomainEntity/Course.metaed:70:19: warning: " in told
    assert "--all" not in told
    assert told.endswith(f"0 errors, 9 warnings: {BUNDLED_STANDARDS / '3.3.1-b'}, {doubtful} can be served\n")


def test_an_extension_inside_the_folder_of_the_standard_is_the_author_s(run: Run, tmp_path: Path) -> None:
    standard = write_project(tmp_path / "standard", "Ed-Fi", "Domain Entity Boat\n  integer BoatId is part of identity")
    extension = write_project(
        standard / "extension", "Sails", "Domain Entity Sail\n  integer SailId is part of identity role name SailId"
    )

    told = run("check_model", standard, extension).told

    assert f"{extension}/Model.metaed:2:11: warning: role name and name are both 'SailId'\n" in told
    assert f"{standard}/Model.metaed:" not in told


def test_a_common_extension_without_the_common_is_a_warning_from_text_and_from_a_file(
    run: Run, configured, tmp_path: Path
) -> None:
    standard = "Domain Entity Boat\n  integer BoatId is part of identity\n{}Common Rig\n  string Kind is optional"
    extension = """
Domain Entity EdFi.Boat additions
  common extension EdFi.Rig is optional
Common EdFi.Rig additions
  integer Masts is optional
"""
    with_rig = write_project(tmp_path / "old", "Ed-Fi", standard.format("  common Rig is optional\n"))
    without_rig = write_project(tmp_path / "new", "Ed-Fi", standard.format(""))
    sails = write_project(tmp_path / "sails", "Sails", extension, "1.0.0")
    configured(DATA_STANDARD=str(with_rig), EXTENSIONS=(sails,))
    run("export_api_schema", "--output", tmp_path / "ApiSchema.json")
    file = tmp_path / "ApiSchema-Sails.json"

    from_text, from_file = run("check_model", without_rig, sails), run("check_model", without_rig, file)

    assert f"{sails}/Model.metaed:3:20: warning: 'Boat' has no common 'Rig'; the extension is without effect\n" in (
        from_text.told
    )
    assert from_text.told.endswith(f"0 errors, 1 warning: {without_rig}, {sails} can be served\n")
    assert from_file.told == (
        f"{file}: $.projectSchema.resourceSchemas.boats.commonExtensionOverrides[0]: warning: "
        "Boat has no object at $.properties.rig; the common extension is without effect\n"
        "1 warning about the data standard itself; --all lists them\n"
        f"0 errors, 1 warning: {without_rig}, {file} can be served\n"
    )


def test_without_paths_the_configured_projects_are_checked(run: Run, configured, broken: Path) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=(broken,))

    assert run("check_model").failure == "1 error, 0 warnings"


def test_warnings_keep_nothing_from_being_served(run: Run) -> None:
    outcome = run("check_model", BUNDLED_STANDARDS / "3.3.1-b")

    assert "Course.metaed:70:19: warning: domain entity 'LearningObjective' is deprecated" in outcome.told
    assert outcome.told.endswith("3.3.1-b can be served\n")
    assert not outcome.failure


def test_a_broken_api_schema_file_is_named_with_the_path(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "ApiSchema.json"
    file.write_text(json.dumps(CORE | {"apiSchemaVersion": "9.0.0"}))

    outcome = run("check_model", file)

    assert outcome.told == f"{file}: $: apiSchemaVersion is 9.0.0; only versions 1.x can be read\n"
    assert outcome.failure == "1 error, 0 warnings"


def test_a_path_that_is_not_there_is_a_problem(run: Run, tmp_path: Path) -> None:
    outcome = run("check_model", tmp_path / "nothing")

    assert outcome.told == f"{tmp_path}/nothing:1:1: no such folder\n"
    assert outcome.failure == "1 error, 0 warnings"


def test_text_cannot_extend_an_api_schema_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "ApiSchema.json"
    file.write_text(json.dumps(CORE))

    outcome = run("check_model", file, LAKE_COUNTY)

    assert "name the ApiSchema file of the extension instead" in outcome.failure
