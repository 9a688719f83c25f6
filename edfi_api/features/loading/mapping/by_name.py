"""Mappings by name: `4.0..5.2`, a chain such as `3.3.1-b..5.2`, or the path of a file."""

from itertools import pairwise
from pathlib import Path

from edfi_api.common.conf import api_settings, source_path
from edfi_api.core.served import compilation_of
from edfi_api.features.loading.mapping.files import LeadsElsewhere, MappingFile, UnknownMapping, read
from edfi_api.features.loading.mapping.plans import compile_plans
from edfi_api.features.loading.mapping.translation import DescriptorValues, Step, Translator
from edfi_api.model.surface.resource import Surface

_BUNDLED = Path(__file__).with_name("bundled")
_TO = ".."


def mapping_named(named: str, served: Surface) -> Translator:
    """A translator to the served standard.

    Raises UnknownMapping, LeadsElsewhere, InvalidMapping, or OSError.
    """
    files = [read(path) for path in _paths(named)]
    version = served.core_project.version
    to = files[-1][0].to
    if not _is_version(to, version):
        raise LeadsElsewhere(to, version)
    surfaces = [*(_surface(file.from_) for file, _ in files), served]
    steps = [
        Step(f"{file.from_}{_TO}{file.to}", compile_plans(file, source, before, after), _values_of(file))
        for (file, source), (before, after) in zip(files, pairwise(surfaces), strict=True)
    ]
    return Translator(surfaces[0], served, steps)


def _values_of(file: MappingFile) -> DescriptorValues:
    return DescriptorValues(file.namespaces, file.values)


def _paths(named: str) -> list[Path]:
    """The files of a chain of bundled ones, else the file itself."""
    bundled = {tuple(path.stem.split(_TO)): path for path in sorted(_BUNDLED.glob("*.toml"))}
    start, is_name, end = named.partition(_TO)
    found: list[Path] = []
    while is_name and start != end:
        step = next((pair for pair in bundled if pair[0] == start), None)
        if step is None:
            break
        found.append(bundled[step])
        start = step[1]
    if found and start == end:
        return found
    path = Path(named)
    if not path.is_file():
        raise UnknownMapping(named, [_TO.join(pair) for pair in bundled])
    return [path]


def _surface(standard: str) -> Surface:
    return compilation_of([source_path(standard)], api_settings.CACHE_DIR).surface


def _is_version(standard: str, version: str) -> bool:
    """Whether 5.2.0 is the version of 5.2."""
    return version == standard or version.startswith(f"{standard}.")
