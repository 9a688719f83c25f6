"""The environment variables that settings read, each declared with its meaning, and the table of them for the README.

    python -m meadowlark.environment

prints the table. A test of the house compares it with the README's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_POSTGRESQL = {"postgresql", "postgres", "pgsql", "psql"}


@dataclass(frozen=True)
class Variable:
    """What README says of a variable; `default` as somebody would write it, or in words."""

    name: str
    default: str
    meaning: str


class Environment(environ.Env):
    """Reads variables and remembers what was declared of them.

    `meaning` is one line of the README's table; `shown` stands there for a default that is made up at the start.
    """

    def __init__(self) -> None:
        super().__init__()
        self.declared: dict[str, Variable] = {}

    def declare(self, name: str, default: Any, meaning: str, shown: str = "") -> None:
        """For a variable that is read where there are no settings yet."""
        self.declared[name] = Variable(name, shown or _as_written(default), meaning)

    def str(self, name: str, *, default: str, meaning: str = "", shown: str = "") -> str:
        self.declare(name, default, meaning, shown)
        return super().str(name, default=default)

    def int(self, name: str, *, default: int, meaning: str = "", shown: str = "") -> int:
        self.declare(name, default, meaning, shown)
        try:
            number = super().int(name, default=default)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} is {os.environ[name]!r}; it must be a whole number.") from error
        if number < 0:
            raise ImproperlyConfigured(f"{name} is {number}; it must not be negative.")
        return number

    def bool(self, name: str, *, default: bool, meaning: str = "", shown: str = "") -> bool:
        """An empty variable, as Compose passes on one that is not set, leaves the default."""
        self.declare(name, default, meaning, shown)
        return super().bool(name, default=default) if os.environ.get(name) else default

    def choice(self, name: str, *, choices: Sequence[str], meaning: str) -> str:
        """One of `choices`; empty by default."""
        self.declare(name, "", meaning)
        value = super().str(name, default="")
        if value and value not in choices:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be empty or one of: {', '.join(choices)}.")
        return value

    def database(self, name: str, *, meaning: str = "", shown: str = "") -> dict[str, Any]:
        """What Django's DATABASES has for the address in the variable; empty without one.

        ImproperlyConfigured if it is no address of a PostgreSQL database; no part of it is repeated, since any may be
        one of its password.
        """
        self.declare(name, "", meaning, shown)
        address = super().str(name, default="").strip()
        if not address:
            return {}
        scheme, separator, _ = address.partition("://")
        if not separator or scheme not in _POSTGRESQL:
            raise _no_address(name, "its scheme is another one")
        try:
            config = self.db_url_config(address)
        except ValueError:
            raise _no_address(name, "its port is no number up to 65535") from None
        if not config["NAME"] and "service" not in config.get("OPTIONS", {}):
            raise _no_address(name, "it names no database")
        return config | {"ENGINE": "django.db.backends.postgresql"}

    def list(self, name: str, *, default: list[str], meaning: str = "", shown: str = "") -> list[str]:
        self.declare(name, default, meaning, shown)
        return super().list(name, default=default)


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
    """As Markdown, in the order of their declaration."""
    rows = [f"| `{variable.name}` | {variable.default} | {variable.meaning} |" for variable in variables]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows])


def main() -> None:
    from meadowlark import settings  # noqa: PLC0415  They import this module.

    sys.stdout.write(f"{table(settings.env.declared.values())}\n")


if __name__ == "__main__":
    main()
