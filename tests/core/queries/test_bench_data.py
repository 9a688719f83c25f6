"""`make bench-data` writes the same rows as the API."""

import pytest

from edfi_api.core.models import Document
from edfi_api.core.storage.integrity import disagreements
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, write_documents
from tests.core.queries.conftest import SIZE
from tests.tools.seeding.district import school

pytestmark = pytest.mark.django_db


def test_there_are_as_many_documents_as_requested(district):
    assert Document.objects.count() == SIZE


def test_every_row_agrees_with_its_body(district, validators):
    assert list(disagreements(validators, "default")) == []


def test_the_bulk_writer_finds_nothing_to_change(district, resource_named):
    second_school = [Candidate.of(resource_named(name), body, name) for name, body in school(2)]

    written = write_documents(second_school)

    assert {each.result for each in written} == {Outcome.UNCHANGED}


def test_later_documents_get_higher_row_ids(district, resource_named):
    descriptor = resource_named("SexDescriptor")
    body = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "X", "shortDescription": "X"}

    list(write_documents([Candidate.of(descriptor, body, "")]))

    assert Document.objects.order_by("id").last().body["codeValue"] == "X"
