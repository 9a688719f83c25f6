"""A school with class periods and bell schedules that refer to them, and a client that sends batches."""

from collections.abc import Iterator
from typing import Any

import pytest

from edfi_api.core.storage.integrity import disagreements
from tests.conftest import ApiTestClient, item_path
from tests.web.batch.batch_client import BatchClient
from tests.web.batch.generated import start

SCHOOL = 1008  # the factory's number for a school


class SmallSchool:
    """Bodies and requests of periods and schedules of one school, by name."""

    def __init__(self, api: ApiTestClient) -> None:
        self.api = api

    def period(self, name: str, **changes: Any) -> dict[str, Any]:
        return {"classPeriodName": name, "schoolReference": {"schoolId": SCHOOL}} | changes

    def schedule(self, name: str, *periods: str, **changes: Any) -> dict[str, Any]:
        references = [{"classPeriodReference": {"classPeriodName": each, "schoolId": SCHOOL}} for each in periods]
        return {
            "bellScheduleName": name,
            "schoolReference": {"schoolId": SCHOOL},
            "classPeriods": references,
        } | changes

    def post_period(self, name: str, **changes: Any) -> Any:
        return self.api.post("/classPeriods", self.period(name, **changes))

    def post_schedule(self, name: str, *periods: str, **changes: Any) -> Any:
        return self.api.post("/bellSchedules", self.schedule(name, *periods, **changes))

    def put_period(self, path: str, name: str, **changes: Any) -> Any:
        return self.api.put(path, self.period(name, **changes) | {"id": path.rsplit("/", 1)[1]})

    def put_schedule(self, path: str, name: str, *periods: str, **changes: Any) -> Any:
        return self.api.put(path, self.schedule(name, *periods, **changes) | {"id": path.rsplit("/", 1)[1]})


@pytest.fixture
def small_school(committing_api, documents, resource_named) -> SmallSchool:
    documents.store(resource_named("School"))
    return SmallSchool(committing_api)


@pytest.fixture
def path_of(small_school):
    """Returns the path of a posted document."""

    def post(response: Any) -> str:
        assert response.status_code == 201, response.content
        return item_path(response)

    return post


@pytest.fixture
def batch(committing_api, validators) -> Iterator[BatchClient]:
    """Documents and rows must agree after the test."""
    client = BatchClient(committing_api.token)
    client.results(start())
    yield client
    assert list(disagreements(validators, "default")) == []
