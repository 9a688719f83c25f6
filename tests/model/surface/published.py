"""The facts about the published surfaces (origin: Ed-Fi Alliance, Apache License 2.0), formatted so that a diff shows
which path of which resource differs.

    python -m tests.model.surface.published 5.2 < facts.json

formats the facts of one standard, from JSON in any format: sorted, with a line for each path.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("expected")


def published(standard: str) -> dict[str, Any]:
    """All endpoints, paths, lengths, keys and query parameters, and the pairs of values that must be equal."""
    return json.loads(_file(standard).read_text(encoding="utf-8"))


def text_of(facts: dict[str, Any]) -> str:
    """Keys are sorted, and resources by their endpoints; other lists keep their order."""
    resources = sorted(facts["resources"], key=lambda resource: resource["endpoint"])
    return "\n".join(_lines(facts | {"resources": resources})) + "\n"


def _lines(value: Any, start: str = "", end: str = "", depth: int = 0) -> Iterator[str]:
    """An object or a list on one line if it contains no other objects, else a line for each member."""
    indent = " " * depth
    if isinstance(value, dict) and any(isinstance(each, (dict, list)) for each in value.values()):
        yield f"{indent}{start}{{"
        for number, name in enumerate(sorted(value), start=1):
            yield from _lines(value[name], f"{json.dumps(name)}: ", "," if number < len(value) else "", depth + 1)
        yield f"{indent}}}{end}"
    elif isinstance(value, list) and any(isinstance(each, (dict, list)) for each in value):
        yield f"{indent}{start}["
        for number, each in enumerate(value, start=1):
            yield from _lines(each, "", "," if number < len(value) else "", depth + 1)
        yield f"{indent}]{end}"
    else:
        yield f"{indent}{start}{json.dumps(value, sort_keys=True, ensure_ascii=False)}{end}"


def _file(standard: str) -> Path:
    return FOLDER / f"{standard}.json"


if __name__ == "__main__":
    _file(sys.argv[1]).write_text(text_of(json.load(sys.stdin)), encoding="utf-8")
