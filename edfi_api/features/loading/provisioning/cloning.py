"""Copies documents from one data store into another, for a new school year. Every step can be repeated."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import connections

from edfi_api.common.conf import api_settings
from edfi_api.core.storage.driver.sql_files import statements_beside
from edfi_api.features.loading.json_lines.exporting import export_documents, into_folder
from edfi_api.features.loading.json_lines.loading import load_documents
from edfi_api.features.loading.json_lines.sources import sources
from edfi_api.features.loading.mapping import Translator
from edfi_api.features.loading.reports.results import LoadResult, RefusalHandler
from edfi_api.model.surface.resource import Resource, Surface

_RESET_COPIED_STATE = statements_beside(__file__)("reset_copied_state")


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
