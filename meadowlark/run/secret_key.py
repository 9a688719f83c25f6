"""The secret key of a home, for servers and commands that are given none; and the demo client of a home, which `/docs`
of a demonstration fills in."""

import secrets
from contextlib import suppress
from pathlib import Path

from meadowlark.run.embedded_postgres import for_owner_only


def kept_key(home: Path) -> str:
    """The key of this home; empty without one, or if it belongs to another account."""
    with suppress(OSError):
        return _file(home).read_text()
    return ""


def make_key(home: Path) -> str:
    """The key of this home, which is made once."""
    home.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), open(_file(home), "x", opener=for_owner_only) as new:
        new.write(secrets.token_urlsafe(48))
    return _file(home).read_text()


def keep_client(home: Path, key: str, secret: str | None) -> str:
    """Key and secret of the demo client, with a colon between them; empty if the secret is not known, or of another
    client. It is known to the run that makes the client, and kept for the next ones."""
    file = home / "demo_client"
    if secret:
        with open(file, "w", opener=for_owner_only) as new:
            new.write(f"{key}:{secret}")
    with suppress(OSError):
        kept = file.read_text()
        return kept if kept.startswith(f"{key}:") else ""
    return ""


def _file(home: Path) -> Path:
    return home / "secret_key"
