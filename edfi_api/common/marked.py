"""Functions that a decorator marks with an attribute.

Decorators do not register anything globally, so the order of imports does not matter.
"""

from types import FunctionType, ModuleType


def marked_functions(module: ModuleType, mark: str) -> list[FunctionType]:
    """Return the functions with the mark that the module defines, without imported ones."""
    return [each for each in vars(module).values() if hasattr(each, mark) and each.__module__ == module.__name__]
