"""Citations in comments and pages resolve: to a page and heading of this repository, or to a public document."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.whole.architecture.source import MODULES, TOP

_PAGE = re.compile(r"(?<![\w/.-])([\w./-]+\.md)(?:#([\w-]+))?\b")
_LINK = re.compile(r"https?://\S+")
_TARGET = re.compile(r"\]\(([^)\s]+)\)")
_TEXTS = {".py", ".sql", ".md", ".html", ".txt", ".toml", ".yaml", ".yml", ".sh", ".lark", ".metaed", ".conf"}


def _texts() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=TOP, check=True, capture_output=True, text=True).stdout.split("\n")
    return [path for name in listed if (path := TOP / name).suffix in _TEXTS and path.is_file()]


def _citations() -> list[tuple[Path, str, str | None]]:
    return [
        (path, page, heading or None)
        for path in _texts()
        for page, heading in _PAGE.findall(_LINK.sub("", path.read_text(encoding="utf-8", errors="replace")))
    ]


def _headings(page: Path) -> set[str]:
    """Return the headings as link fragments: lower case, without punctuation, hyphens for blanks."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    ("path", "page", "heading"), _citations(), ids=lambda value: value.name if isinstance(value, Path) else value
)
def test_cited_pages_and_headings_exist(path, page, heading):
    found = next((file for folder in (TOP, path.parent) if (file := folder / page).is_file()), None)

    assert found is not None, f"{path.relative_to(TOP)} cites {page}"
    assert heading is None or heading in _headings(found), f"{path.relative_to(TOP)} cites {page}#{heading}"


@pytest.mark.parametrize("page", [path for path in _texts() if path.suffix == ".md"], ids=lambda path: path.name)
def test_links_resolve(page: Path) -> None:
    """To a heading of the same page, or to a file or folder."""
    links = [link for link in _TARGET.findall(page.read_text()) if not _LINK.match(link)]
    dangling = [
        link
        for link in links
        if not (page.parent / link.partition("#")[0]).exists()
        or (link.startswith("#") and link[1:] not in _headings(page))
    ]

    assert dangling == []


# Examples of files that an operator makes.
_OF_OPERATORS = {"state.toml"}


@pytest.mark.parametrize("page", [p for p in _texts() if p.suffix == ".md" and p.parent.name != "decisions"], ids=str)
def test_modules_that_a_page_names_exist(page: Path) -> None:
    """By their name, or the end of their path. Decisions and the changelog tell of the past."""
    named = set(re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|sql|lark|toml|html))`", page.read_text())) - _OF_OPERATORS
    paths = "\n".join([*(f"/{path.relative_to(TOP)}" for path in _texts()), ""])

    assert page.name == "CHANGELOG.md" or [name for name in named if f"/{name}\n" not in paths] == []


@pytest.mark.parametrize("folder", sorted((TOP / "meadowlark/docs").iterdir()), ids=lambda path: path.name)
def test_the_list_of_pages_has_every_page(folder: Path) -> None:
    """Decisions have a list of their own."""
    listed = (TOP / "meadowlark/docs/README.md").read_text()

    assert [path.name for path in folder.glob("*.md") if f"]({folder.name}/{path.name})" not in listed] == []


def test_the_list_of_decisions_has_every_title() -> None:
    folder = TOP / "meadowlark/docs/design/decisions"
    listed = (folder / "README.md").read_text()
    titles = {path.name: path.read_text().partition("\n")[0].partition(". ")[2] for path in folder.glob("0*.md")}

    assert [name for name, title in titles.items() if f"[{title}]({name})" not in listed] == []


_COMMANDS = {path.stem for path in MODULES if path.parent.name == "commands"}


@pytest.mark.parametrize("package", [path for path in MODULES if path.name == "__init__.py"], ids=str)
def test_names_in_the_docstring_of_a_package_exist(package: Path) -> None:
    docstring = ast.get_docstring(ast.parse(package.read_text())) or ""
    named = set(re.findall(r"`([a-z_]+)`", docstring)) - _COMMANDS
    beside = {path.stem for path in package.parent.iterdir()}
    below = "".join(path.read_text() for path in package.parent.rglob("*.py")) if named - beside else ""

    assert {name for name in named - beside if f"def {name}(" not in below} == set()


def test_section_signs_follow_an_rfc_only():
    """Other pages are cited by their headings."""
    dangling = [
        f"{path.relative_to(TOP)}: {line.strip()}"
        for path in _texts()
        if path != Path(__file__)
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if "§" in re.sub(r"RFC ?\d+ §§?[\d.]+(?:(?:,| and|-) ?§?[\d.]+)*", "", line)
    ]

    assert dangling == []
