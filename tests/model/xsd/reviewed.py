"""All files of the bundled standards and of an extension as reviewed text, so that the diff shows the effect of a
change of the code or of a model.

    python -m tests.model.xsd.reviewed

regenerates the text; review the diff before the commit.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.xsd.files import schema_files
from tests.model.xsd.models import PUBLISHED_STANDARDS, bundled, parsed
from tests.model.xsd.outline import outline

FOLDER = Path(__file__).with_name("expected")
LAKE = "lake_county"
LAKE_COUNTY = Path(__file__).parents[1] / "extension_project" / LAKE
NAMES = (*PUBLISHED_STANDARDS, LAKE)


def text_of(name: str) -> str:
    """The current text. That of the extension contains its own files only."""
    return "\n".join(_lines(name)) + "\n"


def reviewed(name: str) -> str:
    return _file(name).read_text(encoding="utf-8")


def _file(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def _lines(name: str) -> Iterator[str]:
    files = _lake_county() if name == LAKE else bundled(name).of("Ed-Fi")
    for file, root in parsed(files).items():
        yield from (f"== {file}", *outline(root), "")


def _lake_county():
    """Its own files on 5.2, without the entity that has the name of one of the core."""
    with TemporaryDirectory() as folder:
        project = without_homograph(Path(folder) / "lake_county")
        files = schema_files(compile_projects([BUNDLED_STANDARDS / "5.2", project]))
    assert files.warnings == ()
    return files.extensions["LakeCounty"]


def without_homograph(folder: Path) -> Path:
    """A copy of the extension in which the part of a deck is not called `Section`, like an entity of the core."""
    for file in (path for path in LAKE_COUNTY.rglob("*") if path.is_file()):
        copy = folder / file.relative_to(LAKE_COUNTY)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        copy.write_text(
            text.replace("omain Entity Section\n", "omain Entity DeckSection\n").replace(
                "domain entity Section\n", "domain entity DeckSection\n"
            ),
            encoding="utf-8",
        )
    return folder


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        _file(name).write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
