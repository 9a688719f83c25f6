"""Another client, and a user of the admin."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from edfi_api.core.security.models import ApiClient
from tests.conftest import ApiTestClient, new_token
from tests.support.admin_users import client_of


@pytest.fixture
def other_api(db) -> ApiTestClient:
    return ApiTestClient(new_token("another"))


@pytest.fixture
def steward(db: None) -> Client:
    """A user of the admin with all permissions."""
    return client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))


def client_id(name: str = "tests") -> int:
    return ApiClient.objects.get(name=name).pk
