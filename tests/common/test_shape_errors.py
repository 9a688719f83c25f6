"""The sentences of the version of msgspec that is pinned, taken apart."""

from typing import Any

import msgspec
import pytest

from edfi_api.common.shape_errors import names_of, reason_and_path


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    number: int = 0
    numbers: dict[str, int] = {}
    named: list[dict[int, str]] = []
    shapes: dict[str, list["Shape"]] = {}


@pytest.mark.parametrize(
    ("value", "reason", "path", "names"),
    [
        ({"number": "x"}, "Expected `int`, got `str`", "$.number", ["number"]),
        ({"numbers": {"k": "x"}}, "Expected `int`, got `str`", "$.numbers[...]", ["numbers"]),
        ({"named": [{"k": "x"}]}, "Expected `int`, got `str`", "$.named[0]", ["named"]),
        (
            {"shapes": {"k": [{}, {"number": "x"}]}},
            "Expected `int`, got `str`",
            "$.shapes[...][1].number",
            ["shapes", "number"],
        ),
        ({"shapes": {"k": [{"other": 1}]}}, "Object contains unknown field `other`", "$.shapes[...][0]", ["shapes"]),
        ({"other": 1}, "Object contains unknown field `other`", "$", []),
        ([], "Expected `object`, got `array`", "$", []),
    ],
)
def test_reason_and_path_of_an_error(value: Any, reason: str, path: str, names: list[str]) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(value, Shape)

    assert reason_and_path(raised.value) == (reason, path)
    assert names_of(path) == names
