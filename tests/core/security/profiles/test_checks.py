"""`manage.py check --database default` names profiles that do not fit the served standard."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from edfi_api.core.security.profiles.checks import profiles_fit
from edfi_api.core.security.profiles.models import Profile
from tests.core.security.profiles.conftest import Store, make_incompatible

pytestmark = pytest.mark.django_db


def found() -> list[str]:
    err = StringIO()
    call_command("check", "--database", "default", stdout=StringIO(), stderr=err)
    return [line for line in err.getvalue().splitlines() if "(profiles." in line]


def test_profiles_that_fit_are_not_named(store: Store) -> None:
    store("Portal", "Student", read="IncludeAll")

    assert found() == []


def test_misfits_are_named_with_what_is_wrong(store: Store) -> None:
    for name in ("Portal", "Old", "Broken"):
        store(name, "Student", read="IncludeAll")
    make_incompatible("Old", "Student")
    Profile.objects.filter(name="Broken").update(definition="{")

    broken, old = found()

    assert (
        "(profiles.W001) The profile Broken does not fit the data standard: The stored text is not a definition"
        in broken
    )
    assert old.endswith(
        "(profiles.W001) The profile Old does not fit the data standard: Property 'vanished' in read content type does "
        "not exist in resource 'Student'."
    )


@pytest.mark.parametrize("before", ["RENAME COLUMN tenant_id TO not_yet", "RENAME TO not_yet"])
def test_a_database_that_is_not_migrated_yet_is_not_checked(before: str) -> None:
    """The check runs before `migrate`, which otherwise could not begin."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE profiles_profile {before}")

    assert profiles_fit(["default"]) == []
