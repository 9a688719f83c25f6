"""`manage.py check`: what is wrong with the model before it is served."""

from edfi_api.startup import current_compilation
from tests.commands.conftest import Run
from tests.serving import LAKE_COUNTY


def test_why_a_project_has_no_xml_schemas_is_a_warning(run: Run, configured) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=(LAKE_COUNTY,))

    outcome = run("check")

    assert (
        f"(edfi_api.W001) {LAKE_COUNTY}/DomainEntity/Crossing.metaed:69:15: 'Section' is the name of a domain entity "
        "of the core too; LakeCounty is served without XML schemas"
    ) in outcome.failure
    assert "1 issue" in outcome.failure


def test_a_bundled_standard_alone_is_without_warnings(run: Run, configured) -> None:
    configured(DATA_STANDARD="5.2", EXTENSIONS=())

    assert current_compilation().schema_files.warnings == ()
    assert run("check").told == "System check identified no issues (0 silenced).\n"
