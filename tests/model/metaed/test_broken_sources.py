"""Invalid texts, each with all of its problems: `broken/*/x.metaed` and `x.txt`.

Those in `core` are the only file of a core project; those in `extension` of a project Transit.
"""

import shutil
from pathlib import Path

import pytest

from edfi_api.model.metaed.compiler import check_projects
from tests.model.metaed.projects import write_project

BROKEN = Path(__file__).with_name("broken")
SAMPLE_CORE = Path(__file__).parents[1] / "metaed_projects" / "traffic"


def sources(folder: str) -> list[str]:
    return sorted(path.stem for path in (BROKEN / folder).glob("*.metaed"))


def problems_of(source: Path, projects: list[Path]) -> str:
    """What is shown about this source, with its bare name."""
    _, problems = check_projects(projects)
    return "\n".join(str(problem) for problem in problems if Path(problem.place.file).name == source.name)


@pytest.mark.parametrize("name", sources("core"))
def test_a_broken_core_gets_its_message(tmp_path: Path, name: str):
    source = BROKEN / "core" / f"{name}.metaed"
    core = write_project(tmp_path, "Ed-Fi", "")
    shutil.copy(source, core)

    shown = problems_of(source, [core]).replace(f"{core}/", "")

    assert shown == source.with_suffix(".txt").read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.parametrize("name", sources("extension"))
def test_a_broken_extension_gets_its_message(tmp_path: Path, name: str):
    source = BROKEN / "extension" / f"{name}.metaed"
    extension = write_project(tmp_path, "Transit", "")
    shutil.copy(source, extension)

    shown = problems_of(source, [SAMPLE_CORE, extension]).replace(f"{extension}/", "")

    assert shown == source.with_suffix(".txt").read_text(encoding="utf-8").rstrip("\n")
