"""API profiles in the admin: their pages, and the choice of them for an application."""

import json
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.http import HttpResponse
from django.test import Client

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import assign_profiles
from edfi_api.core.security.profiles.models import Profile
from tests.core.security.profiles.conftest import Store, make_incompatible
from tests.core.security.profiles.definitions import profile_xml

LIST = "/admin/profiles/profile/"
FIRST_NAME = 'IncludeOnly:<Property name="firstName"/>'
NO_WRITE_PART = "Student has no write part: clients with this profile write it without restriction."


@pytest.fixture
def operator(client: Client, db: None) -> Client:
    client.force_login(get_user_model().objects.create_superuser("operator"))
    return client


@pytest.fixture
def application(db: None) -> Application:
    create_client("Lakeside SIS", "SISVendor", [255901])
    return Application.objects.get()


def page_of(profile: str) -> str:
    return f"{LIST}{Profile.objects.get(name__iexact=profile).pk}/change/"


def text_of(response: HttpResponse) -> str:
    return response.content.decode().replace("&#x27;", "'").replace("&quot;", '"')


def save_definition(operator: Client, definition: bytes, page: str = f"{LIST}add/", **form: Any) -> HttpResponse:
    return operator.post(page, {"definition": definition.decode(), "note": "", **form}, follow=True)


def test_a_profile_is_added_with_its_definition_and_its_notices_are_shown(operator: Client) -> None:
    page = text_of(save_definition(operator, profile_xml("Student", FIRST_NAME, name="Portal"), note="For the portal"))

    stored = Profile.objects.get()
    assert (stored.name, stored.note) == ("Portal", "For the portal")
    assert json.loads(stored.definition)["resources"] == [
        {"name": "Student", "read": {"memberSelection": "IncludeOnly", "properties": ["firstName"]}}
    ]
    assert f"Portal: Line 1: notice: {NO_WRITE_PART}" in page


def test_the_definition_is_edited_and_can_be_renamed(operator: Client, store: Store) -> None:
    store("Portal", "Student", read=FIRST_NAME)
    page = page_of("Portal")
    shown = operator.get(page).context["adminform"].form.initial["definition"]
    assert json.loads(shown)["profiles"][0]["name"] == "Portal"

    edited = shown.replace("firstName", "lastSurname").replace("Portal", "Counselors")
    response = save_definition(operator, edited.encode(), page)

    assert response.redirect_chain
    stored = Profile.objects.get()
    assert stored.name == "Counselors"
    assert "lastSurname" in stored.definition


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (b"<Profile", "error: The file is not well-formed XML"),
        (b"", "This field is required."),
        (
            profile_xml("Student", 'IncludeOnly:<Property name="nickname"/>'),
            "Line 1: error: Property 'nickname' in read content type does not exist in resource 'Student'.",
        ),
        (
            profile_xml("Student", 'ExcludeOnly:<Property name="nickname"/>'),
            "Line 1: warning: Property 'nickname' in read content type does not exist in resource 'Student'.",
        ),
        (b'{"profiles": []}', "error: There are 0 profiles; this page is about one."),
        (profile_xml("Student", "IncludeAll", name="PORTAL"), "There is another profile PORTAL."),
        (profile_xml("Student", "IncludeAll", name="a.b"), "'a.b' cannot be the name of a profile"),
    ],
    ids=["no XML", "empty", "error", "warning", "none", "exists", "name"],
)
def test_what_is_wrong_is_an_error_of_the_form(operator: Client, store: Store, definition: bytes, message: str) -> None:
    store("Portal", "Student", read=FIRST_NAME)

    response = save_definition(operator, definition)

    assert response.status_code == 200
    assert message in text_of(response)
    assert Profile.objects.count() == 1


def test_members_that_do_not_exist_can_be_accepted(operator: Client) -> None:
    definition = profile_xml("Student", 'ExcludeOnly:<Property name="nickname"/>')

    page = text_of(save_definition(operator, definition, accept_warnings="on"))

    assert Profile.objects.exists()
    assert "warning: Property 'nickname' in read content type does not exist" in page


def test_the_list_shows_which_profiles_fit_and_how_many_applications_have_them(
    operator: Client, store: Store, application: Application
) -> None:
    store("Portal", "Student", read=FIRST_NAME)
    store("Old", "Student", read=FIRST_NAME)
    make_incompatible("Old", "Student")
    assign_profiles(application, ["Portal"], by="tests")

    found = {each.name: each for each in operator.get(LIST).context["cl"].result_list}
    page = operator.get(LIST, {"q": "lakeside"}).content.decode()

    admin = operator.get(LIST).context["cl"].model_admin
    assert {name: (admin.number_of_applications(each), admin.fits(each)) for name, each in found.items()} == {
        "Portal": (1, True),
        "Old": (0, False),
    }
    assert ">Portal</a>" in page
    assert ">Old</a>" not in page


