"""Code that serves requests has no default for the alias of the database: a missing alias is a TypeError instead of
documents of another data store."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.whole.architecture.source import MODULES, TOP, is_within, module_name

# Packages whose functions run for a request, or write documents for one.
_REQUEST_PACKAGES = (
    "edfi_api.web.batch",
    "edfi_api.web.metadata",
    "edfi_api.web.relations",
    "edfi_api.web.viewsets",
    "edfi_api.features.changes.history",
    "edfi_api.features.changes.change_queries.views",
    "edfi_api.features.changes.change_queries.windows",
    "edfi_api.features.changes.change_queries.tracked_changes",
    "edfi_api.core.queries",
    "edfi_api.core.security.strategies",
    "edfi_api.core.security.organizations",
    "edfi_api.core.security.requests",
    "edfi_api.core.storage",
    "edfi_api.features.refusals.http",
    "edfi_api.features.validation.http",
    "edfi_api.core.writes.rules",
    "edfi_api.core.writes.writing",
    "references",
)
_PATHS = [
    path
    for path in MODULES
    if any(is_within(module_name(path), each) for each in _REQUEST_PACKAGES) and "migrations" not in path.parts
]


def test_no_parameter_using_has_a_default() -> None:
    found = [
        f"{path.relative_to(TOP)}:{function.lineno}"
        for path in _PATHS
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef) and "using" in _with_defaults(function)
    ]

    assert found == []


def test_no_field_using_has_a_default() -> None:
    found = [
        f"{path.relative_to(TOP)}:{field.lineno}"
        for path in _PATHS
        for field in ast.walk(ast.parse(path.read_text()))
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and field.target.id == "using"
        and isinstance(field.value, ast.Name | ast.Constant)
    ]

    assert found == []


def test_nothing_uses_the_connection_of_the_default_database() -> None:
    found = [str(path.relative_to(TOP)) for path in _PATHS if "connection" in _imported_from(path, "django.db")]

    assert found == []


def _with_defaults(function: ast.FunctionDef) -> Iterator[str]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from (each.arg for each in positional[len(positional) - len(arguments.defaults) :])
    yield from (each.arg for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default)


def _imported_from(path: Path, module: str) -> set[str]:
    return {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == module
        for alias in node.names
    }
