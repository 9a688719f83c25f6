"""SQL as a value: text with named parameters, and their values, composed without editing text.

`psycopg.sql` composes identifiers and literals, and its placeholders are numbered by the cursor that runs them; the
statements here are prepared once per connection with parameters that are named (`driver.prepared_statements`).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NONE: Mapping[str, Any] = {}

_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


class ParameterConflict(Exception):
    """Two parts of a statement give one parameter name different values."""


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL, `d.id = %(row)s`, with the values of its parameters. Immutable.

    Parts that are composed may share a parameter name only with the same value; otherwise ParameterConflict is raised.
    """

    text: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: "Sql | str") -> "Sql":
        if isinstance(other, str):
            return Sql(self.text + other, self.parameters)
        return Sql(self.text + other.text, merged(self.parameters, other.parameters))

    def __radd__(self, text: str) -> "Sql":
        return Sql(text + self.text, self.parameters)

    def with_values(self, **parameters: Any) -> "Sql":
        """Return the same text with further parameters."""
        return Sql(self.text, merged(self.parameters, parameters))

    def bound_to(self, values: Mapping[str, Any]) -> "Sql":
        """Return what `with_values` returns, for values by name; more than the text needs are allowed."""
        return Sql(self.text, merged(self.parameters, values))

    def fill(self, **slots: "Sql | str") -> "Sql":
        """The statement with each `{slot}` replaced. Braces of the text itself are doubled, as for `str.format`."""
        texts, parameters = {}, self.parameters
        for name, part in slots.items():
            if isinstance(part, str):
                texts[name] = part
            else:
                texts[name] = part.text
                parameters = merged(parameters, part.parameters)
        return Sql(self.text.format_map(texts), parameters)

    @staticmethod
    def join(separator: str, parts: Iterable["Sql"]) -> "Sql":
        """The parts with the separator between them; an empty text without parts."""
        listed = list(parts)
        parameters = _NONE
        for part in listed:
            parameters = merged(parameters, part.parameters)
        return Sql(separator.join(part.text for part in listed), parameters)


def all_of(conditions: Iterable[Sql]) -> Sql:
    """The conjunction of boolean expressions; `true` without any."""
    return _combined(" AND ", conditions, "true")


def any_of(conditions: Iterable[Sql]) -> Sql:
    """The disjunction of boolean expressions, which can stand before AND; `false` without any."""
    return "(" + _combined(" OR ", conditions, "false") + ")"


def merged(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of both. Raises ParameterConflict if a name has two values."""
    if not theirs or ours is theirs:
        return ours
    if not ours:
        return theirs
    if not ours.keys().isdisjoint(theirs):
        for name in ours.keys() & theirs.keys():
            one, other = ours[name], theirs[name]
            if one is not other and one != other:
                raise ParameterConflict(name)
    return {**ours, **theirs}


def _combined(operator: str, conditions: Iterable[Sql], empty: str) -> Sql:
    parts = list(conditions)
    if not parts:
        return Sql(empty)
    if len(parts) == 1:
        return parts[0]
    return Sql.join(operator, [Sql(f"({part.text})", part.parameters) for part in parts])


def statements_of(module: str) -> Callable[[str], Sql]:
    """Reads statements by name from the folder `statements` next to a module, given its `__file__`.

    Lines of comments are left out: they give the reason of a statement to its readers, not to the server. A statement
    may have slots for `Sql.fill`.
    """
    folder = Path(module).with_name("statements")

    def statement(name: str) -> Sql:
        return Sql(_COMMENT.sub("", (folder / f"{name}.sql").read_text(encoding="utf-8")).strip())

    return statement
