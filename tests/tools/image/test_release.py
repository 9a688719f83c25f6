"""`make release` with its image, from two clones of one commit."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from edfi_api.version import VERSION
from tests.tools.image import images

# make test-image makes it.
PYTHON = images.TOP / ".venv-release/bin/python"
NAME = f"meadowlark-{VERSION}"
UNCHECKED_HASH = 1

pytestmark = [
    pytest.mark.image,
    pytest.mark.skipif(not PYTHON.exists(), reason="needs the environment of make release"),
]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """The folders of two, whose images are not removed before the module ends."""
    if reason := images.obstacle():
        pytest.skip(reason)
    images.make_base()
    folder = tmp_path_factory.mktemp("releases")
    environment = os.environ | images.environment_of_store(folder)
    made = []
    for name, zone, umask in (("one", "UTC", 0o022), ("other", "UTC+7", 0o077)):
        # The second of the first: in the meantime the checkout may have got another commit.
        cloned = images.TOP if name == "one" else folder / "one"
        subprocess.run(["git", "clone", "--quiet", cloned, folder / name], check=True)
        made.append(folder / f"{name}-release")
        command = [PYTHON, "-m", "meadowlark.release", made[-1]]
        subprocess.run(command, cwd=folder / name, env=environment | {"TZ": zone}, umask=umask, check=True)
    yield made
    images.output_of("rmi", f"localhost/meadowlark:{VERSION}")
    images.output_of("rmi", "--prune")


def test_two_clones_make_the_same_bytes(releases: list[Path]) -> None:
    one, other = ({file.name: file.read_bytes() for file in release.iterdir()} for release in releases)

    names = [f"{NAME}-image.tar.gz", f"{NAME}.cdx.json", f"{NAME}.sha256", f"{NAME}.tar.gz"]
    assert (sorted(one), sorted(other)) == (names, names)
    assert [name for name in names if one[name] != other[name]] == []
    image, dependencies, sums, source = (one[name] for name in names)
    assert sums.decode().splitlines() == [
        f"{hashlib.sha256(content).hexdigest()}  {name}"
        for name, content in ((names[1], dependencies), (names[3], source), (names[0], image))
    ]


def test_the_image_can_be_loaded_and_is_complete(releases: list[Path], tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    with gzip.open(releases[0] / f"{NAME}-image.tar.gz") as compressed, archive.open("wb") as output:
        shutil.copyfileobj(compressed, output)

    loaded = images.output_of("pull", f"docker-archive:{archive}")

    inspected = json.loads(images.output_of("inspect", "--type=image", loaded))["Docker"]
    assert inspected["config"]["User"] == "10001"
    assert inspected["config"]["Healthcheck"]["Test"][0] == "CMD"
    assert inspected["config"]["Entrypoint"] == ["sh", "docker/entrypoint.sh"]


def test_no_bytecode_has_the_time_of_its_source(releases: list[Path]) -> None:
    kinds = {}
    with tarfile.open(releases[0] / f"{NAME}-image.tar.gz") as image:
        [described] = json.load(image.extractfile("manifest.json"))
        with tarfile.open(fileobj=image.extractfile(described["Layers"][-1])) as layer:
            for member in layer:
                if member.name.endswith(".pyc"):
                    kinds[member.name] = int.from_bytes(layer.extractfile(member).read(8)[4:], "little")

    assert len(kinds) > 2000
    assert {name for name, kind in kinds.items() if kind != UNCHECKED_HASH} == set()
