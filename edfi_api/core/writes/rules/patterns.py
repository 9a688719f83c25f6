r"""Regular expressions of rules, matched by RE2 in linear time: none can be written that holds up a worker.

RE2 knows `\w`, `\d` and `\s` of ASCII alone. Here they stand for those of all scripts, as in Python: José is a word.
"""

import re
from functools import cache

import re2

# What RE2 has for them between brackets.
_OF_ALL_SCRIPTS = {"w": r"\p{L}\p{N}_", "d": r"\p{Nd}", "s": r"\s\v\x1c-\x1f\x{85}\p{Z}"}
_COMPLEMENTS = {"W": "w", "D": "d", "S": "s"}
_BRACKETS = r"\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]"
_CODE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_ITEM = re.compile(rf"(?P<brackets>{_BRACKETS})|{_CODE}|\\.|\{{,(?=\d+\}})", re.DOTALL)
_ITEM_IN_BRACKETS = re.compile(rf"{_CODE}|\\.", re.DOTALL)
# Python's operators that have no equal in RE2, by what RE2 says of them.
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_BACK_REFERENCE = re.compile(r"escape sequence: \\[1-9]|\(\?P=")


class InvalidPattern(ValueError):
    """A text is no regular expression that RE2 can match; the message says why."""


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern matches the text as a whole. Raises InvalidPattern."""
    return _compiled(pattern).fullmatch(text) is not None


def check(pattern: str) -> None:
    """Raises InvalidPattern."""
    _compiled(pattern)


@cache  # The patterns are those of the rules.
def _compiled(pattern: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(_ITEM.sub(_translated, pattern), options)
    except re2.error as error:
        raise InvalidPattern(_reason(error.args[0].decode(errors="replace"), pattern)) from error


def _translated(found: re.Match[str]) -> str:
    item = found[0]
    if found["brackets"]:
        return _ITEM_IN_BRACKETS.sub(_translated_in_brackets, item)
    name = item[1]
    if name in _OF_ALL_SCRIPTS:
        return f"[{_OF_ALL_SCRIPTS[name]}]"
    if name in _COMPLEMENTS:
        return f"[^{_OF_ALL_SCRIPTS[_COMPLEMENTS[name]]}]"
    if item == "{,":
        return "{0,"
    return r"\z" if name == "Z" else _escape(item)


def _translated_in_brackets(found: re.Match[str]) -> str:
    """Raises InvalidPattern."""
    item = found[0]
    name = item[1]
    if name in ("W", "S"):
        raise InvalidPattern(
            rf"\{name} between brackets cannot be expressed; write \p{{L}} for a letter, (?s:.) for any character"
        )
    return r"\P{Nd}" if name == "D" else _OF_ALL_SCRIPTS.get(name) or _escape(item)


def _escape(item: str) -> str:
    r"""An escape as RE2 has it: `\u00e9` is `\x{00e9}`."""
    return rf"\x{{{item[2:]}}}" if len(item) > 2 else item


def _reason(message: str, pattern: str) -> str:
    r"""Return the reason in words of those who know Python's expressions. RE2 names `(?=` and `\1` as it finds them."""
    if _BACK_REFERENCE.search(message) or ("(?P" in message and "(?P=" in pattern):
        return f"back references cannot be expressed ({message})"
    if "(?" in message and _LOOK_AROUND.search(pattern):
        return f"look-ahead and look-behind cannot be expressed ({message})"
    if "repetition size" in message:
        return f"a repetition has at most 1,000 items ({message})"
    return message
