"""Documents of every resource, posted by a client and loaded in bulk: all answers and all tables are the same."""

from edfi_api.core.models import Document
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, bulk_writer
from edfi_api.web.problem_details.catalog import problem_of
from tests.features.loading.bulk.both_ways import rolled_back, stored


def test_documents_of_every_resource_are_answered_and_stored_as_by_the_api(surface, documents, api_without_check):
    candidates = [
        Candidate.of(resource, body, resource.endpoint)
        for resource in surface.resources
        for body in (documents.minimal_body(resource), documents.full_body(resource))
    ]

    def through_the_api():
        posted = [api_without_check.post(f"/data{each.resource.url_path}", each.body) for each in candidates]
        client = Document.objects.values_list("created_by", flat=True).first()
        return client, [response.status_code for response in posted], stored()

    def in_bulk(client):
        with bulk_writer(client=client) as writer:
            results = [written.result for written in writer.write(candidates)]
        return [_status(result) for result in results], stored()

    client, posted, by_the_api = rolled_back(through_the_api)
    loaded, by_bulk = rolled_back(lambda: in_bulk(client))

    assert loaded == posted
    assert by_bulk == by_the_api
    assert len(by_bulk) > len(surface.resources) * 0.9


def _status(result):
    if isinstance(result, Outcome):
        return 201 if result is Outcome.INSERTED else 200
    return problem_of(result).status
