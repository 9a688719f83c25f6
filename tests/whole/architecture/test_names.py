"""One word, one thing: a public class and a module of a name are defined once, or `names.py` says why not."""

import ast
from collections import Counter
from collections.abc import Iterator

from tests.whole.architecture.names import CLASSES, CONVENTIONS, ROLES, SUBJECTS
from tests.whole.architecture.source import MODULES

_OWN = [path for path in MODULES if "migrations" not in path.parts and path.stem != "__init__"]


def test_a_class_is_defined_once_or_has_a_reason() -> None:
    assert _repeated(_classes()) - set(CLASSES) == set()


def test_a_module_name_is_given_once_or_has_a_reason() -> None:
    names = (path.stem for path in _OWN if path.parent.name != "commands")

    assert _repeated(names) - CONVENTIONS - SUBJECTS - set(ROLES) == set()


def test_names_with_a_reason_exist() -> None:
    assert set(CLASSES) <= set(_classes())
    assert CONVENTIONS | SUBJECTS | set(ROLES) <= {path.stem for path in _OWN}


def test_a_name_has_one_reason() -> None:
    assert _repeated([*CONVENTIONS, *SUBJECTS, *ROLES]) == set()


def _classes() -> Iterator[str]:
    for path in _OWN:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name


def _repeated(names: Iterator[str] | list[str]) -> set[str]:
    return {name for name, number in Counter(names).items() if number > 1}