def test_a_profile_links_to_its_applications(operator: Client, store: Store, application: Application) -> None:
    store("Portal", "Student", read=FIRST_NAME)
    assign_profiles(application, ["Portal"], by="tests")

    page = operator.get(page_of("Portal")).content.decode()

    assert f'<a href="/admin/security/application/{application.pk}/change/">Lakeside SIS</a>' in page


def test_an_assigned_profile_is_not_deleted(operator: Client, store: Store, application: Application) -> None:
    store("Portal", "Student", read=FIRST_NAME)
    assign_profiles(application, ["Portal"], by="tests")
    address = page_of("Portal").replace("change", "delete")

    refused = operator.post(address, {"post": "yes"})
    assign_profiles(application, [], by="tests")
    deleted = operator.post(address, {"post": "yes"})

    assert "would require deleting the following protected related objects" in refused.content.decode()
    assert (refused.status_code, deleted.status_code) == (200, 302)
    assert not Profile.objects.exists()


def test_profiles_are_chosen_on_the_page_of_an_application(
    operator: Client, store: Store, application: Application
) -> None:
    for name in ("Portal", "Other", "Before"):
        store(name, "Student", read=FIRST_NAME)
    assign_profiles(application, ["Before"], by="tests")
    page = f"/admin/security/application/{application.pk}/change/"
    assert ">Before</option>" in operator.get(page).content.decode()

    chosen = Profile.objects.filter(name__in=["Portal", "Other"])
    response = operator.post(page, form_of(application, [each.pk for each in chosen]), follow=True)

    assert sorted(application.profiles.values_list("name", flat=True)) == ["Other", "Portal"]
    assert f"Lakeside SIS: Portal: {NO_WRITE_PART}" in text_of(response)
    operator.post(page, form_of(application, []))
    assert not application.profiles.exists()


def test_profiles_are_found_by_typing(operator: Client, store: Store, application: Application) -> None:
    for name in ("Portal", "Other"):
        store(name, "Student", read=FIRST_NAME)
    field = {"app_label": "profiles", "model_name": "profileassignment", "field_name": "profile"}
    page = operator.get(f"/admin/security/application/{application.pk}/change/").content.decode()
    assert all(f'data-{name.replace("_", "-")}="{value}"' in page for name, value in field.items())

    found = operator.get("/admin/autocomplete/", {"term": "port", **field}).json()["results"]

    assert [each["text"] for each in found] == ["Portal"]


def test_an_unknown_choice_is_refused(operator: Client, application: Application) -> None:
    page = f"/admin/security/application/{application.pk}/change/"

    response = operator.post(page, form_of(application, [4711]))

    assert "Select a valid choice" in response.content.decode()


def test_who_may_only_view_an_application_sees_its_profiles(client: Client, store: Store, application) -> None:
    store("Portal", "Student", read=FIRST_NAME)
    assign_profiles(application, ["Portal"], by="tests")
    viewer = get_user_model().objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_application"))
    client.force_login(viewer)
    page = f"/admin/security/application/{application.pk}/change/"

    assert ">Portal</div>" in client.get(page).content.decode()
    assert client.post(page, form_of(application, [])).status_code == 403
    assert application.profiles.exists()


def form_of(application: Application, profiles: list[int]) -> dict[str, Any]:
    return {
        "vendor": application.vendor_id,
        "name": application.name,
        "claim_set": application.claim_set_id,
        "education_organization_ids": "255901",
        "api_profiles": profiles,
        "api_clients-TOTAL_FORMS": 0,
        "api_clients-INITIAL_FORMS": 0,
    }


@pytest.mark.usefixtures("transactional_db")
def test_changes_are_in_the_audit_log(client: Client, log) -> None:
    client.force_login(get_user_model().objects.create_superuser("operator"))
    create_client("Lakeside SIS", "SISVendor", [255901])
    application = Application.objects.get()
    save_definition(client, profile_xml("Student", FIRST_NAME, name="Portal"))
    portal = Profile.objects.get()
    page = f"/admin/security/application/{application.pk}/change/"
    client.post(page, form_of(application, [portal.pk]))
    client.post(page, form_of(application, []))
    client.post(page_of("Portal").replace("change", "delete"), {"post": "yes"})

    facts = ("event", "object", "application", "profiles", "by")
    lines = [[line[name] for name in facts if name in line] for line in log.of("meadowlark.audit")]
    assert lines[-6:] == [
        ["admin addition", "Portal", "admin:operator"],
        ["profiles assigned", "Lakeside SIS", "Portal", "admin:operator"],
        ["admin change", "Lakeside SIS", "admin:operator"],
        ["profiles assigned", "Lakeside SIS", "none", "admin:operator"],
        ["admin change", "Lakeside SIS", "admin:operator"],
        ["admin deletion", "Portal", "admin:operator"],
    ]
