"""API clients in the admin."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from edfi_api.security.clients import Credentials, create_client, recognise_client
from edfi_api.security.models import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.security.urls")]
LIST = "/admin/security/apiclient/"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_superuser("operator"))
    return client


def test_clients_are_found_by_name_key_and_claims(operator: Client, credentials: Credentials) -> None:
    create_client("Another", "AssessmentVendor")

    for words in ("lakeside", credentials.key, "sisvendor", "255901", "uri://lakeside.example"):
        page = operator.get(LIST, {"q": words}).content.decode()
        assert "Lakeside SIS" in page
        assert "Another" not in page


def test_the_page_of_a_client_shows_its_key_but_never_its_secret(operator: Client, credentials: Credentials) -> None:
    client = ApiClient.objects.get()

    page = operator.get(f"{LIST}{client.pk}/change/").content.decode()

    assert credentials.key in page
    assert client.client_secret not in page
    assert "secret" not in page.lower()


def test_saving_a_client_keeps_its_secret(operator: Client, credentials: Credentials) -> None:
    client = ApiClient.objects.get()
    form = {
        "name": "Lakeside SIS",
        "is_active": "on",
        "claim_set_name": "RosterVendor",
        "education_organization_ids": "255901,255903",
        "namespace_prefixes": "uri://ed-fi.org",
    }

    response = operator.post(f"{LIST}{client.pk}/change/", form)

    changed = recognise_client(credentials)
    assert response.status_code == 302
    assert changed.claim_set_name == "RosterVendor"
    assert changed.education_organization_ids == [255901, 255903]


def test_clients_are_not_made_in_the_admin(operator: Client) -> None:
    assert operator.get(f"{LIST}add/").status_code == 403


def test_the_pages_of_tokens_show_no_token(operator: Client, token: str) -> None:
    page = operator.get("/admin/oauth2_provider/accesstoken/").content.decode()

    assert "Lakeside SIS" in page
    assert token not in page
