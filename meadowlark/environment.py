"""The environment variables of the settings, each declared with its meaning, and README's table of them.

    python -m meadowlark.environment

prints the table. A test compares it with the README's.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_POSTGRESQL = {"postgresql", "postgres", "pgsql", "psql"}
_TRUE = {"true", "on", "yes", "y", "ok", "1"}
_FALSE = {"false", "off", "no", "n", "0"}
_QUALIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*", re.ASCII)
# RFC 9110 §5.6.2.
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


@dataclass(frozen=True)
class Variable:
    """A row of README's table; `default` as it is written in a shell, or in words."""

    name: str
    default: str
    meaning: str


# Inside of the class `str` is a method.
_Text = str


class Environment(environ.Env):  # type: ignore[misc]  # django-environ has no types.
    """Reads variables and records their declarations.

    `meaning` is the text in README's table; `shown` replaces a default there that is computed at the start.
    """

    def __init__(self) -> None:
        super().__init__()
        self.declared: dict[_Text, Variable] = {}

    def declare(self, name: _Text, default: Any, meaning: _Text, shown: _Text = "") -> None:
        """Declare a variable that is read elsewhere, before the settings are loaded."""
        self.declared[name] = Variable(name, shown or _as_written(default), meaning)

    def str(self, name: _Text, *, default: _Text, meaning: _Text = "", shown: _Text = "") -> _Text:
        self.declare(name, default, meaning, shown)
        value: _Text = super().str(name, default=default)
        return value

    def count(self, name: _Text, *, default: int, meaning: _Text = "") -> int:
        """A whole number above 0; the default also for an empty variable, as Compose passes on unset ones."""
        self.declare(name, default, meaning)
        text = os.environ.get(name, "").strip() or f"{default}"
        if not text.isdecimal() or int(text) == 0:
            raise ImproperlyConfigured(f"{name} is {text!r}; it must be a whole number above 0.")
        return int(text)

    def int(self, name: _Text, *, default: int, meaning: _Text = "", shown: _Text = "") -> int:
        self.declare(name, default, meaning, shown)
        try:
            number: int = super().int(name, default=default)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} is {os.environ[name]!r}; it must be a whole number.") from error
        if number < 0:
            raise ImproperlyConfigured(f"{name} is {number}; it must not be negative.")
        return number

    def part(self, name: _Text, *, default: float, meaning: _Text) -> float:
        """A number above 0, up to 1."""
        self.declare(name, default, meaning)
        text = os.environ.get(name, "").strip() or f"{default}"
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if not 0 < number <= 1:
            raise ImproperlyConfigured(f"{name} is {text!r}; it must be a number above 0, up to 1.")
        return number

    def bool(self, name: _Text, *, default: bool, meaning: _Text = "", shown: _Text = "") -> bool:
        """The default also for an empty variable: Compose passes on unset ones as empty.

        ImproperlyConfigured for any word but the usual ones: a typing error in MEADOWLARK_HTTPS must not turn it off.
        """
        self.declare(name, default, meaning, shown)
        value = os.environ.get(name, "").strip()
        if not value:
            return default
        if value.lower() not in _TRUE | _FALSE:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be true or false.")
        return value.lower() in _TRUE

    def choice(self, name: _Text, *, choices: Sequence[_Text], default: _Text = "", meaning: _Text) -> _Text:
        """One of `choices`, or the default where the variable is empty."""
        self.declare(name, default, meaning)
        value = super().str(name, default="") or default
        if value and value not in choices:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be empty or one of: {', '.join(choices)}.")
        return value

    def header(self, name: _Text, *, default: _Text, meaning: _Text) -> _Text:
        """The name of an HTTP header."""
        value = self.str(name, default=default, meaning=meaning)
        if not _HEADER_NAME.fullmatch(value):
            raise ImproperlyConfigured(f"{name} is {value!r}, which is not the name of a header.")
        return value

    def database(self, name: _Text, *, meaning: _Text = "", shown: _Text = "") -> dict[_Text, Any]:
        """The entry of Django's DATABASES for the URL in the variable; empty if it is not set.

        Raises ImproperlyConfigured if it is not the URL of a PostgreSQL database. The message quotes no part of the
        URL, since any part may belong to the password.
        """
        self.declare(name, "", meaning, shown)
        address = super().str(name, default="").strip()
        if not address:
            return {}
        scheme, separator, _ = address.partition("://")
        if not separator or scheme not in _POSTGRESQL:
            raise _no_address(name, "its scheme is another one")
        try:
            config: dict[_Text, Any] = self.db_url_config(address)
        except ValueError:
            raise _no_address(name, "its port is not a number up to 65535") from None
        if not config["NAME"] and "service" not in config.get("OPTIONS", {}):
            raise _no_address(name, "it names no database")
        return config | {"ENGINE": "django.db.backends.postgresql"}

    def list(self, name: _Text, *, default: list[_Text], meaning: _Text = "", shown: _Text = "") -> list[_Text]:
        self.declare(name, default, meaning, shown)
        values: list[_Text] = super().list(name, default=default)
        return values

    def qualifiers(self, name: _Text, *, meaning: _Text) -> tuple[_Text, ...]:
        """Names for segments of addresses; ImproperlyConfigured unless each is a plain name and different in any
        case."""
        names = [each.strip() for each in self.list(name, default=[], meaning=meaning)]
        if wrong := [each for each in names if not _QUALIFIER.fullmatch(each) or each.lower() == "tenant"]:
            raise ImproperlyConfigured(f"{name} has {wrong[0]!r}; a name is letters and digits, and not 'tenant'.")
        if len({each.lower() for each in names}) < len(names):
            raise ImproperlyConfigured(f"{name} has a name twice.")
        return tuple(names)


def _no_address(name: str, reason: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"{name} is not of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE: {reason}. In a password, characters"
        " such as / and # have to be written as %2F and %23."
    )


def _as_written(default: Any) -> str:
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default}`" if default not in ("", []) else "none"


def table(variables: Iterable[Variable]) -> str:
    """The variables as a Markdown table, in the order of declaration."""
    rows = [f"| `{variable.name}` | {variable.default} | {variable.meaning} |" for variable in variables]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows])


def main() -> None:
    from meadowlark import settings  # noqa: PLC0415  It imports this module.

    sys.stdout.write(f"{table(settings.env.declared.values())}\n")


if __name__ == "__main__":
    main()
