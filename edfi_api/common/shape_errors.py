"""What msgspec says of a value without the shape of a type: one sentence, which has the reason and the path."""

import re

import msgspec

# "Expected `int`, got `str` - at `$.claimSets[0].name`", or "... - at `key` in `$.claimSets`" for the name of a member.
_PLACE = re.compile(r" - at (?:`key` in )?`(\$.*)`$", re.DOTALL)
_ITEM = re.compile(r"\[\d+\]|\[\.\.\.\]")


def reason_and_path(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return the reason, and the JSON path of the value, `$` for the whole value. Items of mappings are `[...]`."""
    reason, *path = _PLACE.split(str(error), maxsplit=1)
    return reason, path[0] if path else "$"


def names_of(path: str) -> list[str]:
    """The names of members in the path of an error, without items."""
    return [name for name in _ITEM.sub("", path).split(".")[1:] if name]
