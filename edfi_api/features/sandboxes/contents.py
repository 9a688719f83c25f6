"""What is in the database of a sandbox besides descriptors and school years."""

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import connections

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text
from edfi_api.core.served import current_surface
from edfi_api.features.loading.demo_district import FEWEST_STUDENTS, generate
from edfi_api.features.loading.demo_district.generation import DISTRICT_ID, STATE_ID, organizations
from edfi_api.features.loading.json_lines.exporting import into_folder
from edfi_api.features.loading.json_lines.loading import load_documents
from edfi_api.features.loading.json_lines.sources import sources
from edfi_api.features.sandboxes.exceptions import SandboxFailed
from edfi_api.features.sandboxes.shapes import Shape
from edfi_api.model.examples import Bodies, Body
from edfi_api.model.surface.bundled_descriptors import bundled_values
from edfi_api.model.surface.resource import ResourceName

_SEED = 1


def variant(shape: Shape, today: date, *, is_populated: bool) -> str:
    """A name for equal contents. The demo district is that of the month, since more happens in it every day."""
    if is_populated:
        return f"district_{today:%Y_%m}"
    return "students" if shape.needs_students else "organizations"


def organization_ids(*, is_populated: bool) -> list[int]:
    """The organizations to which a client is bound."""
    return [DISTRICT_ID] if is_populated else [STATE_ID, DISTRICT_ID]


def load(using: str, shape: Shape, today: date, *, is_populated: bool) -> None:
    """Write the documents into a database with descriptors and school years. Raises SandboxFailed."""
    surface = current_surface()
    values = list(bundled_values(api_settings.data_standard))
    if not values:
        raise SandboxFailed("loading the documents", "the data standard comes without descriptor values")
    bodies = Bodies(surface, values)
    if is_populated:
        found = generate(bodies, FEWEST_STUDENTS, _SEED, today).bodies
    else:
        found = organizations(bodies, today, has_students=shape.needs_students)
    _write(found, using)
    with connections[using].cursor() as cursor:
        cursor.execute("ANALYZE")


def _write(found: dict[ResourceName, list[Body]], using: str) -> None:
    surface = current_surface()
    refused: list[object] = []
    with TemporaryDirectory(prefix="meadowlark-sandbox-") as folder:
        with into_folder(Path(folder), surface.resources) as write:
            for name, several in found.items():
                write(surface.by_name[name], [[json_text.dumps(body).decode() for body in several]])
        load_documents(
            surface,
            sources(surface, [folder]),
            refused.append,
            api_settings.MAX_BODY_BYTES,
            using=using,
            processes=0,
            skips_rules=True,
        )
    if refused:
        raise SandboxFailed("loading the documents", f"{len(refused)} were refused, the first: {refused[0]}")
