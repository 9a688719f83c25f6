"""The house as a test: who may know whom, and what every module owes its reader."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PACKAGES = ("meadowlark", "descriptors", "edfi_api", "references")

_DJANGO_SIDE = {"edfi_api.documents", "edfi_api.models", "references", "edfi_api.surface", "edfi_api.conf"}
_TERMINAL = {"edfi_api.arguments", "edfi_api.printable"}
_EDGE = {"edfi_api.startup", "edfi_api.viewsets", "edfi_api.security", "edfi_api.queries", *_TERMINAL, *_DJANGO_SIDE}

# Top first: a layer, and what of ours it may import. A row knows rows below it only, and its own modules.
LAYERS = {
    "meadowlark": {"descriptors", "edfi_api", "references"},
    "meadowlark.serving": {"edfi_api.conf", "edfi_api.log_lines", "edfi_api.problem_details", "meadowlark.correlation"},
    "meadowlark.correlation": {"edfi_api.conf"},
    "descriptors": {"edfi_api.administration", "edfi_api.interchange", *_EDGE},
    "edfi_api.security.admin": _EDGE,
    "edfi_api.security.apps": _EDGE,
    "edfi_api.security.checks": _EDGE,
    "edfi_api.security.management": _EDGE,
    "edfi_api.security.urls": {"edfi_api.addresses", *_EDGE},
    "edfi_api.metadata": {"edfi_api.addresses", "edfi_api.xsd", *_EDGE},
    "edfi_api.observability": {
        "edfi_api.addresses",
        "edfi_api.applied_migrations",
        "edfi_api.change_stream",
        "edfi_api.log_lines",
        *_EDGE,
    },
    "edfi_api.change_stream": {"edfi_api.administration", "edfi_api.change_queries", *_EDGE},
    "edfi_api.change_queries": {
        "edfi_api.addresses",
        "edfi_api.administration",
        "edfi_api.audit",
        "edfi_api.problem_details.catalog",  # Why a delete cannot be undone reads as the answer to a write.
        *_EDGE,
    },
    "edfi_api.relations": {"edfi_api.addresses", *_EDGE},
    "edfi_api.apps": {"edfi_api.applied_migrations", "edfi_api.checks", "edfi_api.database_checks", *_EDGE},
    "edfi_api.database_checks": {"edfi_api.applied_migrations"},
    "edfi_api.checks": {"edfi_api.apischema", "edfi_api.metaed", *_EDGE},
    "edfi_api.management": {
        "edfi_api.json_lines",
        "edfi_api.apischema",
        "edfi_api.interchange",
        "edfi_api.metaed",
        "edfi_api.xsd",
        *_EDGE,
    },
    "edfi_api.admin": {"edfi_api.administration", "edfi_api.startup", *_DJANGO_SIDE},
    "edfi_api.administration": {
        "edfi_api.audit",
        "edfi_api.remote_address",
        "edfi_api.security.models",  # API clients by name.
        "edfi_api.startup",
        *_DJANGO_SIDE,
    },
    # Refusals are told as those of interchange XML.
    "edfi_api.json_lines": {"edfi_api.interchange", *_TERMINAL, *_DJANGO_SIDE},
    # A refusal reads in a report as it does in an answer.
    "edfi_api.interchange": {"edfi_api.problem_details.catalog", *_TERMINAL, *_DJANGO_SIDE},
    "edfi_api.problem_details": {
        "edfi_api.addresses",
        "edfi_api.audit",
        "edfi_api.remote_address",
        "edfi_api.conf",
        "edfi_api.documents.exceptions",
        "edfi_api.documents.violations",  # What DataValidationFailed carries.
        "edfi_api.queries.exceptions",
        "edfi_api.security.exceptions",
        "edfi_api.viewsets.exceptions",
        "references.exceptions",
    },
    "edfi_api.viewsets": {"edfi_api.request_body", *_DJANGO_SIDE},
    "edfi_api.security": {
        "edfi_api.addresses",
        "edfi_api.audit",
        "edfi_api.remote_address",
        "edfi_api.request_body",
        *_DJANGO_SIDE,
    },
    "edfi_api.queries": _DJANGO_SIDE,
    "edfi_api.startup": {"edfi_api.apischema", "edfi_api.metaed", "edfi_api.xsd", *_DJANGO_SIDE},
    "edfi_api.documents": {"edfi_api.models", "references", "edfi_api.surface"},
    "edfi_api.migrations": set(),
    "edfi_api.models": {"references", "edfi_api.surface"},
    "references": set(),
    "edfi_api.apischema": {"edfi_api.surface"},
    "edfi_api.xsd": {"edfi_api.metaed", "edfi_api.surface"},
    "edfi_api.surface": {"edfi_api.metaed"},
    "edfi_api.metaed": set(),
    "edfi_api.addresses": set(),
    "edfi_api.applied_migrations": set(),
    "edfi_api.arguments": {"edfi_api.printable"},
    "edfi_api.audit": {"edfi_api.log_lines"},
    "edfi_api.log_lines": set(),
    "edfi_api.printable": set(),
    "edfi_api.request_body": set(),
    "edfi_api.remote_address": {"edfi_api.conf"},
    "edfi_api.conf": set(),
}

_HTTP = ("django.http", "django.urls", "rest_framework", "oauth2_provider")
_FRAMEWORKS = ("django", "environ", "psycopg", *_HTTP)
# What of others' a layer stays unaware of.
UNAWARE = {
    "edfi_api.documents": _HTTP,
    "edfi_api.models": _HTTP,
    "references": _HTTP,
    "edfi_api.apischema": _FRAMEWORKS,
    "edfi_api.xsd": _FRAMEWORKS,
    "edfi_api.surface": _FRAMEWORKS,
    "edfi_api.metaed": _FRAMEWORKS,
    "meadowlark.embedded_postgres": _FRAMEWORKS,  # settings.py imports it before Django is there.
    "meadowlark.postgres_programs": _FRAMEWORKS,
    "meadowlark.child_process": _FRAMEWORKS,
}

MODULES = sorted(path for package in PACKAGES for path in (TOP / package).rglob("*.py"))


def test_a_layer_may_know_only_what_stands_below_it_in_the_table() -> None:
    rows = list(LAYERS)

    looking_up = {
        (layer, known)
        for position, layer in enumerate(rows)
        for known in LAYERS[layer]
        if not any(_is_within(row, known) or _is_within(known, row) for row in rows[position + 1 :])
    }

    assert looking_up == set()


def test_a_module_imports_only_what_its_layer_may_know() -> None:
    looking_up = {
        (_module_name(path), imported)
        for path in MODULES
        for imported in _imports(path)
        if imported.split(".")[0] in PACKAGES and not _is_allowed(_module_name(path), imported)
    }

    assert looking_up == set()


@pytest.mark.parametrize("package", UNAWARE)
def test_what_lies_deep_knows_no_framework_above_it(package: str) -> None:
    modules = [path for path in MODULES if _is_within(_module_name(path), package)]

    imported = {name for path in modules for name in _imports(path)}

    assert modules
    assert {name for name in imported if any(_is_within(name, other) for other in UNAWARE[package])} == set()


def test_every_module_opens_with_its_purpose() -> None:
    silent = [
        path for path in MODULES if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]

    assert silent == []


def test_nothing_leans_on_files_outside_the_checkout() -> None:
    outside = re.compile(r"(\.\.|/work)/shared\b|\bshared/(facts|spec|data)\b")

    leaning = [path for path in _text_files() if outside.search(path.read_text(errors="ignore"))]

    assert leaning == []


def _module_name(path: Path) -> str:
    parts = path.relative_to(TOP).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_allowed(module: str, imported: str) -> bool:
    layer = max((row for row in LAYERS if _is_within(module, row)), key=len, default=None)
    assert layer, f"{module} has no row in LAYERS"
    return any(_is_within(imported, known) for known in (layer, *LAYERS[layer]))


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _imports(path: Path) -> Iterator[str]:
    """Dotted names of all modules imported anywhere in the file, in functions and for type checking too."""
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
    """`from a import b`: a.b when that is a module of ours, a otherwise."""
    candidate = TOP.joinpath(*base.split("."), name)
    return f"{base}.{name}" if candidate.is_dir() or candidate.with_suffix(".py").exists() else base


def _text_files() -> Iterator[Path]:
    roots = [TOP / name for name in (*PACKAGES, "docker", "tests", ".ci")]
    files = [path for root in roots for path in root.rglob("*") if path.is_file()]
    yield from (path for path in files if path.suffix != ".pyc" and path != Path(__file__))
    yield from (path for path in TOP.glob("*") if path.is_file())
