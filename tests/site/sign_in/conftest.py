"""Settings of logging in, and users with passwords."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

Configure = Callable[..., None]
PASSWORD = "correct horse battery"


@pytest.fixture
def configure(settings: Settings) -> Configure:
    def changed(**values: object) -> None:
        settings.EDFI_API = {**settings.EDFI_API, **values}

    return changed


@pytest.fixture
def olga(db: None) -> User:
    return User.objects.create_superuser("olga", password=PASSWORD)
