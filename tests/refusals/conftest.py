"""Writes are recorded in the transaction of the test, when the test says so."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from edfi_api.api.viewsets import recorded_writes
from edfi_api.refusals.models import Refusal
from edfi_api.refusals.recorder import Recorder
from edfi_api.refusals.recording import Recording
from edfi_api.security.models import ApiClient
from tests.conftest import ApiTestClient, new_token


class RecorderInTest(Recorder):
    """Has no thread; `flush` does at once what the thread does in a minute."""

    def _resume(self) -> None:
        pass

    def flush(self) -> None:
        self._awaited = Recording(self.pending, connection).flush(is_now=True) or set()


@pytest.fixture
def recorder(settings, db) -> RecorderInTest:
    settings.EDFI_API = settings.EDFI_API | {"WRITE_RECORDER": "tests.refusals.conftest.RecorderInTest"}
    recorded_writes._recorder.cache_clear()
    found = recorded_writes.recorder()
    found.flush()  # The first look at later writes begins here.
    return found


@pytest.fixture
def refused(recorder: RecorderInTest) -> Callable[..., list[Refusal]]:
    """The entries, oldest first, after everything has been recorded."""

    def entries(**filters: Any) -> list[Refusal]:
        recorder.flush()
        return list(Refusal.objects.filter(**filters).order_by("id"))

    return entries


@pytest.fixture
def other_api(db) -> ApiTestClient:
    return ApiTestClient(new_token("another"))


def client_id(name: str = "tests") -> int:
    return ApiClient.objects.get(name=name).pk
