"""The contents of the image according to docker/Dockerfile; tests/tools/image builds it."""

import re
from pathlib import Path

import yaml

TOP = Path(__file__).parents[3]


def test_every_package_of_the_server_is_copied() -> None:
    packages = {folder.parent.name for folder in TOP.glob("*/__init__.py")} - {"tests"}

    assert packages <= _copied()


def test_the_build_context_is_exactly_what_is_copied() -> None:
    lines = (TOP / "docker/Dockerfile.dockerignore").read_text().splitlines()

    assert {line.removeprefix("!") for line in lines if line.startswith("!")} == _copied()


def _copied() -> set[str]:
    dockerfile = (TOP / "docker/Dockerfile").read_text()
    sources = re.findall(r"^COPY (?!--)(.+) \S+$", dockerfile, re.MULTILINE)
    return {source for line in sources for source in line.split()}


def test_containers_run_without_root_on_a_read_only_file_system() -> None:
    """According to the Dockerfile and the compose file."""
    server = yaml.safe_load((TOP / "docker/compose.yaml").read_text())["services"]["meadowlark"]
    accounts = re.findall(r"^USER (\S+)$", (TOP / "docker/Dockerfile").read_text(), re.MULTILINE)
    home = re.search(r"MEADOWLARK_HOME=(\S+)", (TOP / "docker/Dockerfile").read_text())[1]

    assert accounts == ["10001"]
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert server["security_opt"] == ["no-new-privileges:true"]
    assert {mount.partition(":")[0] for mount in server["tmpfs"]} == {"/tmp", home}  # noqa: S108
    assert "volumes" not in server
