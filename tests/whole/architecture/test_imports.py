"""Import rules between packages, and a docstring in every module."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.whole.architecture.layers import (
    FEATURES_IMPORT,
    ORDERED_PACKAGES,
    STOREYS,
    feature_of,
    position_in,
    storey_of,
)
from tests.whole.architecture.source import MODULES, PACKAGES, TOP, imports, is_within, module_name

# Packages that may import only the listed packages of the project.
ALLOWED_IMPORTS = {
    "meadowlark.serving": {
        "edfi_api.common.addresses",
        "edfi_api.common.conf",
        "edfi_api.common.logs",
        "edfi_api.common.memory",
        "edfi_api.web.problem_details",
        "edfi_api.web.answered_requests",
        "edfi_api.web.prepared_requests",
        "edfi_api.common.settings_table",
        "meadowlark.configuration.environment",
    },
    "edfi_api.common.logs.correlation": {"edfi_api.common.conf", "edfi_api.common.ods_compatibility"},
    "edfi_api.model.metaed": set[str](),
    "edfi_api.web.problem_details.catalog": {
        "edfi_api.web.problem_details.http_exceptions",
        "edfi_api.web.problem_details.problem",
        "edfi_api.common.addresses",
        "edfi_api.common.conf",
        "edfi_api.core.data_stores.exceptions",
        "edfi_api.core.documents",
        "edfi_api.web.problem_details.hints",
        "edfi_api.common.logs",
        "edfi_api.common.memory",
        "edfi_api.model.surface",
        "edfi_api.common.ods_compatibility",
        "edfi_api.core.security.profiles.exceptions",
        "edfi_api.core.queries.exceptions",
        "edfi_api.common.request_body",
        "edfi_api.core.security.exceptions",
        "edfi_api.core.storage.driver.execution",
        "edfi_api.core.storage.exceptions",
        "references.exceptions",
    },
}

_HTTP = ("django.http", "django.urls", "rest_framework", "oauth2_provider")
_FRAMEWORKS = ("django", "environ", "psycopg", *_HTTP)
# Libraries that a package must not import.
FORBIDDEN_LIBRARIES = {
    "edfi_api.core.storage": _HTTP,
    "edfi_api.core.models": _HTTP,
    "references": _HTTP,
    "edfi_api.core.documents": _FRAMEWORKS,
    "edfi_api.model": _FRAMEWORKS,
    "meadowlark.run.embedded_postgres": _FRAMEWORKS,  # settings.py imports it before Django is set up.
    "meadowlark.run.postgres_programs": _FRAMEWORKS,
}


def test_every_module_belongs_to_a_storey() -> None:
    unlisted = [name for path in MODULES if (name := module_name(path)) != "edfi_api" and storey_of(name) is None]

    assert unlisted == []


def test_imports_go_down_or_stay_in_their_storey() -> None:
    upwards = {
        (importer, imported)
        for importer, imported in _own_imports()
        if importer != "edfi_api" and (storey_of(importer) or 0) < (storey_of(imported) or 0)
    }

    assert upwards == set()


def test_capabilities_import_each_other_only_as_listed() -> None:
    found: dict[str, set[str]] = {}
    for importer, imported in _own_imports():
        own, other = feature_of(importer), feature_of(imported)
        if own and other and own != other:
            found.setdefault(own, set()).add(other)

    assert found == FEATURES_IMPORT


@pytest.mark.parametrize("packages", ORDERED_PACKAGES, ids=" before ".join)
def test_imports_go_down_within_a_storey(packages: tuple[str, ...]) -> None:
    upwards = {
        (importer, imported)
        for importer, imported in _own_imports()
        if (position := position_in(packages, importer)) is not None
        and (other := position_in(packages, imported)) is not None
        and other > position
    }

    assert upwards == set()


@pytest.mark.parametrize("package", ALLOWED_IMPORTS)
def test_a_restricted_package_imports_only_what_is_allowed(package: str) -> None:
    others = {
        imported
        for importer, imported in _own_imports()
        if is_within(importer, package)
        and not any(is_within(imported, known) for known in (package, *ALLOWED_IMPORTS[package]))
    }

    assert others == set()


def test_the_architecture_page_lists_the_same_storeys() -> None:
    storeys = re.findall(r"^### `?(?:edfi_api/)?([a-z]+)/?`?$", _storeys_on_the_page(), flags=re.MULTILINE)

    assert storeys == list(STOREYS)


def test_the_architecture_page_lists_every_package_and_no_other() -> None:
    """A package is listed by itself or as a part of one that is."""
    rows = re.findall(r"^\| (`.*?) \|", _storeys_on_the_page(), flags=re.MULTILINE)
    listed = {TOP / name for row in rows for name in re.findall(r"`([a-z_/]+/)`", row)}
    packages = {path.parent for path in MODULES if path.name not in ("__init__.py", "apps.py")}
    storeys = {TOP / "edfi_api", *(TOP / "edfi_api" / name for name in STOREYS)}

    assert [path for path in listed if not path.is_dir()] == []
    assert [path for path in packages - storeys if not listed & {path, *path.parents}] == []


def _storeys_on_the_page() -> str:
    page = (TOP / "meadowlark/docs/design/architecture.md").read_text()
    return page.split("## Storeys")[1].split("\n## ")[0]


@pytest.mark.parametrize("package", FORBIDDEN_LIBRARIES)
def test_lower_packages_import_no_framework(package: str) -> None:
    modules = [path for path in MODULES if is_within(module_name(path), package)]

    imported = {name for path in modules for name in imports(path)}

    assert modules
    assert {name for name in imported if any(is_within(name, other) for other in FORBIDDEN_LIBRARIES[package])} == set()


def test_tests_import_nothing_from_benchmarks() -> None:
    importing = {
        module_name(path)
        for path in (TOP / "tests").rglob("*.py")
        if not is_within(module_name(path), "tests.tools.benchmarks")
        and any(is_within(name, "tests.tools.benchmarks") for name in imports(path))
    }

    assert importing == set()


def test_nothing_is_imported_from_a_test_module() -> None:
    """Shared fixtures belong in a conftest, shared functions and data in a module of their own."""
    found = {
        (module_name(path), imported)
        for path in (TOP / "tests").rglob("*.py")
        for imported in imports(path)
        if imported.startswith("tests.") and ".test_" in imported
    }

    assert found == set()


def test_every_module_and_package_has_a_docstring() -> None:
    """The folders in which Django looks for commands and migrations need none."""
    by_django = {"management", "commands", "migrations"}

    undocumented = [
        path
        for path in MODULES
        if not ast.get_docstring(ast.parse(path.read_text()))
        and not (path.name == "__init__.py" and path.parent.name in by_django)
    ]

    assert undocumented == []


def test_no_file_refers_to_files_outside_the_checkout() -> None:
    outside = re.compile(r"(\.\.|/work)/shared\b|\bshared/(facts|spec|data)\b")

    references = [path for path in _text_files() if outside.search(path.read_text(errors="ignore"))]

    assert references == []


def _own_imports() -> Iterator[tuple[str, str]]:
    """Each import of a module of the project by another."""
    for path in MODULES:
        importer = module_name(path)
        for imported in imports(path):
            if imported.split(".")[0] in PACKAGES and imported != "edfi_api":
                yield importer, imported


def _text_files() -> Iterator[Path]:
    roots = [TOP / name for name in (*PACKAGES, "docker", "tests", ".ci")]
    files = [path for root in roots for path in root.rglob("*") if path.is_file()]
    yield from (path for path in files if path.suffix != ".pyc" and path != Path(__file__))
    yield from (path for path in TOP.glob("*") if path.is_file())
