"""Hypothesis strategies for unusual JSON: values, bodies with misplaced values, and raw text."""

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st


class Raw(str):
    """JSON text that Python's encoder would not produce."""


def nested(depth: int) -> Raw:
    return Raw('{"a":' * depth + "1" + "}" * depth)


NUMBERS = [
    0,
    -1,
    2**31,
    -(2**31) - 1,
    2**63,
    2**64,
    10**400,
    0.1,
    1e16,
    1e300,
    -0.0,
    Raw("0." + "12" * 20),
    Raw("1e400"),
    Raw("-1E-400"),
]
TEXTS_OF_NUMBERS = [
    "sNaN",
    "NaN",
    "-Infinity",
    "1e400",
    "1e99999999999999999999",
    "1" * 28,
    "9" * 5000,
    "9" * 200_000,
    "0." + "12" * 20,
    "\uff11\uff12",
    "1_0",
    "0x1",
]
MOMENTS = [
    "0001-01-01",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2025-02-29",
    "2025-W01-1",
    "24:00:00",
    "08:00:00.123456789",
    "2/29/25",
    "12/31/9999 11:59:59 PM",
]
TEXTS = [
    "",
    " ",
    "\0",
    "\\u0000",
    "\ud800",
    "\udfff\ud800",
    "\n",
    "a\nb",
    "é" * 76,
    "a" * 100_000,
    " " * 100_000,
    "#",
    "NK#a=1#b=2",
]
SHAPES = [
    None,
    True,
    [],
    {},
    [[]],
    [{}],
    [None],
    {"": {}},
    nested(200),
    nested(300),
    nested(1000),
    Raw("[" * 900 + "]" * 900),
]

values = st.sampled_from([*NUMBERS, *TEXTS_OF_NUMBERS, *MOMENTS, *TEXTS, *SHAPES]) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)


def json_text(value: Any) -> str:
    """JSON of a value that may contain `Raw`; ASCII, so that lone surrogates can be written."""
    match value:
        case Raw():
            return value
        case dict():
            return "{" + ",".join(f"{json.dumps(name)}:{json_text(child)}" for name, child in value.items()) + "}"
        case list():
            return "[" + ",".join(map(json_text, value)) + "]"
    return json.dumps(value)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every path of a body below its root."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield (*path, step)
        yield from paths(child, (*path, step))


@st.composite
def corrupted(draw: st.DrawFn, body: dict[str, Any]) -> dict[str, Any]:
    """The body with unsuitable values at one to three paths."""
    body = copy.deepcopy(body)
    for path in draw(st.lists(st.sampled_from(list(paths(body))), min_size=1, max_size=3)):
        _put(body, path, draw(values))
    return body


def _put(body: Any, path: tuple[str | int, ...], value: Any) -> None:
    """Changes nothing if an earlier change has removed the path."""
    *way, last = path
    with suppress(LookupError, TypeError):
        for step in way:
            body = body[step]
        body[last] = value
