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
    """Without the warnings about that standard, which nobody asked for."""
    configured(DATA_STANDARD="3.3.1-b")

    assert run("check_model", LAKE_COUNTY).told.splitlines()[-1].startswith("0 errors, 1 warning: ")
    assert run("check_model", broken).failure == "1 error, 0 warnings"


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
