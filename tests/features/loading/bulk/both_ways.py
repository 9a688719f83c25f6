"""The same candidates one after the other and in bulk, each from the same start; what the database has after each."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.security.claims.compile import _compiled
from edfi_api.core.storage import database_state, store
from edfi_api.core.storage.integrity import disagreements
from edfi_api.core.storage.sets import REFUSALS
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.features.loading.bulk import Candidate, write_documents
from tests.support import databases
from tests.support.databases import DOCUMENTS, connection
from tests.support.factories import STORED_URIS

Result = TypeVar("Result")

_DOCUMENTS = """
SELECT t.name, d.natural_key, d.body::text, d.created_by, d.last_modified_by,
       d.organization, d.student, d.contact, d.staff, d.namespace, d.hierarchy, d.opens_pathway, d.is_person,
       ARRAY(SELECT referential_id::text FROM alias WHERE document_id = d.id ORDER BY 1),
       ARRAY(SELECT alias_id::text FROM reference WHERE document_id = d.id ORDER BY 1)
  FROM document d JOIN resource_type t ON t.id = d.resource_type_id
 ORDER BY t.name, d.natural_key
"""


def stored() -> list[tuple[Any, ...]]:
    """All three tables by natural key, without what no two loads share: ids, dates and versions."""
    with connection.cursor() as cursor:
        return cursor.execute(_DOCUMENTS).fetchall()


def one_after_the_other(candidates: Iterable[Candidate], validators: DocumentValidators) -> list[Any]:
    """Write as the API does, and return for each an outcome or the refusal of each."""
    return [_write(candidate, validators) for candidate in candidates]


def in_bulk(candidates: Iterable[Candidate]) -> list[Any]:
    return [_comparable(written.result) for written in write_documents(candidates, DOCUMENTS)]


def both_ways(
    candidates: Sequence[Candidate], validators: DocumentValidators
) -> tuple[tuple[list[Any], list[Any]], tuple[list[Any], list[Any]]]:
    """Results and tables of one after the other, then those of bulk; nothing of it stays in the database."""
    alone = rolled_back(lambda: (one_after_the_other(candidates, validators), stored()))
    bulk = rolled_back(lambda: (in_bulk(candidates), _stored_in_agreement(validators)))
    return alone, bulk


def rolled_back(action: Callable[[], Result]) -> Result:
    _forget_documents()
    with databases.rolled_back():
        result = action()
    _forget_documents()
    return result


def _forget_documents() -> None:
    """Everything but compiled claim sets, which do not depend on documents and take longer than most actions."""
    claim_sets = database_state.database_state(DEFAULT_DB_ALIAS).value(_compiled)
    database_state.forget()
    database_state.database_state(DEFAULT_DB_ALIAS).value(_compiled).update(claim_sets)


def _stored_in_agreement(validators: DocumentValidators) -> list[tuple[Any, ...]]:
    assert list(disagreements(validators, DOCUMENTS)) == []
    return stored()


def _write(candidate: Candidate, validators: DocumentValidators) -> Any:
    try:
        incoming = validators[candidate.resource.name].validate_new(candidate.body, STORED_URIS)
        return store.upsert(WriteRequest(incoming, using=DOCUMENTS)).outcome
    except REFUSALS as refusal:
        return _comparable(refusal)


def _comparable(result: Any) -> Any:
    return (type(result).__name__, vars(result)) if isinstance(result, Exception) else result
