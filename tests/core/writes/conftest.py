"""Settings with rules, and documents that they are about."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connections

from tests.conftest import ApiTestClient, new_token
from tests.core.writes import district_rules
from tests.web.batch.batch_client import BatchClient
from tests.web.batch.operations import DESCRIPTORS, descriptor, school, student

RULES = "tests.core.writes.district_rules"
NINTH, TENTH = (f"uri://ed-fi.org/GradeLevelDescriptor#{name} grade" for name in ("Ninth", "Tenth"))


@pytest.fixture
def rules(settings) -> Callable[..., None]:
    """Sets rules, and other settings. They may take their time: the machine of the tests is busy."""

    def configure(*names: str, **others: object) -> None:
        settings.EDFI_API = settings.EDFI_API | {"WRITE_RULES": names, "WRITE_RULE_MILLISECONDS": 5_000} | others

    return configure


@pytest.fixture
def meanwhile() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Has something done in another thread while a rule looks at a stored student."""
    district_rules.asked.clear()

    def do(something: Callable[[], object]) -> None:
        def in_thread() -> None:
            something()
            connections.close_all()

        district_rules.meanwhile.append(in_thread)

    yield do
    district_rules.meanwhile.clear()


@pytest.fixture
def declared(rules, tmp_path: Path) -> Callable[..., None]:
    """Sets rules of TOML with this text."""

    def configure(text: str, **others: object) -> None:
        path = tmp_path / "declared.toml"
        path.write_text('source = "tests"\n' + text)
        rules(str(path), **others)

    return configure


@pytest.fixture
def batch(api) -> BatchClient:
    return BatchClient(api.token)


@pytest.fixture
def client_of_district(api_without_check) -> ApiTestClient:
    """May read and write everything of school 1."""
    return ApiTestClient(new_token("district", "SISVendor", education_organization_ids=[1]))


@pytest.fixture
def district(batch: BatchClient) -> None:
    """Two schools with a ninth grade, and two students."""
    grades = descriptor("GradeLevelDescriptor", "Tenth grade")
    assert batch.statuses(*DESCRIPTORS, grades, school(1), school(2), student(1), student(2)) == [201] * 7
