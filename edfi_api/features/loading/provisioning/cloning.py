"""Copies documents from one data store into another, for a new school year. Every step can be repeated.

A new school year takes over the resources whose documents belong neither to a time nor to a person: organizations and
what they have (locations, courses, class periods, programs, graduation plans), and people without their associations.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import connections

from edfi_api.common.conf import api_settings
from edfi_api.core.storage.driver.sql import statements_beside
from edfi_api.features.loading.json_lines.exporting import export_documents, into_folder
from edfi_api.features.loading.json_lines.loading import load_documents
from edfi_api.features.loading.json_lines.sources import sources
from edfi_api.features.loading.mapping import Translator
from edfi_api.features.loading.reports.results import LoadResult, RefusalHandler
from edfi_api.model.metaed.core_names import CONTACT, STAFF, STUDENT
from edfi_api.model.surface.load_order import targets_of
from edfi_api.model.surface.resource import Resource, ResourceKind, ResourceName, Surface

_RESET_COPIED_STATE = statements_beside(__file__)("reset_copied_state")

_PEOPLE = STUDENT | STAFF | CONTACT


def copy_documents(
    surface: Surface,
    resources: Sequence[Resource],
    source: str,
    using: str,
    on_refusal: RefusalHandler,
    *,
    mapping: Translator | None = None,
) -> LoadResult:
    """Export a consistent snapshot of the documents and load it. `on_refusal` is called with each document that refers
    to one of a resource that is not copied. With a mapping, the resources are those of its first standard."""
    with TemporaryDirectory(prefix="meadowlark-clone-") as folder:
        with into_folder(Path(folder), resources) as write:
            exported = export_documents(resources, write, source)
        if not exported.total():
            return LoadResult()
        files = sources(surface if mapping is None else mapping.before, [folder])
        return load_documents(surface, files, on_refusal, api_settings.MAX_BODY_BYTES, using=using, mapping=mapping)


def reset_copied_state(using: str) -> None:
    """Clear what a copy of a database must not share with the original, and continue its change versions far behind
    those of the original."""
    with connections[using].cursor() as cursor:
        cursor.execute(_RESET_COPIED_STATE.text)


def of_every_year(surface: Surface) -> list[Resource]:
    """Return the resources in load order, descriptors included; school years are made with the database."""
    years = {resource.name for resource in surface.resources if resource.kind is ResourceKind.SCHOOL_YEAR}
    people = {resource.name for resource in surface.resources if resource.name.resource in _PEOPLE}
    left_out = years | {
        resource.name
        for resource in surface.resources
        if _refers_to_its_year_or_a_person(resource, years, people)
        or (_has_a_date(resource) and resource.name not in people)
    }
    required = targets_of(surface.by_name, surface.abstract_resources, only_required=True)
    required = {name: targets - years for name, targets in required.items()}
    # What needs a document that is left out is left out too.
    while more := {name for name, targets in required.items() if name not in left_out and targets & left_out}:
        left_out |= more
    return [resource for resource in surface.resources if resource.name not in left_out]


def _refers_to_its_year_or_a_person(resource: Resource, years: set[ResourceName], people: set[ResourceName]) -> bool:
    return any(
        reference.target in people or (reference.target in years and not _has_role(reference.path.steps[-1], years))
        for reference in resource.references
        if reference.is_required
    )


def _has_role(member: str, years: set[ResourceName]) -> bool:
    """A year in a role, as the graduation year of a plan, is a value, and not the year of the document."""
    return not any(member.lower() == f"{year.resource}reference".lower() for year in years)


def _has_a_date(resource: Resource) -> bool:
    required = set(resource.json_schema.get("required", ()))
    dates = (*resource.value_paths.dates, *resource.value_paths.date_times)
    return any(len(path.steps) == 1 and path.steps[0] in required for path in dates)
