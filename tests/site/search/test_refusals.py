"""The search of the admin among refused writes, findings, vendors and clients."""

import pytest

from edfi_api.core.security.models import Application, Vendor
from edfi_api.features.refusals.models import Refusal
from tests.conftest import ApiTestClient, new_token
from tests.site.search.conftest import answer, found, search
from tests.support.class_periods import PERIOD, store_school
from tests.support.factories import STUDENT

NAMED = "view_refusal", "view_refusal_keys"


@pytest.fixture
def finch(db) -> ApiTestClient:
    """The client of a vendor whose name its own has, too."""
    return ApiTestClient(new_token("Finch Rosters"))


@pytest.fixture
def enrolment_refused(api, finch, refused, documents, resource_named):
    """An enrolment of a student who was never accepted, at a school that is there."""
    documents.store(resource_named("StudentSchoolAssociation"))
    store_school(api, 7)
    [enrolment] = api.get("/studentSchoolAssociations").json()
    kept = {name: value for name, value in enrolment.items() if name not in {"id", "_etag", "_lastModifiedDate"}}
    body = kept | {"studentReference": {"studentUniqueId": "91002"}, "schoolReference": {"schoolId": 7}}
    assert finch.post("/studentSchoolAssociations", body).status_code == 409
    [entry] = refused()
    return entry


def test_what_was_never_accepted_is_answered_by_the_write_that_names_it(steward, enrolment_refused):
    assert answer(steward, "91002") == (
        "No student 91002 here. One refused write names it: enrolment at School 7, sent by Finch Rosters, open."
    )
    assert list(found(steward, "91002")) == ["Refused writes"]


def test_several_writes_are_counted(steward, api, enrolment_refused, refused):
    assert api.post("/students", STUDENT | {"studentUniqueId": "91002", "birthDate": "never"}).status_code == 400
    refused()

    assert answer(steward, "91002") == "No student 91002 here. 2 refused writes name it."
    assert len(found(steward, "91002")["Refused writes"]) == 2


def test_what_is_stored_is_found_with_the_writes_that_were_refused(steward, api, enrolment_refused, refused):
    api.post("/students", STUDENT | {"studentUniqueId": "91002"})

    assert answer(steward, "91002") == ""
    assert list(found(steward, "ortiz")) == ["People", "Refused writes"]
    assert list(found(steward, "91002")) == ["People", "Refused writes"]


def test_refusals_are_found_with_the_permission_to_see_what_they_name(user_with, enrolment_refused):
    with_keys, without = user_with(*NAMED), user_with("view_refusal", "view_document")

    assert answer(with_keys, "91002") == (
        "One refused write names student 91002: enrolment at School 7, sent by Finch Rosters, open."
    )
    assert "refused" not in search(without, "91002").partition("<h1")[2].lower()
    assert found(user_with("view_document"), "91002") == {}
    assert found(without, enrolment_refused.correlation_id) == {"Refused writes": [enrolment_refused.title]}


def test_hashed_keys_find_the_writes_too(steward, settings, api, refused):
    settings.EDFI_API = settings.EDFI_API | {"REFUSAL_KEYS": "hashed"}
    api.post("/classPeriods", PERIOD)
    refused()

    assert answer(steward, "7") == ("No school 7 here. One refused write names it: class period, sent by tests, open.")
    assert Refusal.objects.get().natural_key is None


def test_vendors_applications_and_clients_are_found_by_name(steward, user_with, enrolment_refused):
    application = Application.objects.get(api_clients__name="Finch Rosters")
    Vendor.objects.filter(pk=application.vendor_id).update(name="Finch Systems, Inc.")

    assert found(steward, "systems finch") == {
        "Vendors, applications and clients": ["Finch Systems, Inc."],
        "Refused writes by client": ["Finch Rosters"],
    }
    assert found(steward, "finch")["Vendors, applications and clients"] == [
        "Finch Systems, Inc.",
        "Finch Rosters",
        "Finch Rosters",
    ]
    assert found(steward, application.name)["Vendors, applications and clients"][0] == application.name
    assert found(user_with("view_vendor"), "finch") == {"Vendors, applications and clients": ["Finch Systems, Inc."]}
    assert found(user_with("view_document"), "finch") == {}
