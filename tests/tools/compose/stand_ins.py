"""Images of Debian's packages with the names of those that docker/Dockerfile and docker/compose.yaml begin with.

So no registry of images is needed, and what differs from the images of these names is that they are made by others: the
versions are those that the files name, or near them.
"""

import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import yaml

from tests.tools.compose.engine import FOLDER, Engine
from tests.tools.image import images

_COMPOSE = yaml.safe_load((images.TOP / "docker/compose.yaml").read_text())["services"]
_BASE = re.search(r"^FROM (\S+)$", _COMPOSE["pgbouncer"]["build"]["dockerfile_inline"], re.MULTILINE)[1]
# Services with their stages of stand_ins/Dockerfile.
_STAGES = {"database": "postgres", "tls": "caddy", "prometheus": "prometheus", "grafana": "grafana"}
_LABEL = "meadowlark.stand-in"


def names() -> list[str]:
    return [images.name_of_base(), _BASE, *(_COMPOSE[service]["image"] for service in _STAGES)]


def images_in_the_way(engine: Engine) -> list[str]:
    """Images with these names that are no stand-ins, and would be replaced."""
    labels = {name: engine.labels(name) for name in names()}
    return [name for name, found in labels.items() if found is not None and _LABEL not in found]


def make(engine: Engine) -> None:
    """Make those that are missing."""
    _import(engine, images.name_of_base(), images.install_base)
    _import(engine, _BASE, lambda root: images.install_debian(root, "trixie", "ca-certificates"))
    for service, stage in _STAGES.items():
        label = ["--label", f"{_LABEL}={stage}"]
        folder = str(Path(__file__).parent / "stand_ins")
        engine.output("build", *label, "--target", stage, "--tag", _COMPOSE[service]["image"], folder)


def _import(engine: Engine, name: str, install: Callable[[str], None]) -> None:
    if engine.labels(name) is not None:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Not in a folder of memory, where debootstrap can make no devices.
    with tempfile.TemporaryDirectory(dir=FOLDER) as root:
        install(root)
        changes = [f"--change=ENV PATH={images.PATH}", "--change=CMD bash", f"--change=LABEL {_LABEL}=base"]
        with subprocess.Popen(["tar", "--directory", root, "--create", "."], stdout=subprocess.PIPE) as archive:
            engine.output("import", *changes, "-", name, stdin=archive.stdout)
