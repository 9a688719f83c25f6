"""The generated district is valid: a server of its standard has all of it, with every reference."""

from edfi_api.models import Document
from edfi_api.storage.integrity import disagreements
from tests.serving import Served


def test_the_loader_accepts_every_document(demo_server: Served) -> None:
    assert Document.objects.filter(resource_type__name="StudentSchoolAssociation").count() > 190
    assert list(disagreements(demo_server.preparers, "default")) == []
