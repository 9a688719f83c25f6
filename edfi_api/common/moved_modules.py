"""Keeps module names of version 1.0.0 importable, for migrations that are applied and for rules of operators.

Landed migrations import by these names, and their text may not change. Operators' rules, handlers and hooks import what
the documentation of 1.0.0 named. An old name gives the very module of the new name, so its classes are the same.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_MOVED = {
    "edfi_api.exchange.push.remedies": "edfi_api.features.exchange.push.fix_up_hooks",
    "edfi_api.changes": "edfi_api.features.changes",
    "edfi_api.exchange": "edfi_api.features.exchange",
    "edfi_api.management_api": "edfi_api.features.management_api",
    "edfi_api.security": "edfi_api.core.security",
    "edfi_api.validation": "edfi_api.features.validation",
    "edfi_api.write_rules": "edfi_api.core.writes.rules",
}


class _MovedModules(MetaPathFinder, Loader):
    """Finds and loads a moved module, or a module of a moved package, by its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if _new_name(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(_new_name(module.__name__))


def _new_name(name: str) -> str:
    """The new name of a moved module; empty if it has not moved."""
    for old, new in _MOVED.items():
        if name == old or name.startswith(f"{old}."):
            return new + name.removeprefix(old)
    return ""


def install() -> None:
    """Make the old names importable in this process."""
    sys.meta_path.insert(0, _MovedModules())
