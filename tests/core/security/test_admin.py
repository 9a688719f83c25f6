"""API clients in the admin."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from oauth2_provider.models import get_access_token_model

from edfi_api.core.models import OrganizationClosure
from edfi_api.core.security.clients import create_client, recognise_client
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Grant, ResourceClaim

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.core.security.urls")]
LIST = "/admin/security/apiclient/"


def test_clients_are_found_by_name_key_and_claims(superuser: Client, credentials: Credentials) -> None:
    create_client("Another", "AssessmentVendor")

    for words in ("lakeside", credentials.key, "sisvendor", "255901", "uri://lakeside.example"):
        page = superuser.get(LIST, {"q": words}).content.decode()
        assert "Lakeside SIS</a></th>" in page
        assert "Another</a></th>" not in page


def test_the_page_of_a_client_shows_its_key_but_never_its_secret(superuser: Client, credentials: Credentials) -> None:
    client = ApiClient.objects.get()

    page = superuser.get(f"{LIST}{client.pk}/change/").content.decode()

    assert credentials.key in page
    assert "255901: does not exist yet<br>255902: does not exist yet" in page
    assert client.client_secret not in page


def test_saving_a_client_keeps_its_secret(superuser: Client, credentials: Credentials) -> None:
    client = ApiClient.objects.get()
    form = {"name": "Lakeside", "application": client.application_id, "is_active": "on"}

    response = superuser.post(f"{LIST}{client.pk}/change/", form)

    assert response.status_code == 302
    assert recognise_client(credentials).name == "Lakeside"


def test_an_application_shows_its_claim_set_and_organizations(superuser: Client, credentials: Credentials) -> None:
    application = Application.objects.get()
    form = {
        "vendor": application.vendor_id,
        "name": "Lakeside SIS",
        "claim_set": ClaimSet.objects.get(name="RosterVendor").pk,
        "education_organization_ids": "255901,255903",
        "api_clients-TOTAL_FORMS": 0,
        "api_clients-INITIAL_FORMS": 0,
    }

    response = superuser.post(f"/admin/security/application/{application.pk}/change/", form)

    changed = recognise_client(credentials).application
    assert response.status_code == 302
    assert changed.claim_set.name == "RosterVendor"
    assert changed.education_organization_ids == [255901, 255903]


def shown(response: HttpResponse) -> Credentials:
    """The credentials that a page shows once."""
    page = response.content.decode()
    assert "no-store" in response.headers["Cache-Control"]
    return Credentials(*(re.search(f'id="{each}">([^<]+)<', page)[1] for each in ("key", "secret")))


def test_the_secret_of_a_new_client_is_shown_once(superuser: Client, credentials: Credentials) -> None:
    form = {"name": "New", "application": Application.objects.get().pk, "is_active": "on"}

    made = shown(superuser.post(f"{LIST}add/", form))

    client = recognise_client(made)
    assert client.name == "New"
    assert made.secret not in superuser.get(f"{LIST}{client.pk}/change/").content.decode()


def test_a_secret_is_rotated_after_confirmation(superuser: Client, credentials: Credentials) -> None:
    address = f"{LIST}{ApiClient.objects.get().pk}/rotate-secret/"

    assert "Rotate secret" in superuser.get(address).content.decode()
    assert recognise_client(credentials) is not None

    rotated = shown(superuser.post(address))

    assert recognise_client(credentials) is None
    assert recognise_client(rotated).name == "Lakeside SIS"


def test_without_permission_no_secret_is_rotated(client: Client, credentials: Credentials) -> None:
    client.force_login(get_user_model().objects.create_user("reader", is_staff=True))

    assert client.post(f"{LIST}{ApiClient.objects.get().pk}/rotate-secret/").status_code == 403
    assert recognise_client(credentials) is not None


def test_selected_clients_are_disabled(superuser: Client, credentials: Credentials) -> None:
    chosen = {"action": "disable", "_selected_action": [ApiClient.objects.get().pk]}

    superuser.post(LIST, chosen)

    assert recognise_client(credentials) is None


def test_clients_are_not_deleted(superuser: Client, credentials: Credentials) -> None:
    address = f"{LIST}{ApiClient.objects.get().pk}/delete/"

    assert superuser.post(address, {"post": "yes"}).status_code == 403
    assert superuser.post(LIST, {"action": "delete_selected", "_selected_action": [1]}).status_code == 302
    assert ApiClient.objects.exists()


def test_a_claim_set_in_use_is_not_deleted(superuser: Client, credentials: Credentials) -> None:
    claim_set = ClaimSet.objects.get(name="SISVendor")

    page = superuser.post(f"/admin/security/claimset/{claim_set.pk}/delete/", {"post": "yes"}).content.decode()

    assert "would require deleting the following protected related objects" in page
    assert ClaimSet.objects.filter(name="SISVendor").exists()


def test_a_claim_set_shows_its_grants_and_applications(superuser: Client, credentials: Credentials) -> None:
    claim_set = ClaimSet.objects.get(name="SISVendor")

    page = superuser.get(f"/admin/security/claimset/{claim_set.pk}/change/").content.decode()

    assert "domains/primaryRelationships" in page
    assert f"/admin/security/application/{Application.objects.get().pk}/change/" in page


def override(superuser: Client, grant: Grant, action: str, strategies: list[str]) -> HttpResponse:
    """Posts a form that grants Read, ReadChanges and the action by these strategies."""
    form = {
        "claim_set": grant.claim_set_id,
        "resource_claim": grant.resource_claim_id,
        "actions": ["Read", "ReadChanges"],
        "overrides-TOTAL_FORMS": 1,
        "overrides-INITIAL_FORMS": 0,
        "overrides-0-action": action,
        "overrides-0-strategies": strategies,
    }
    return superuser.post(f"/admin/security/grant/{grant.pk}/change/", form)


def test_a_grant_is_changed_with_its_strategies(superuser: Client) -> None:
    grant = Grant.objects.get(claim_set__name="RosterVendor", resource_claim__name="ed-fi/staff")

    response = override(superuser, grant, "Read", ["NamespaceBased", "OwnershipBased"])

    grant.refresh_from_db()
    assert response.status_code == 302
    assert grant.actions == ["Read", "ReadChanges"]
    assert grant.overrides.get().strategies == ["NamespaceBased", "OwnershipBased"]


def test_strategies_that_cannot_authorize_the_action_are_refused(superuser: Client) -> None:
    grant = Grant.objects.get(claim_set__name="RosterVendor", resource_claim__name="ed-fi/staff")

    page = override(superuser, grant, "ReadChanges", ["NamespaceBased", "OwnershipBased"]).content.decode()

    assert "Unknown, or not for this action: OwnershipBased" in page
    assert not grant.overrides.exists()


def test_a_resource_claim_shows_its_effective_defaults(superuser: Client) -> None:
    claim = ResourceClaim.objects.get(name="ed-fi/studentSchoolAssociation")

    found = superuser.get("/admin/security/resourceclaim/", {"q": "primaryRelationships"}).content.decode()
    page = superuser.get(f"/admin/security/resourceclaim/{claim.pk}/change/").content.decode()

    assert claim.name in found
    assert "Create: RelationshipsWithEdOrgsOnly (from domains/primaryRelationships)" in page


def test_a_cycle_of_claims_is_refused_with_a_message(superuser: Client) -> None:
    top, people = (ResourceClaim.objects.get(name=f"domains/{name}") for name in ("everything", "people"))
    form = {"name": top.name, "parent": people.pk, "defaults-TOTAL_FORMS": 0, "defaults-INITIAL_FORMS": 0}

    page = superuser.post(f"/admin/security/resourceclaim/{top.pk}/change/", form).content.decode()

    assert "domains/everything would contain itself" in page


@pytest.mark.parametrize("model", ["vendor", "application", "apiclient", "claimset", "resourceclaim", "grant"])
def test_all_lists_are_searchable(superuser: Client, credentials: Credentials, model: str) -> None:
    assert superuser.get(f"/admin/security/{model}/", {"q": "255901 'x"}).status_code == 200
    assert superuser.get(f"/admin/security/{model}/add/").status_code == 200


def test_the_pages_of_tokens_show_no_token(superuser: Client, token: str) -> None:
    page = superuser.get("/admin/oauth2_provider/accesstoken/").content.decode()

    assert "Lakeside SIS" in page
    assert token not in page


def test_unused_fields_are_not_shown(superuser: Client) -> None:
    page = superuser.get("/admin/security/apiclient/").content.decode()

    assert "/admin/oauth2_provider/accesstoken/" in page
    assert not re.search("/admin/oauth2_provider/(grant|idtoken|refreshtoken)/", page)
    assert superuser.get("/admin/oauth2_provider/grant/").status_code == 403


def test_a_token_can_be_viewed_and_revoked_but_not_created(superuser: Client, token: str) -> None:
    address = "/admin/oauth2_provider/accesstoken/"
    row = get_access_token_model().objects.get().pk

    page = superuser.get(address, {"q": "lakeside"}).content.decode()

    assert f'href="{address}{row}/change/' in page
    assert token not in superuser.get(f"{address}{row}/change/").content.decode()
    assert superuser.get(f"{address}add/").status_code == 403
    assert superuser.post(f"{address}{row}/delete/", {"post": "yes"}).status_code == 302
    assert not get_access_token_model().objects.exists()


def test_an_application_has_no_view_on_site_link(superuser: Client, credentials: Credentials) -> None:
    page = superuser.get(f"/admin/security/application/{Application.objects.get().pk}/change/").content.decode()

    assert "View on site" not in page


def test_the_page_of_a_client_shows_its_last_use(superuser: Client, credentials: Credentials, token: str) -> None:
    client = ApiClient.objects.get()
    get_access_token_model().objects.update(created="2026-03-04T05:06:00Z")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO submission_hour"
            " (client, data_store, resource, hour, accepted, refused, last_accepted_at, last_refused_at)"
            " VALUES (%s, 0, 'students', '2026-03-04T07:00Z', 1, 0, '2026-03-04T07:08Z', NULL),"
            " (%s, 0, 'students', '2026-03-05T09:00Z', 0, 1, NULL, '2026-03-05T09:10Z')",
            [client.pk, client.pk],
        )

    page = superuser.get(f"{LIST}{client.pk}/change/").content.decode()

    assert "Token: 2026-03-04 05:06 UTC" in page
    assert "Accepted write: 2026-03-04 07:08 UTC" in page
    assert "Refused write: 2026-03-05 09:10 UTC" in page


def test_a_client_that_was_never_used(superuser: Client, credentials: Credentials) -> None:
    assert "none that is kept" in superuser.get(f"{LIST}{ApiClient.objects.get().pk}/change/").content.decode()


def test_saving_a_client_warns_that_it_has_expired(superuser: Client, credentials: Credentials) -> None:
    client = ApiClient.objects.get()
    form = {
        "name": "Lakeside", "application": client.application_id, "is_active": "on",
        "expires_at_0": "2026-01-02", "expires_at_1": "03:04",
    }  # fmt: skip

    page = superuser.post(f"{LIST}{client.pk}/change/", form, follow=True).content.decode()

    assert "Lakeside has expired: it gets no token." in page


def test_saving_an_application_warns_of_organizations_that_there_are_not(
    superuser: Client, credentials: Credentials
) -> None:
    OrganizationClosure.objects.create(ancestor_id=255901, descendant_id=255901)
    application = Application.objects.get()
    form = {
        "vendor": application.vendor_id,
        "name": "Lakeside SIS",
        "claim_set": application.claim_set_id,
        "education_organization_ids": "255903,255901",
        "api_clients-TOTAL_FORMS": 0,
        "api_clients-INITIAL_FORMS": 0,
    }

    page = superuser.post(f"/admin/security/application/{application.pk}/change/", form, follow=True).content.decode()

    assert "There is no education organization 255903 yet." in page
