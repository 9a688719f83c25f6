"""Loading descriptor values from the list bundled with a data standard or from descriptor XML, with the same rules as
the API.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from django.db.models.fields.json import KT

from descriptors.models import stored_descriptors
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate
from edfi_api.features.loading.interchange.loading import load_candidates, load_interchange
from edfi_api.features.loading.reports.results import LoadResult, RefusalHandler
from edfi_api.model.surface.bundled_descriptors import FILE_NAME, bundled_values
from edfi_api.model.surface.resource import ResourceName, Surface
from references.descriptor_uri import comparable


def bundled_descriptors(surface: Surface, folder: Path) -> Iterator[Candidate[str]]:
    """The values in this standard's folder, for the descriptors of the surface; none if it has no such file."""
    for value in bundled_values(folder):
        resource = surface.by_name[ResourceName(surface.core_project.name, value.descriptor)]
        yield Candidate.of(resource, value.body, f"{FILE_NAME}:{value.line}")


def load_bundled(surface: Surface, folder: Path, on_refusal: RefusalHandler, using: str) -> LoadResult:
    """Load the values bundled with the data standard in this folder that are not stored yet.

    Bundled values have no descriptions, so existing descriptors are left unchanged.
    """
    result = LoadResult()
    load_candidates(_missing(bundled_descriptors(surface, folder), result, using), result, on_refusal, using)
    return result


def _missing(candidates: Iterable[Candidate[str]], result: LoadResult, using: str) -> Iterator[Candidate[str]]:
    stored = stored_descriptors(using).values_list("resource_type__name", KT("body__namespace"), KT("body__codeValue"))
    known = {(name, comparable(f"{namespace}#{code_value}")) for name, namespace, code_value in stored}
    for candidate in candidates:
        name = candidate.resource.name
        if (name.resource, comparable(f"{candidate.body['namespace']}#{candidate.body['codeValue']}")) in known:
            result.count(name, Outcome.UNCHANGED)
        else:
            yield candidate


def load_files(surface: Surface, files: Sequence[Path], on_refusal: RefusalHandler, using: str) -> LoadResult:
    """Load the descriptors in these interchange files; all other elements are refused."""
    return load_interchange(_descriptors_of(surface), files, on_refusal, using, kind="descriptor")


def _descriptors_of(surface: Surface) -> Surface:
    resources = tuple(resource for resource in surface.resources if resource.is_descriptor)
    names = {resource.name for resource in resources}
    interchange = tuple(entity for entity in surface.interchange if entity.name in names)
    return replace(surface, resources=resources, abstract_resources=(), interchange=interchange)
