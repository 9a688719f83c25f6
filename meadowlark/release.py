"""Writes the files of a release: `make release`.

    python -m meadowlark.release release

makes, from the commit that is checked out, the list of its dependencies in the format of CycloneDX, the source archive,
which has the list, too, the archive of the image, and the checksums of all of them. Two runs for one commit make the
same bytes as far as that is in our hands: nothing has the time, the account or the folder of the run. What may differ
are the base image, which others make, and the versions of git, Python and the program that builds the image.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from edfi_api.version import VERSION

# ruff: noqa: S603, S607 - the commands run here are git, the builder of the image and our own.

_TOP = Path(__file__).parent.parent
_NAME = f"meadowlark-{VERSION}"
_IMAGE = f"meadowlark:{VERSION}"
# The files of requirements that the image installs.
_LOCKS = ("requirements.lock", "requirements/telemetry.lock")
_PIN = re.compile(r"^([\w.-]+)==(?:.*\\\n)*.*\n?", re.MULTILINE)
_PROJECT = f"""
[project]
name = "meadowlark"
version = "{VERSION}"
description = "An API server for the Ed-Fi data standard"
license = "Apache-2.0"
"""
_BUILDERS = ("buildah", "docker")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m meadowlark.release", description="Write the files of a release.")
    parser.add_argument("folder", type=Path, help="where they are written; made if it does not exist")
    parser.add_argument("--without-image", action="store_true", help="write the source archive and its list alone")
    options = parser.parse_args()

    if changed := _git("status", "--porcelain"):
        sys.exit(f"A release is made of a commit, but these files differ from it:\n{changed}")
    builder = next(filter(shutil.which, _BUILDERS), None)
    if builder is None and not options.without_image:
        sys.exit("The image is built by buildah or docker; install one of them, or make a release without the image.")

    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    timestamp = _git("log", "-1", "--format=%ct")
    files = [_write_dependencies(folder, timestamp)]
    files.append(_write_source(folder, files[0]))
    if builder and not options.without_image:
        files.append(_write_image(folder, builder, timestamp))
    sums = folder / f"{_NAME}.sha256"
    sums.write_text("".join(f"{_digest(file)}  {file.name}\n" for file in files))
    for file in [*files, sums]:
        print(file)  # noqa: T201


def _write_dependencies(folder: Path, timestamp: str) -> Path:
    """Write what the locks pin, each library once, with its checksums."""
    pins = {pin[1]: pin[0].strip() for lock in _LOCKS for pin in _PIN.finditer((_TOP / lock).read_text())}
    file = folder / f"{_NAME}.cdx.json"
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as project:
        project.write(_PROJECT)
        project.flush()
        subprocess.run(
            [
                *(Path(sys.executable).with_name("cyclonedx-py"), "requirements", "-"),
                *("--pyproject", project.name),
                *("--output-reproducible", "--output-file", file),
            ],
            input="\n".join(pins[name] for name in sorted(pins)).encode(),
            env=os.environ | {"SOURCE_DATE_EPOCH": timestamp},
            check=True,
        )
    return file


def _write_source(folder: Path, dependencies: Path) -> Path:
    """Write what the commit has, below a folder of its name, and the list of dependencies."""
    file = folder / f"{_NAME}.tar.gz"
    with tempfile.TemporaryFile() as archive:
        subprocess.run(
            _archive(f"--prefix={_NAME}/", f"--add-file={dependencies}"), cwd=_TOP, stdout=archive, check=True
        )
        archive.seek(0)
        with _compressed(file) as output:
            shutil.copyfileobj(archive, output)
    return file


def _write_image(folder: Path, builder: str, timestamp: str) -> Path:
    """Write the image that is built from the files of the commit, as `docker load` reads it."""
    # With a host, since buildah looks for other names in several places.
    tag = f"localhost/{_IMAGE}"
    file = folder / f"{_NAME}-image.tar.gz"
    with tempfile.TemporaryDirectory() as name:
        context, image = Path(name) / "context", Path(name) / "image.tar"
        context.mkdir()
        with subprocess.Popen(_archive(), cwd=_TOP, stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "--extract", "--same-permissions"], cwd=context, stdin=archive.stdout, check=True)
        dockerfile = context / "docker/Dockerfile"
        argument = f"--build-arg=SOURCE_DATE_EPOCH={timestamp}"
        described = ["--file", str(dockerfile), argument, "--tag", tag, str(context)]
        if builder == "buildah":
            # The format of OCI has no health check.
            form = ["--format=docker", f"--timestamp={timestamp}", f"--ignorefile={dockerfile}.dockerignore"]
            subprocess.run(["buildah", "build", *form, *described], check=True)
            subprocess.run(["buildah", "push", tag, f"docker-archive:{image}:{tag}"], check=True)
        else:
            subprocess.run(["docker", "build", *described], check=True)
            subprocess.run(["docker", "save", "--output", image, tag], check=True)
        with (
            tarfile.open(image) as archive,
            _compressed(file) as output,
            tarfile.open(fileobj=output, mode="w") as copy,
        ):
            _copy_image(archive, copy)
    return file


def _copy_image(archive: tarfile.TarFile, copy: tarfile.TarFile) -> None:
    """Copy what `docker load` reads, without the random names of the containers in which it was built."""

    def content(name: str) -> IO[bytes]:
        return cast(IO[bytes], archive.extractfile(name))

    [described] = json.load(content("manifest.json"))
    configuration = json.load(content(described["Config"]))
    for name in ("container", "container_config"):
        configuration.pop(name, None)
    configuration["config"].pop("Hostname", None)
    text = json.dumps(configuration, sort_keys=True).encode()
    described["RepoTags"] = [_IMAGE]
    described["Config"] = f"{hashlib.sha256(text).hexdigest()}.json"
    manifest = json.dumps([described], sort_keys=True).encode()
    for name, written in (("manifest.json", manifest), (described["Config"], text)):
        _add(copy, name, len(written), io.BytesIO(written))
    for name in dict.fromkeys(described["Layers"]):
        _add(copy, name, archive.getmember(name).size, content(name))


def _add(copy: tarfile.TarFile, name: str, size: int, content: IO[bytes]) -> None:
    """Add a file without a time."""
    member = tarfile.TarInfo(name)
    member.size = size
    copy.addfile(member, content)


def _archive(*options: str) -> list[str]:
    """Return the command that writes the files of the commit, whatever this machine has configured."""
    settings = ["-c", "tar.umask=0022", "-c", "core.autocrlf=false"]
    return ["git", *settings, "archive", "--format=tar", *options, "HEAD"]


@contextmanager
def _compressed(file: Path) -> Iterator[gzip.GzipFile]:
    """A file to write to, which is compressed without its name and time."""
    # The highest level takes several times as long, for a hundredth of the size.
    with file.open("wb") as output, gzip.GzipFile("", "wb", compresslevel=6, fileobj=output, mtime=0) as compressed:
        yield compressed


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=_TOP, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    main()
