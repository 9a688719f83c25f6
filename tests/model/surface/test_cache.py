"""The cached surface on disk: used if it is valid, else rebuilt."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.surface import cache
from edfi_api.model.surface.builder import build_surface
from edfi_api.model.surface.resource import Surface
from tests.model.surface.models import complete, named, write_project

CORE = """
Domain Entity School
  integer SchoolId is part of identity
"""


def load_or_build(paths: Sequence[Path], cache_dir: Path | None) -> Surface:
    return cache.load_or_build(Surface, paths, cache_dir, build=lambda paths: build_surface(compile_projects(paths)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "core", "Ed-Fi", CORE)


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Surface]:
    """All surfaces built during the test."""
    built: list[Surface] = []
    really_build = build_surface

    def recorded(model: object) -> Surface:
        built.append(really_build(model))
        return built[-1]

    monkeypatch.setitem(globals(), "build_surface", recorded)
    return built


def test_the_second_start_compiles_nothing(project: Path, cache_dir: Path, compilations: list[Surface]) -> None:
    first = load_or_build([project], cache_dir)

    second = load_or_build([project], cache_dir)

    assert second == first
    assert len(compilations) == 1
    assert second.by_endpoint["ed-fi", "schools"].url_path == "/ed-fi/schools"


def test_another_text_is_compiled_again(project: Path, cache_dir: Path) -> None:
    load_or_build([project], cache_dir)
    (project / "Model.metaed").write_text(complete(CORE + "  string Motto is optional\n"))

    surface = load_or_build([project], cache_dir)

    assert set(named(surface, "School").json_schema["properties"]) == {"schoolId", "motto"}


def test_another_project_file_is_compiled_again(project: Path, cache_dir: Path) -> None:
    load_or_build([project], cache_dir)
    manifest = project / "package.json"
    manifest.write_text(manifest.read_text().replace("5.2.0", "5.3.0"))

    assert load_or_build([project], cache_dir).projects[0].version == "5.3.0"


def test_another_compiler_makes_the_cache_stale(
    project: Path, cache_dir: Path, compilations: list[Surface], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    load_or_build([project], cache_dir)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "naming.py").write_text("changed = True")
    monkeypatch.setattr(cache.surface, "__path__", [str(tmp_path / "code")])

    load_or_build([project], cache_dir)

    assert len(compilations) == 2


@pytest.mark.parametrize("damage", [b"", b"x" * 10, b"x" * 1000])
def test_a_damaged_cache_is_rebuilt(project: Path, cache_dir: Path, compilations: list[Surface], damage: bytes) -> None:
    first = load_or_build([project], cache_dir)
    (file,) = cache_dir.iterdir()
    file.write_bytes(damage)

    assert load_or_build([project], cache_dir) == first
    assert load_or_build([project], cache_dir) == first
    assert len(compilations) == 2


def test_a_single_changed_byte_is_detected(project: Path, cache_dir: Path, compilations: list[Surface]) -> None:
    first = load_or_build([project], cache_dir)
    (file,) = cache_dir.iterdir()
    file.write_bytes(file.read_bytes().replace(b"schoolId", b"schoolIx"))

    assert load_or_build([project], cache_dir) == first
    assert len(compilations) == 2


def test_a_cache_that_cannot_be_written_does_not_stop_the_start(project: Path, tmp_path: Path) -> None:
    obstacle = tmp_path / "file"
    obstacle.write_text("not a folder")

    assert load_or_build([project], obstacle).by_endpoint.keys() == {("ed-fi", "schools")}


def test_without_a_folder_every_start_compiles(project: Path, compilations: list[Surface]) -> None:
    load_or_build([project], None)
    load_or_build([project], None)

    assert len(compilations) == 2


def test_no_temporary_file_is_left(project: Path, cache_dir: Path) -> None:
    load_or_build([project], cache_dir)

    assert [file.suffix for file in cache_dir.iterdir()] == [".msgpack"]
