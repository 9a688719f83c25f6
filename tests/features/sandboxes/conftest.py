"""Sandboxes in databases beside the one of all tests."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.features.sandboxes import databases
from edfi_api.features.sandboxes.models import Sandbox
from tests.core.data_stores.conftest import forget_stores

NAMES = ("lark", "finch")


@pytest.fixture(scope="session")
def ensure_connection(django_db_setup: None, django_db_blocker: Any) -> Any:
    """Django's own, without the guards of test cases."""
    with django_db_blocker.unblock():
        return BaseDatabaseWrapper.ensure_connection


@pytest.fixture
def sandboxes(ensure_connection: Any, db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that may have sandboxes; afterwards their databases are gone."""
    # Test cases refuse databases that were added after they had begun.
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", ensure_connection)
    settings.EDFI_API = settings.EDFI_API | {"STORE_KEYS": ("a key of tests",), "STORE_SECONDS": 0}
    yield
    forget_stores()
    for name in {*NAMES, *Sandbox.objects.values_list("name", flat=True)}:
        databases.drop_all_of(name)


def create(name: str = "lark", *options: str) -> dict[str, str]:
    """What the command prints of a new sandbox, or of the one that is there."""
    output = StringIO()
    call_command("create_sandbox", name, *(options or ("--shape", "sis")), "--format", "json", stdout=output)
    return json.loads(output.getvalue())
