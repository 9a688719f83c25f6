"""A bulk write while others write the same documents: it waits as they would, and gives in where they were faster."""

import contextlib
import random

import pytest
from django.db import transaction

from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.models import Document
from edfi_api.core.storage import store
from edfi_api.core.storage.integrity import disagreements
from edfi_api.core.storage.stored import Outcome
from edfi_api.core.storage.write_requests import DeleteRequest, WriteRequest
from edfi_api.features.loading.bulk import write_documents
from references.exceptions import DependentItemExists, MissingTarget, UnresolvedReference
from tests.support.factories import STORED_URIS
from tests.whole.concurrency.concurrently import at_once, in_background, wait_until_one_waits_for_us


@pytest.fixture
def written(transactional_db, district, validators):
    """Writes candidates behind the district's descriptors; all rows must agree at the end of the test."""
    list(write_documents(district.descriptors()))
    yield results_of
    assert list(disagreements(validators, "default")) == []


def results_of(*candidates):
    return [written.result for written in write_documents(candidates)]


def upsert(candidate):
    return store.upsert(
        WriteRequest(DocumentValidator(candidate.resource).validate_new(candidate.body, STORED_URIS), using="default")
    )


def delete(candidate):
    incoming = DocumentValidator(candidate.resource).validate_new(candidate.body, STORED_URIS)
    document = Document.objects.filter(natural_key=incoming.identity.natural_key).first()
    return document is not None and store.delete(
        DeleteRequest(candidate.resource, document.document_uuid, using="default")
    )


def beside(uncommitted, *candidates):
    """The results of the candidates, which waited for what `uncommitted` did, and went on when it was committed."""
    with transaction.atomic():
        uncommitted()
        running = in_background(lambda: results_of(*candidates))
        wait_until_one_waits_for_us(running)
    return running.result(timeout=30)


def web_site(number):
    return Document.objects.get(natural_key=f"NK#schoolId={number}").body.get("webSite")


def test_a_document_inserted_concurrently_is_updated(written, district):
    ours = [district.school(1), district.school(2, webSite="https://ours.example"), district.school(3)]

    results = beside(lambda: upsert(district.school(2)), *ours)

    assert results == [Outcome.INSERTED, Outcome.UPDATED, Outcome.INSERTED]
    assert web_site(2) == "https://ours.example"


def test_a_document_updated_concurrently_is_updated_again(written, district):
    written(district.school(1), district.school(2))
    ours = [district.school(1), district.school(2, webSite="https://ours.example"), district.school(3)]

    results = beside(lambda: upsert(district.school(2, webSite="https://theirs.example")), *ours)

    assert results == [Outcome.UNCHANGED, Outcome.UPDATED, Outcome.INSERTED]
    assert web_site(2) == "https://ours.example"


def test_repetitions_of_such_a_document_keep_their_order(written, district):
    written(district.school(1))
    ours = [district.school(1, webSite=f"https://{number}.example") for number in range(3)]

    results = beside(lambda: upsert(district.school(1, webSite="https://theirs.example")), *ours)

    assert results == [Outcome.UPDATED] * 3
    assert web_site(1) == "https://2.example"


def test_references_removed_concurrently_are_restored(written, district):
    periods = [district.period("one"), district.period("two")]
    written(district.school(1), *periods, district.schedule("A", "one"))

    results = beside(lambda: upsert(district.schedule("A", "two")), district.schedule("A", "one", "two"))

    assert results == [Outcome.UPDATED]


def test_a_target_deleted_concurrently_fails_its_referrers_only(written, district):
    written(district.school(1), district.period("one"), district.period("two"))

    results = beside(
        lambda: delete(district.period("one")), district.schedule("A", "one"), district.schedule("B", "two")
    )

    missing = MissingTarget("$.classPeriods[0].classPeriodReference", "ClassPeriod")
    assert results == [UnresolvedReference(documents=[missing]), Outcome.INSERTED]


def test_a_document_deleted_concurrently_is_inserted_again(written, district):
    written(district.school(1), district.school(2))

    results = beside(lambda: delete(district.school(2)), district.school(2, webSite="https://ours.example"))

    assert results == [Outcome.INSERTED]


def test_concurrent_loads_and_writes_of_the_same_documents_succeed(written, district):
    names = "ABCDEFGHIJ"
    written(district.school(1), district.school(2))

    def load(number):
        order = random.Random(number)  # noqa: S311
        results = []
        for version in range(10):
            site = f"https://{number}-{version}.example"
            periods = [district.period(name) for name in order.sample(names, 6)]
            schedules = [district.schedule(name, *order.sample(names, 2)) for name in order.sample(names, 6)]
            results += results_of(district.school(1, webSite=site), *periods, *schedules)
        return results

    def write(number):
        order = random.Random(number)  # noqa: S311
        for _ in range(40):
            name, period = order.choice(names), order.choice(names)
            as_a_client(upsert, district.school(1, webSite=f"https://{number}-{name}.example"))
            as_a_client(upsert, district.period(period))
            as_a_client(upsert, district.schedule(name, period))
            as_a_client(delete, district.schedule(order.choice(names), period))
            as_a_client(delete, district.period(order.choice(names)))
        return []

    loaded, *_ = at_once(lambda: load(1), lambda: load(2), lambda: write(3), lambda: write(4))

    assert len(loaded) == 10 * 13
    assert {type(result) for result in loaded} <= {Outcome, UnresolvedReference}


def as_a_client(action, candidate):
    """Refusals are what a client would be told, and lives with."""
    with contextlib.suppress(UnresolvedReference, DependentItemExists):
        action(candidate)
