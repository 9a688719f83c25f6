"""A small district in the database, for tests that need more documents than they could post."""

import pytest
from django.db import transaction

from tests.tools.seeding.seed import seed

SIZE = 16_000


@pytest.fixture(scope="module")
def district(django_db_setup, django_db_blocker):
    """Mixed documents in a transaction shared by all tests of the module, rolled back after them."""
    with django_db_blocker.unblock(), transaction.atomic():
        seed(SIZE, processes=0)
        yield
        transaction.set_rollback(True)
