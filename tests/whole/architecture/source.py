"""The modules of the packages, and what a module imports."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TOP = Path(__file__).parents[3]
PACKAGES = ("meadowlark", "descriptors", "edfi_api", "references")
MODULES = sorted(path for package in PACKAGES for path in (TOP / package).rglob("*.py"))


def module_name(path: Path) -> str:
    """The dotted name of a module, or of the package of an `__init__.py`."""
    parts = path.relative_to(TOP).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_within(name: str, package: str) -> bool:
    """Whether this is the package or a module below it."""
    return name == package or name.startswith(f"{package}.")


@cache
def imports(path: Path) -> frozenset[str]:
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
