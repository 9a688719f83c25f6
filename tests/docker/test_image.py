"""What docker/Dockerfile puts into the image, as far as the files of the checkout tell."""

import re
from pathlib import Path

TOP = Path(__file__).parents[2]


def test_every_package_of_the_server_is_copied() -> None:
    packages = {folder.parent.name for folder in TOP.glob("*/__init__.py")} - {"tests"}

    assert packages <= _copied()


def test_the_build_is_given_exactly_what_it_copies() -> None:
    lines = (TOP / "docker/Dockerfile.dockerignore").read_text().splitlines()

    assert {line.removeprefix("!") for line in lines if line.startswith("!")} == _copied()


def _copied() -> set[str]:
    dockerfile = (TOP / "docker/Dockerfile").read_text()
    sources = re.findall(r"^COPY (?!--)(.+) \S+$", dockerfile, re.MULTILINE)
    return {source for line in sources for source in line.split()}
