"""Builds docker/Dockerfile with buildah, on a base image of Debian's packages.

No registry of images is needed: debootstrap makes the base, which has the tag that the Dockerfile names. It stays in
`STORE` for the next build; remove it there to have it made of today's packages.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[3]
# Not the machine's own store, so that no image or container of another program is touched.
STORE = Path("/var/cache/meadowlark/images")
IMAGE = "localhost/meadowlark-of-tests"
_DOCKERFILE = TOP / "docker/Dockerfile"
# The release of Debian whose own Python has the version that the Dockerfile names.
_DEBIAN = "bookworm"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
_NEEDED = ("buildah", "debootstrap", "unshare")


def obstacle() -> str:
    """Why this machine cannot build and run the image; empty if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs Linux and root"
    missing = [program for program in _NEEDED if shutil.which(program) is None]
    return f"needs the programs {', '.join(missing)}" if missing else ""


def buildah(*arguments: str) -> list[str]:
    """A command line of buildah with the store of the tests, whose images are plain folders."""
    return ["buildah", "--storage-driver", "vfs", "--root", str(STORE), "--runroot", str(STORE / "run"), *arguments]


def output_of(*arguments: str) -> str:
    """What a command of buildah prints; its log goes to that of pytest."""
    return subprocess.run(buildah(*arguments), check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def environment_of_store(folder: Path) -> dict[str, str]:
    """Variables with which other programs run buildah with the store of the tests, as `buildah` does; a file of them is
    written into the folder."""
    file = folder / "storage.conf"
    file.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{STORE}"\nrunroot = "{STORE}/run"\n')
    return {"CONTAINERS_STORAGE_CONF": str(file), "BUILDAH_ISOLATION": "chroot"}


@contextmanager
def built() -> Iterator[dict[str, Any]]:
    """The image until the block ends, and its base if that is missing; yields its configuration as Docker writes it."""
    make_base()
    output_of(
        "build",
        *("--isolation", "chroot"),
        # The format of OCI has no health check.
        *("--format", "docker"),
        "--pull-never",
        *("--file", str(_DOCKERFILE), "--ignorefile", f"{_DOCKERFILE}.dockerignore"),
        *("--tag", IMAGE),
        str(TOP),
    )
    yield json.loads(output_of("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    output_of("rmi", IMAGE)


def name_of_base() -> str:
    """The image that the Dockerfile begins with."""
    text = _DOCKERFILE.read_text()
    version = re.search(r"^ARG PYTHON_VERSION=(\S+)$", text, re.MULTILINE)[1]
    [name] = set(re.findall(r"^FROM (\S+)", text, re.MULTILINE))
    return name.replace("${PYTHON_VERSION}", version)


def install_base(root: str) -> None:
    """Fill an empty folder with what the image of that name is taken for: Debian with Python, `venv` and `pip`."""
    install_debian(root, _DEBIAN, "ca-certificates", "python-is-python3", "python3-pip", "python3-venv")


def install_debian(root: str, release: str, *packages: str) -> None:
    """Fill an empty folder with a release of Debian, and the authorities that this machine trusts, for pip behind a
    proxy of its network."""
    subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", release, root], check=True)
    subprocess.run(["chroot", root, "apt-get", "clean"], check=True)
    shutil.copy(_AUTHORITIES, root + str(_AUTHORITIES))


def make_base() -> None:
    """Make the image that the Dockerfile begins with, if it is missing."""
    name = f"localhost/{name_of_base()}"
    if name in output_of("images", "--format", "{{.Name}}:{{.Tag}}").splitlines():
        return
    container = output_of("from", "scratch")
    try:
        root = output_of("mount", container)
        install_base(root)
        output_of("config", "--env", f"PATH={PATH}", container)
        output_of("commit", "--format", "docker", container, name)
    finally:
        output_of("rm", container)
