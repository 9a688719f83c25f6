"""The figures on the page of the architecture are upper bounds: of the size of the project, and of the modules that a
request enters. `make house` measures and writes them, when a change has lowered them, or has to raise one."""

import re
from importlib import import_module
from typing import Any

import pytest

from tests.features.management_api.serving import serve_management_api
from tests.whole.architecture.requests import paths
from tests.whole.architecture.size import sizes
from tests.whole.architecture.source import TOP

_PAGE = TOP / "meadowlark/docs/design/architecture.md"
_SECTION = "## The size of it"
# The page has the next multiple, so that small changes need not touch it.
_STEPS = {"modules": 20, "modules of fewer than 25 lines": 5, "lines of Python": 500, "lines of SQL": 100}
_AIMS = {"POST of a student": 36, "GET by id": 20, "page of 5": 40, "batch of 3": 55, "modules": 720}
_AIMS |= {"lines of Python": 62_000, "imports of a higher storey": 0, "circles of packages": 0, "circles of modules": 0}


@pytest.fixture
def measured(transactional_db: None, insert_client: Any, settings: Any) -> dict[str, tuple[int, ...]]:
    """Figures by the name of their row."""
    # The application is made with the URL map of the settings, before that is replaced.
    import_module("meadowlark.wsgi")
    serve_management_api(settings, WRITE_RECORDER="tests.features.refusals.recorder.RecorderInTest")
    return {name: path.figures() for name, path in paths(insert_client())}


@pytest.fixture
def is_written(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--write-house"))


def test_requests_enter_no_more_modules_and_return_no_more_often(measured, is_written) -> None:
    if is_written:
        _write_rows({name: [*figures, _AIMS.get(name)] for name, figures in measured.items()})
    stated = _rows()

    exceeded = {
        name: (figures, stated[name])
        for name, figures in measured.items()
        if any(figures[column] > stated[name][column] for column in (2, 3))
    }

    assert exceeded == {}


def test_the_project_is_no_larger(is_written) -> None:
    found = sizes()
    if is_written:
        _write_rows({name: [_rounded_up(name, size), _AIMS.get(name)] for name, size in found.items()})
    stated = _rows()

    assert {name: (size, stated[name][0]) for name, size in found.items() if size > stated[name][0]} == {}


def _rounded_up(name: str, size: int) -> int:
    step = _STEPS.get(name)
    return size if step is None else (size // step + 1) * step


def _rows() -> dict[str, list[int]]:
    """The numbers of each row, by its name."""
    _, section, _ = _parts()
    rows = re.findall(r"^\| ([^|]+?) \|(.*\d.*)\|$", section, flags=re.MULTILINE)
    return {name: [int(number) for number in re.findall(r"\d+", cells.replace(",", ""))] for name, cells in rows}


def _write_rows(rows: dict[str, list[Any]]) -> None:
    before, section, after = _parts()
    for name, cells in rows.items():
        line = f"| {name} |" + "".join(" |" if cell is None else f" {cell:,} |" for cell in cells)
        print(line)
        section = re.sub(rf"^\| {re.escape(name)} \|.*$", line, section, flags=re.MULTILINE)
    # The tests may run in several processes, and each reads the page.
    written = _PAGE.with_suffix(".new")
    written.write_text(before + section + after)
    written.replace(_PAGE)


def _parts() -> tuple[str, str, str]:
    """The page up to the section of the figures, the section, and the rest."""
    before, heading, rest = _PAGE.read_text().partition(_SECTION)
    section, next_heading, after = rest.partition("\n## ")
    return before, heading + section, next_heading + after
