"""`make release`: what it writes without the image, from two clones of one commit."""

import hashlib
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from edfi_api.version import VERSION

TOP = Path(__file__).parents[3]
# make test-long makes it.
PYTHON = TOP / ".venv-release/bin/python"
LOCKED = re.search(r"^django==(\S+)", (TOP / "requirements.lock").read_text(), re.MULTILINE)[1]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PYTHON.exists(), reason="needs the environment of make release"),
]


def clone(folder: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", TOP, folder], check=True)
    return folder


def release(checkout: Path, folder: Path, umask: int = 0o022) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, "-m", "meadowlark.release", folder, "--without-image"]
    environment = os.environ | {"TZ": f"UTC+{umask % 7}"}
    return subprocess.run(
        command, cwd=checkout, env=environment, umask=umask, capture_output=True, text=True, check=False
    )


def test_two_clones_make_the_same_bytes(tmp_path: Path) -> None:
    for name, umask in (("one", 0o022), ("other", 0o077)):
        done = release(clone(tmp_path / name), tmp_path / f"{name}-release", umask)
        assert done.returncode == 0, done.stderr

    one, other = (
        {file.name: file.read_bytes() for file in (tmp_path / f"{name}-release").iterdir()} for name in ("one", "other")
    )

    assert one == other
    dependencies, sums, source = sorted(one)
    assert dependencies == f"meadowlark-{VERSION}.cdx.json"
    assert sums == f"meadowlark-{VERSION}.sha256"
    assert source == f"meadowlark-{VERSION}.tar.gz"
    assert one[sums].decode().splitlines() == [
        f"{hashlib.sha256(one[name]).hexdigest()}  {name}" for name in (dependencies, source)
    ]
    _assert_is_complete(tmp_path / "one-release" / source, one[dependencies])


def _assert_is_complete(archive: Path, dependencies: bytes) -> None:
    folder = f"meadowlark-{VERSION}"
    listed = subprocess.run(["git", "ls-files"], cwd=TOP, check=True, capture_output=True, text=True).stdout
    tracked = listed.splitlines()
    with tarfile.open(archive) as opened:
        names = {member.name for member in opened if member.isfile()}
        enclosed = opened.extractfile(f"{folder}/{folder}.cdx.json").read()
    assert names == {f"{folder}/{name}" for name in tracked} | {f"{folder}/{folder}.cdx.json"}
    assert enclosed == dependencies

    described = json.loads(dependencies)
    libraries = [component["name"] for component in described["components"]]
    assert described["bomFormat"] == "CycloneDX"
    assert described["metadata"]["component"]["name"] == "meadowlark"
    assert described["metadata"]["component"]["version"] == VERSION
    assert f"pkg:pypi/django@{LOCKED}" in [component["purl"] for component in described["components"]]
    assert "opentelemetry-sdk" in libraries
    assert len(libraries) == len(set(libraries))


def test_a_changed_checkout_is_refused(tmp_path: Path) -> None:
    checkout = clone(tmp_path / "changed")
    (checkout / "LICENSE").write_text("mine")

    done = release(checkout, tmp_path / "release")

    assert done.returncode == 1
    assert done.stderr.startswith("A release is made of a commit, but these files differ from it:")
    assert "LICENSE" in done.stderr
    assert not (tmp_path / "release").exists()
