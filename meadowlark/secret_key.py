"""The secret key of a home, for servers and commands that are given none."""

import secrets
from contextlib import suppress
from pathlib import Path

from meadowlark.embedded_postgres import for_owner_only


def kept_key(home: Path) -> str:
    """The key of this home; empty without one, or if it belongs to another account."""
    with suppress(OSError):
        return _file(home).read_text()
    return ""


def made_key(home: Path) -> str:
    """The key of this home, which is made once."""
    home.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), open(_file(home), "x", opener=for_owner_only) as new:
        new.write(secrets.token_urlsafe(48))
    return _file(home).read_text()


def _file(home: Path) -> Path:
    return home / "secret_key"
