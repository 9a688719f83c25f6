"""Documents of an ODS → the same documents here: ids, bodies, times, change versions."""

import pytest

from edfi_api.core.storage.exceptions import IdentityConflict
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, bulk_writer
from tests.features.ods_import.running import import_documents
from tests.features.ods_import.stored import stored
from tests.support.databases import DOCUMENTS


@pytest.fixture
def every_document(moved_out, documents, surface):
    def write() -> None:
        """Write documents, of the subclasses of one superclass only the first: their full bodies have the same
        identity.
        """
        bodies = ((resource, documents.full_body(resource)) for resource in surface.resources)
        candidates = [Candidate.of(resource, body, None) for resource, body in bodies]
        with bulk_writer(DOCUMENTS, processes=0) as writer:
            results = [written.result for written in writer.write(candidates)]
        assert [result for result in results if not isinstance(result, Outcome | IdentityConflict)] == []

    return moved_out(write)


def test_a_full_document_of_every_resource_arrives_as_it_was_and_a_second_import_changes_nothing(
    api, ods, every_document
) -> None:
    assert len({document.endpoint for document in every_document.values()}) > 320
    out = import_documents(ods)
    assert "refused, see" not in out
    assert stored() == every_document

    again = import_documents(ods)
    assert again.split("total")[1].split()[:5] == ["0", "0", str(len(every_document)), "0", "0"]
    assert stored() == every_document
