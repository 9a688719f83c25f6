"""What a setting is: a value that an operator sets in the environment. The settings are in `settings_table.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

PREFIX = "MEADOWLARK_"


class SettingKind(StrEnum):
    """How a variable is read and checked (`configuration/environment.py`), with its name on the reference page."""

    TEXT = "text"
    TEXTS = "texts, separated by commas"
    PATH = "path"
    PATHS = "paths, separated by commas"
    ROUTE = "path of an address"
    NUMBER = "whole number"
    COUNT = "whole number above 0"
    DECIMAL = "number"
    FRACTION = "number above 0, up to 1"
    BOOLEAN = "`true` or `false`"
    CHOICE = "one of the values"
    HEADER = "name of a header"
    QUALIFIERS = "names, separated by commas"
    PAIRS = "`VALUE=GROUP`, separated by commas"
    DATABASE = "URL of a database"
    LOGIN = "URL of a login"
    SCHEDULE = "`WHEN COMMAND`, separated by semicolons"


@dataclass(frozen=True)
class Setting:
    """`default` may be computed from the values of the settings before this one; then `shown` describes it."""

    kind: SettingKind
    name: str
    default: Any
    meaning: str
    shown: str = ""
    choices: tuple[str, ...] = ()
    variable: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variable", self.variable or f"{PREFIX}{self.name}")

    def default_among(self, values: Mapping[str, Any]) -> Any:
        """The default, where the settings before this one have these values."""
        return self.default(values) if isinstance(self.default, Callable) else self.default  # type: ignore[arg-type]
