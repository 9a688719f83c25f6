"""Warnings of the command and the admin about claim sets that grant more than it looks."""

import pytest
from django.test import Client

from edfi_api.common.conf import api_settings
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import Application, ClaimSet, Vendor
from tests.support.management_commands import printed

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.core.security.urls")]
UNFILTERED = (
    "The claim set EdFiSandbox filters no documents: its clients read and write those of all education organizations, "
    "whichever the application has. EdFiSandboxDefaults grants as much by the default strategies."
)
OVERWRITING = (
    "Clients with the claim set SISVendor may overwrite every document of ed-fi/contact, ed-fi/parent, ed-fi/staff, "
    "ed-fi/student, since a POST on a document that exists is authorized as Create. MEADOWLARK_UPSERT_ASKS_UPDATE "
    "authorizes it as Update."
)


def remarks_of(claim_set: str, *options: str) -> list[str]:
    out, err = printed("create_api_client", "Demo", f"--claim-set={claim_set}", *options)
    assert "Note" not in out
    return err.splitlines()


def test_a_claim_set_without_filters_is_reported_if_there_are_organizations() -> None:
    assert remarks_of("EdFiSandbox", "--education-organization-id=255901") == [f"Note: {UNFILTERED}"]


@pytest.mark.parametrize("claim_set", ["EdFiSandbox", "FullAccess"])
def test_a_client_without_organizations_gets_no_remark(claim_set: str) -> None:
    assert remarks_of(claim_set) == []


def test_strategies_that_ignore_organizations_are_reported() -> None:
    assert remarks_of("OwnershipBased", "--education-organization-id=255901") == [
        "Note: No strategy of the claim set OwnershipBased looks at education organizations: those of the application "
        "restrict nothing."
    ]


def test_claim_sets_that_overwrite_people_are_reported_unless_update_is_required(settings) -> None:
    assert remarks_of("SISVendor", "--education-organization-id=255901") == [f"Note: {OVERWRITING}"]
    settings.EDFI_API = {**settings.EDFI_API, "UPSERT_ASKS_UPDATE": True}

    create_client("Other", "SISVendor")
    again = printed("create_api_client", "Third", "--claim-set=SISVendor")

    assert again.err == ""
    del settings.EDFI_API
    api_settings.reload()


def test_the_default_sandbox_claim_set_is_reported_like_sis_vendor() -> None:
    (line,) = remarks_of("EdFiSandboxDefaults", "--education-organization-id=255901")

    assert "may overwrite every document of ed-fi/contact, ed-fi/parent, ed-fi/staff, ed-fi/student, since" in line


def page_after(superuser: Client, path: str, form: dict[str, object]) -> str:
    page = superuser.post(path, form, follow=True).content.decode()
    assert "Please correct" not in page
    return page


def application(name: str, claim_set: str) -> dict[str, object]:
    return {
        "name": name,
        "claim_set": ClaimSet.objects.get(name=claim_set).pk,
        "education_organization_ids": "255901",
    }


def test_the_admin_shows_remarks_for_applications_and_clients(superuser: Client) -> None:
    vendor = Vendor.objects.create(name="Lakeside")
    no_clients = {"api_clients-TOTAL_FORMS": 0, "api_clients-INITIAL_FORMS": 0}

    page = page_after(
        superuser,
        "/admin/security/application/add/",
        application("Roster", "EdFiSandbox") | {"vendor": vendor.pk} | no_clients,
    )
    assert f"Roster: {UNFILTERED}" in page

    form = {"name": "Demo", "application": Application.objects.get().pk, "is_active": "on"}
    assert f"Roster: {UNFILTERED}" in page_after(superuser, "/admin/security/apiclient/add/", form)


def test_the_admin_shows_remarks_for_applications_of_a_vendor(superuser: Client) -> None:
    inline = {f"applications-0-{name}": value for name, value in application("SIS", "SISVendor").items()}
    sizes = {"applications-TOTAL_FORMS": 1, "applications-INITIAL_FORMS": 0}

    page = page_after(
        superuser, "/admin/security/vendor/add/", {"name": "Lakeside", "namespace_prefixes": ""} | inline | sizes
    )

    assert f"SIS: {OVERWRITING}" in page


def test_the_form_of_an_application_states_how_a_post_is_authorized(superuser: Client) -> None:
    page = superuser.get("/admin/security/application/add/").content.decode()

    assert "A POST on a document that exists is authorized as Create" in page
    assert "EdFiSandbox and FullAccess filter no documents" in page
