"""State about a database belongs to its data store; modules have none, so that databases are not confused."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.whole.architecture.source import MODULES, TOP

_MODULES = [path for path in MODULES if "meadowlark" not in path.relative_to(TOP).parts]

# Module-level containers that may change at run time, with the reason.
_ALLOWED = {
    ("edfi_api/core/storage/database_state.py", "_states_by_alias"),  # the states themselves
    ("edfi_api/core/storage/driver/prepared_statements.py", "_prepared"),  # weak keys: connections
}
_CACHES = {"cache", "lru_cache", "cached"}
_CONTAINERS = {
    "dict", "list", "set", "OrderedDict", "defaultdict", "WeakKeyDictionary", "WeakValueDictionary", "_States",
}  # fmt: skip


def test_no_module_has_mutable_state() -> None:
    found = {(_relative(path), name) for path in _MODULES for name in _empty_containers(path)}

    assert found == _ALLOWED


def test_no_function_cache_depends_on_a_database() -> None:
    found = [
        f"{_relative(path)}: {function.name}"
        for path in _MODULES
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef) and _is_cached(function) and _takes_a_database(function)
    ]

    assert found == []


def _empty_containers(path: Path) -> Iterator[str]:
    """The names of variables of the module that begin as an empty container."""
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and _is_empty_container(statement.value):
            target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
            if isinstance(target, ast.Name) and not target.id.isupper() and target.id != "urlpatterns":
                yield target.id


def _is_empty_container(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List | ast.Set):
        return not value.elts
    if isinstance(value, ast.Call) and not value.args:
        name = value.func.value if isinstance(value.func, ast.Subscript) else value.func
        return isinstance(name, ast.Name) and name.id in _CONTAINERS
    return False


def _is_cached(function: ast.FunctionDef) -> bool:
    called = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    return any(isinstance(each, ast.Name) and each.id in _CACHES for each in called)


def _takes_a_database(function: ast.FunctionDef) -> bool:
    return any(each.arg == "using" for each in (*function.args.args, *function.args.kwonlyargs))


def _relative(path: Path) -> str:
    return str(path.relative_to(TOP))
