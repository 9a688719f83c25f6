"""What a client learns about its own profiles from the introspection of its token."""

from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import assign_profiles
from edfi_api.core.security.requests.authentication import client_of_token
from tests.conftest import ApiTestClient, http
from tests.core.security.profiles.conftest import ClientOf, Store, make_incompatible


def assigned_profiles(client: ApiTestClient) -> list[str]:
    body = {"token": client.token}
    response = http().post(
        "/oauth/token_info", body, content_type="application/json", headers={"Authorization": f"Bearer {client.token}"}
    )
    assert response.status_code == 200
    return response.json()["assigned_profiles"]


def test_a_client_without_profiles_has_none(api: ApiTestClient, store: Store) -> None:
    store("Names", "Student", read="IncludeAll")

    assert assigned_profiles(api) == []


def test_names_are_listed_as_spelt_and_ascending_misfits_included(store: Store, client_of: ClientOf) -> None:
    for name in ("zebra", "Counselor", "alpha", "Not-Assigned"):
        store(name, "Student", read="IncludeAll")
    client = client_of("ZEBRA", "counselor", "alpha")
    make_incompatible("Counselor", "Student")

    assert assigned_profiles(client) == ["alpha", "Counselor", "zebra"]


def test_a_changed_assignment_shows_when_the_token_is_looked_up_again(store: Store, client_of: ClientOf) -> None:
    for name in ("Before", "After"):
        store(name, "Student", read="IncludeAll")
    client = client_of("Before")
    assert assigned_profiles(client) == ["Before"]

    assign_profiles(Application.objects.get(profiles__name="Before"), ["After"], by="tests")
    client_of_token.cache_clear()

    assert assigned_profiles(client) == ["After"]
