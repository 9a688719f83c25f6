"""The size of the project outside tests, and circles among its imports."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from tests.whole.architecture.layers import storey_of
from tests.whole.architecture.source import MODULES, PACKAGES, TOP, imports, is_within, module_name

SHORT = 25
_ENTRY_POINTS = {"admin", "apps", "checks", "urls"}


def sizes() -> dict[str, int]:
    """Figures by name. Lines are those that are not blank; migrations count, but not as short modules."""
    statements = [path for package in PACKAGES for path in (TOP / package).rglob("*.sql")]
    return {
        "modules": len(MODULES),
        f"modules of fewer than {SHORT} lines": sum(0 < _lines(path) < SHORT for path in _written()),
        "lines of Python": sum(map(_lines, MODULES)),
        "lines of SQL": sum(map(_lines, statements)),
        "imports of a higher storey": len(arrows_upward()),
        "circles of packages": len(circles(_package)),
        "circles of modules": len(circles(module_name)),
    }


def arrows_upward() -> list[tuple[str, str]]:
    """Importing and imported module."""
    return [
        (module_name(path), imported)
        for path in MODULES
        for imported in imports(path)
        if imported.split(".")[0] in PACKAGES
        and module_name(path) != "edfi_api"
        and (storey_of(module_name(path)) or 0) < (storey_of(imported) or 0)
    ]


def circles(node: Callable[[Path], str]) -> list[set[str]]:
    """Packages or modules, as `node` names them, that import each other, directly or through others."""
    return [found for found in _strongly_connected(_imports(node)) if len(found) > 1]


def _written() -> list[Path]:
    return [path for path in MODULES if "migrations" not in path.parts]


@cache
def _lines(path: Path) -> int:
    return sum(bool(line.strip()) for line in path.read_text().splitlines())


def _imports(node: Callable[[Path], str]) -> dict[str, set[str]]:
    nodes = {module_name(path): node(path) for path in MODULES}
    found: dict[str, set[str]] = {name: set() for name in nodes.values()}
    for path in MODULES:
        others = {nodes[imported] for imported in imports(path) if imported in nodes}
        # A package and one that it contains are one thing to who reads them.
        found[node(path)] |= {each for each in others if not _is_nested(each, node(path))}
    return found


def _is_nested(one: str, other: str) -> bool:
    return is_within(one, other) or is_within(other, one)


def _package(path: Path) -> str:
    """An entry point of Django, such as an `admin.py`, is a package by itself, since it imports what lies above it."""
    module, package = module_name(path), module_name(path.parent / "__init__.py")
    return module if path.stem in _ENTRY_POINTS else package


def _strongly_connected(graph: dict[str, set[str]]) -> Iterator[set[str]]:
    reached = {node: _reachable(node, graph) for node in graph}
    seen: set[str] = set()
    for node in graph:
        if node not in seen:
            found = {other for other in reached[node] if node in reached[other]} | {node}
            seen |= found
            yield found


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        new = graph[pending.pop()] - found
        found |= new
        pending.extend(new)
    return found
