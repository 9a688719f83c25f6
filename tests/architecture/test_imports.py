"""Import rules between packages, and a docstring in every module."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PACKAGES = ("meadowlark", "descriptors", "edfi_api", "references")

# Layers, top first, with their modules. An import goes down, or stays in its layer.
LAYERS: dict[str, tuple[str, ...]] = {
    "Serving and operation": (
        "meadowlark",
        "descriptors",
        "edfi_api.admin",
        "edfi_api.apps",
        "edfi_api.management",
        "edfi_api.operation",
        # Where Django looks for the admin of an app, its commands, URLs and system checks.
        "edfi_api.analysis.sql_views.admin",
        "edfi_api.analysis.sql_views.management",
        "edfi_api.changes.change_queries.admin",
        "edfi_api.changes.change_queries.admin_filters",
        "edfi_api.changes.change_queries.admin_key_search",
        "edfi_api.changes.change_queries.management",
        "edfi_api.changes.change_stream.admin",
        "edfi_api.changes.change_stream.management",
        "edfi_api.data_stores.admin",
        "edfi_api.data_stores.management",
        "edfi_api.management_api.apps",
        "edfi_api.management_api.management",
        "edfi_api.profiles.admin",
        "edfi_api.profiles.apps",
        "edfi_api.profiles.checks",
        "edfi_api.profiles.management",
        "edfi_api.refusals.admin",
        "edfi_api.refusals.admin_filters",
        "edfi_api.refusals.admin_pages",
        "edfi_api.refusals.management",
        "edfi_api.security.admin",
        "edfi_api.security.apps",
        "edfi_api.security.checks",
        "edfi_api.security.management",
        "edfi_api.security.urls",
        "edfi_api.validation.admin",
        "edfi_api.validation.admin_overview",
        "edfi_api.validation.management",
    ),
    "HTTP API": ("edfi_api.api", "edfi_api.management_api"),
    "Validation": ("edfi_api.validation",),
    "SQL views": ("edfi_api.analysis",),
    "Loading and export": ("edfi_api.loading",),
    "Ledger of refusals": ("edfi_api.refusals",),
    "Changes": ("edfi_api.changes",),
    "Errors": ("edfi_api.problem_details",),
    "Authentication and authorization": ("edfi_api.security", "edfi_api.profiles"),
    "Queries": ("edfi_api.queries",),
    "Served surface": ("edfi_api.compiling", "edfi_api.startup"),
    "Data stores": ("edfi_api.data_stores",),
    "Storage": ("edfi_api.storage", "edfi_api.models", "edfi_api.migrations"),
    "Documents": ("edfi_api.documents",),
    "Identities and references": ("references",),
    "Model and surface": ("edfi_api.model",),
    "Foundations": (
        "edfi_api.addresses",
        "edfi_api.conf",
        "edfi_api.logs",
        "edfi_api.request_body",
    ),
}

# Packages of one layer that have an order, top first: an import goes down, or stays in its package.
ORDERED_PACKAGES: tuple[tuple[str, ...], ...] = (
    ("edfi_api.api.batch", "edfi_api.api.viewsets"),
    ("edfi_api.api.change_queries", "edfi_api.api.viewsets"),
    ("edfi_api.api.history", "edfi_api.api.viewsets"),
    ("edfi_api.api.relations", "edfi_api.api.viewsets"),
    ("edfi_api.api.submissions", "edfi_api.api.viewsets"),
    ("edfi_api.api.metadata", "edfi_api.api.viewsets"),
    ("edfi_api.management_api", "edfi_api.api"),
    ("edfi_api.loading.json_lines", "edfi_api.loading.interchange", "edfi_api.loading.bulk"),
    ("edfi_api.changes.change_stream", "edfi_api.changes.change_queries"),
    ("edfi_api.profiles", "edfi_api.security"),
    ("edfi_api.storage.store", "edfi_api.storage.driver"),
    ("edfi_api.model.examples", "edfi_api.model.surface"),
    ("edfi_api.model.profiles", "edfi_api.model.surface"),
    ("edfi_api.model.xsd", "edfi_api.model.surface", "edfi_api.model.metaed"),
    ("edfi_api.model.apischema", "edfi_api.model.surface"),
    ("edfi_api.logs.audit", "edfi_api.logs.log_lines"),
)

# Packages that may import only the listed packages of the project.
ALLOWED_IMPORTS = {
    "meadowlark.serving": {
        "edfi_api.addresses",
        "edfi_api.conf",
        "edfi_api.logs",
        "edfi_api.problem_details",
        "meadowlark.correlation",
    },
    "meadowlark.correlation": {"edfi_api.conf"},
    "edfi_api.model.metaed": set[str](),
    "edfi_api.problem_details": {
        "edfi_api.addresses",
        "edfi_api.conf",
        "edfi_api.data_stores.exceptions",
        "edfi_api.documents",
        "edfi_api.logs",
        "edfi_api.profiles.exceptions",
        "edfi_api.queries.exceptions",
        "edfi_api.security.exceptions",
        "edfi_api.storage.exceptions",
        "references.exceptions",
    },
}

_HTTP = ("django.http", "django.urls", "rest_framework", "oauth2_provider")
_FRAMEWORKS = ("django", "environ", "psycopg", *_HTTP)
# Libraries that a package must not import.
FORBIDDEN_LIBRARIES = {
    "edfi_api.storage": _HTTP,
    "edfi_api.models": _HTTP,
    "references": _HTTP,
    "edfi_api.documents": _FRAMEWORKS,
    "edfi_api.model": _FRAMEWORKS,
    "meadowlark.embedded_postgres": _FRAMEWORKS,  # settings.py imports it before Django is set up.
    "meadowlark.postgres_programs": _FRAMEWORKS,
    "meadowlark.child_process": _FRAMEWORKS,
}

MODULES = sorted(path for package in PACKAGES for path in (TOP / package).rglob("*.py"))


def test_every_module_belongs_to_a_layer() -> None:
    unlisted = [name for path in MODULES if (name := _module_name(path)) != "edfi_api" and _layer(name) is None]

    assert unlisted == []


def test_imports_go_down_or_stay_in_their_layer() -> None:
    upwards = {
        (importer, imported)
        for importer, imported in _own_imports()
        if (_layer(importer) or 0) > (_layer(imported) or 0)
    }

    assert upwards == set()


@pytest.mark.parametrize("packages", ORDERED_PACKAGES, ids=" over ".join)
def test_imports_go_down_within_a_layer(packages: tuple[str, ...]) -> None:
    upwards = {
        (importer, imported)
        for importer, imported in _own_imports()
        if (position := _position(packages, importer)) is not None
        and (other := _position(packages, imported)) is not None
        and other < position
    }

    assert upwards == set()


@pytest.mark.parametrize("package", ALLOWED_IMPORTS)
def test_a_restricted_package_imports_only_what_is_allowed(package: str) -> None:
    others = {
        imported
        for importer, imported in _own_imports()
        if _is_within(importer, package)
        and not any(_is_within(imported, known) for known in (package, *ALLOWED_IMPORTS[package]))
    }

    assert others == set()


def test_the_architecture_page_lists_the_same_layers() -> None:
    layers = re.findall(r"^\*\*([^*]+)\*\*$", _layers_on_the_page(), flags=re.MULTILINE)

    assert layers == list(LAYERS)


def test_the_architecture_page_lists_every_package_and_no_other() -> None:
    """A package is listed by itself or as a part of one that is."""
    rows = re.findall(r"^\| (`.*?) \|", _layers_on_the_page(), flags=re.MULTILINE)
    listed = {TOP / name for row in rows for name in re.findall(r"`([a-z_/]+/)`", row)}
    packages = {path.parent for path in MODULES if path.name != "__init__.py"} - {TOP / "edfi_api"}

    assert [path for path in listed if not path.is_dir()] == []
    assert [path for path in packages if not listed & {path, *path.parents}] == []


def _layers_on_the_page() -> str:
    page = (TOP / "meadowlark/docs/architecture.md").read_text()
    return page.split("## Layers")[1].split("\n## ")[0]


@pytest.mark.parametrize("package", FORBIDDEN_LIBRARIES)
def test_lower_packages_import_no_framework(package: str) -> None:
    modules = [path for path in MODULES if _is_within(_module_name(path), package)]

    imported = {name for path in modules for name in _imports(path)}

    assert modules
    assert {
        name for name in imported if any(_is_within(name, other) for other in FORBIDDEN_LIBRARIES[package])
    } == set()


def test_tests_import_nothing_from_benchmarks() -> None:
    importing = {
        _module_name(path)
        for path in (TOP / "tests").rglob("*.py")
        if not _is_within(_module_name(path), "tests.benchmarks")
        and any(_is_within(name, "tests.benchmarks") for name in _imports(path))
    }

    assert importing == set()


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


def _module_name(path: Path) -> str:
    parts = path.relative_to(TOP).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _own_imports() -> Iterator[tuple[str, str]]:
    """Each import of a module of the project by another."""
    for path in MODULES:
        importer = _module_name(path)
        for imported in _imports(path):
            if imported.split(".")[0] in PACKAGES and imported != "edfi_api":
                yield importer, imported


def _layer(module: str) -> int | None:
    """The number of the layer, from the top: that of the longest name in LAYERS that contains the module."""
    found = [
        (len(name), number)
        for number, names in enumerate(LAYERS.values())
        for name in names
        if _is_within(module, name)
    ]
    return max(found)[1] if found else None


def _position(packages: tuple[str, ...], module: str) -> int | None:
    """None also for an app's commands and admin, which are in a layer above the app."""
    found = [
        (len(name), position)
        for position, name in enumerate(packages)
        if _is_within(module, name) and _layer(module) == _layer(name)
    ]
    return max(found)[1] if found else None


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@cache
def _imports(path: Path) -> frozenset[str]:
    """Dotted names of all modules imported anywhere in the file, in functions and for type checking too."""
    return frozenset(_import_names(path))


def _import_names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = _absolute(node, path)
            yield from (_module_or_member(base, alias.name) for alias in node.names)


def _absolute(node: ast.ImportFrom, path: Path) -> str:
    if not node.level:
        return node.module or ""
    package = path.relative_to(TOP).parent.parts
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def _module_or_member(base: str, name: str) -> str:
    """`from a import b`: a.b if that is a module of the project, else a."""
    candidate = TOP.joinpath(*base.split("."), name)
    return f"{base}.{name}" if candidate.is_dir() or candidate.with_suffix(".py").exists() else base


def _text_files() -> Iterator[Path]:
    roots = [TOP / name for name in (*PACKAGES, "docker", "tests", ".ci")]
    files = [path for root in roots for path in root.rglob("*") if path.is_file()]
    yield from (path for path in files if path.suffix != ".pyc" and path != Path(__file__))
    yield from (path for path in TOP.glob("*") if path.is_file())
