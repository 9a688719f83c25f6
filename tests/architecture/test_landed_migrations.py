"""Migrations that landed stay as they are: databases out there have been made by them, and Django runs none twice."""

import hashlib
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
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
        f"{name} has landed, so databases were made by it, and none will run it again. Put it back as it was"
        " (git log -- the file) and write another migration that changes what is there."
    )


def test_every_migration_is_listed() -> None:
    missing = [name for name in FILES if name not in LANDED]

    assert missing == [], (
        "These files are not in the list of migrations that stay as they are. When they are as they shall be:\n"
        f"    sha256sum {' '.join(missing)} >> {LIST.relative_to(TOP)}"
    )
