"""Landed migrations are immutable: databases have been migrated with them, and Django applies none twice."""

import hashlib
from pathlib import Path

import pytest

from tests.whole.architecture.source import TOP

LIST = Path(__file__).with_name("migrations.sha256")
PACKAGES = ("edfi_api", "references", "descriptors")

LANDED = {name: digest for digest, name in (line.split("  ") for line in LIST.read_text().splitlines())}
FILES = sorted(
    str(path.relative_to(TOP))
    for package in PACKAGES
    for pattern in ("**/migrations/[0-9]*.py", "**/sql/*.sql")
    for path in (TOP / package).glob(pattern)
)


@pytest.mark.parametrize("name", LANDED)
def test_a_migration_that_landed_is_never_edited(name: str) -> None:
    path = TOP / name
    digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "no longer there"

    assert digest == LANDED[name], (
        f"{name} has landed: databases have been migrated with it and will not apply it again. Restore it"
        " (git log -- the file) and add another migration."
    )


def test_every_migration_is_listed() -> None:
    missing = [name for name in FILES if name not in LANDED]

    assert missing == [], (
        "These files are not in the list of landed migrations. When they are final:\n"
        f"    sha256sum {' '.join(missing)} >> {LIST.relative_to(TOP)}"
    )
