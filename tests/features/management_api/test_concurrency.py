"""Requests at the same time: none fails with 500, and none leaves a half."""

from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Grant, Vendor
from edfi_api.features.management_api import clients
from edfi_api.features.management_api.models import ManagementClient, ManagementToken
from tests.features.management_api.managing import APPLICATION, SECRET, VENDOR, Managing, created_id, token_of
from tests.whole.concurrency.concurrently import at_once, in_background, wait_until_one_waits_for_us

CLAIM = {"claimName": "http://ed-fi.org/identity/claims/domains/people"}
CREATED, GONE, CONFLICT = (200, 201, 204), 404, 409
ROUNDS = 5


@pytest.fixture
def committing(configured, transactional_db) -> Managing:
    """A management client whose writes are committed."""
    configured(MANAGEMENT_REQUESTS_PER_MINUTE=0)
    return Managing(token_of("operator"))


def _import(management: Managing, name: str, action: str) -> Any:
    claims = [CLAIM | {"actions": [{"name": action}]}]
    return management.post("/v3/claimSets/import", {"claimSetName": name, "resourceClaims": claims})


def test_imports_of_one_name_make_one_claim_set(committing: Managing) -> None:
    for number in range(ROUNDS):
        name = f"Mine{number}"
        answers = at_once(*[partial(_import, committing, name, action) for action in ("Read", "Create")])

        assert {answer.status_code for answer in answers} == {201}
        [grant] = Grant.objects.filter(claim_set__name=name)
        assert grant.actions in (["Read"], ["Create"])


def test_a_claim_set_is_renamed_while_it_is_imported(committing: Managing) -> None:
    for number in range(ROUNDS):
        name = f"Mine{number}"
        id_ = _import(committing, name, "Read").json()["id"]
        renamed = {"id": id_, "claimSetName": f"Other{number}"}

        answers = at_once(
            partial(_import, committing, name, "Create"), partial(committing.put, f"/v3/claimSets/{id_}", renamed)
        )

        assert [answer.status_code for answer in answers] == [201, 204]
        sets = ClaimSet.objects.filter(name__in=[name, f"Other{number}"])
        grants = {each.name: [grant.actions for grant in each.grants.all()] for each in sets}
        # Whichever came first: renamed with the new grants, or renamed and a new one made.
        assert grants in (
            {f"Other{number}": [["Create"]]},
            {f"Other{number}": [["Read"]], name: [["Create"]]},
        )


def test_an_application_and_the_claim_set_it_names_find_each_other(committing: Managing) -> None:
    vendor = created_id(committing.post("/v3/vendors", VENDOR))
    for number in range(ROUNDS):
        name = f"Mine{number}"
        body = APPLICATION | {"vendorId": vendor, "applicationName": name, "claimSetName": name}

        answers = at_once(
            partial(committing.post, "/v3/applications", body), partial(_import, committing, name, "Read")
        )

        assert {answer.status_code for answer in answers} == {201}
        assert Application.objects.get(name=name).claim_set.name == name


def test_a_claim_set_is_removed_while_an_application_names_it(committing: Managing) -> None:
    vendor = created_id(committing.post("/v3/vendors", VENDOR))
    for number in range(ROUNDS):
        name = f"Mine{number}"
        id_ = _import(committing, name, "Read").json()["id"]
        body = APPLICATION | {"vendorId": vendor, "applicationName": name, "claimSetName": name}

        answers = at_once(
            partial(committing.post, "/v3/applications", body), partial(committing.delete, f"/v3/claimSets/{id_}")
        )

        assert {answer.status_code for answer in answers} <= {*CREATED, CONFLICT}
        left = Application.objects.filter(name=name).first()
        assert left is None or (left.claim_set is not None) == ClaimSet.objects.filter(pk=id_).exists()


def test_an_application_is_added_while_its_vendor_is_removed(committing: Managing) -> None:
    for _ in range(ROUNDS):
        vendor = created_id(committing.post("/v3/vendors", VENDOR))

        answers = at_once(
            partial(committing.post, "/v3/applications", APPLICATION | {"vendorId": vendor}),
            partial(committing.delete, f"/v3/vendors/{vendor}"),
        )

        assert {answer.status_code for answer in answers} <= {*CREATED, CONFLICT}
        assert Application.objects.filter(vendor=vendor).count() == ApiClient.objects.count()
        committing.delete(f"/v3/vendors/{vendor}")
        assert (Vendor.objects.count(), ApiClient.objects.count()) == (0, 0)


def test_an_application_is_moved_while_its_vendor_is_removed(committing: Managing) -> None:
    for number in range(ROUNDS):
        vendor = created_id(committing.post("/v3/vendors", VENDOR))
        other = created_id(committing.post("/v3/vendors", VENDOR | {"company": f"Other{number}"}))
        id_ = committing.post("/v3/applications", APPLICATION | {"vendorId": vendor}).json()["id"]
        moved = APPLICATION | {"id": id_, "vendorId": other}

        put, delete = at_once(
            partial(committing.put, f"/v3/applications/{id_}", moved),
            partial(committing.delete, f"/v3/vendors/{vendor}"),
        )

        assert put.status_code in (204, GONE, CONFLICT)
        assert delete.status_code in (204, CONFLICT)
        left = Application.objects.filter(pk=id_).first()
        assert ApiClient.objects.filter(application=id_).count() == (1 if left else 0)
        assert (left is not None and left.vendor_id == other) == (put.status_code == 204)
        committing.delete(f"/v3/vendors/{vendor}")
        assert not Vendor.objects.filter(pk=vendor).exists()


def test_a_claim_set_is_imported_while_all_claims_are_replaced(committing: Managing, configured) -> None:
    configured(MANAGEMENT_REQUESTS_PER_MINUTE=0, CLAIMS_UPLOAD=True)
    document = {"claims": committing.get("/management/current-claims").json()}
    bundled = set(ClaimSet.objects.values_list("name", flat=True))
    for number in range(2):
        name = f"Mine{number}"

        upload, import_ = at_once(
            partial(committing.post, "/management/upload-claims", document),
            partial(_import, committing, name, "Read"),
        )

        assert (upload.status_code, import_.status_code) == (200, 201)
        left = set(ClaimSet.objects.values_list("name", flat=True))
        assert left in (bundled, {*bundled, name})
        assert Grant.objects.filter(claim_set__name=name).count() == (1 if name in left else 0)


def test_a_claim_set_is_read_while_it_is_renamed(committing: Managing) -> None:
    id_ = _import(committing, "Mine", "Read").json()["id"]
    for number in range(ROUNDS):
        renamed = {"id": id_, "claimSetName": f"Mine{number}"}

        put, *answers = at_once(
            partial(committing.put, f"/v3/claimSets/{id_}", renamed),
            partial(committing.get, f"/v3/claimSets/{id_}"),
            partial(committing.get, f"/v2/claimSets/{id_}"),
            partial(committing.post, "/v3/claimSets/copy", {"originalId": id_, "claimSetName": f"Copy{number}"}),
        )

        assert [put.status_code, *(answer.status_code for answer in answers)] == [204, 200, 200, 201]
        assert all(len(answer.json()["resourceClaims"]) == 1 for answer in answers[:2])
        assert Grant.objects.filter(claim_set__name=f"Copy{number}").count() == 1


def test_names_of_ods_instances_and_types_of_their_derivatives_are_taken_once(committing: Managing) -> None:
    for number in range(ROUNDS):
        instance = {"name": f"Year{number}", "instanceType": "x", "connectionString": "main"}

        answers = at_once(*[partial(committing.post, "/v2/odsInstances", instance) for _ in range(2)])

        assert sorted(answer.status_code for answer in answers) == [201, 400]
        [refused] = [answer for answer in answers if answer.status_code == 400]
        assert refused.json()["errors"] == {
            "Name": ["An Ods Instance with this name already exists in the database. Please enter a unique name."]
        }
        store = DataStore.objects.get(name=f"Year{number}").pk
        derivative = {"odsInstanceId": store, "derivativeType": "Snapshot", "connectionString": "main"}
        answers = at_once(*[partial(committing.post, "/v2/odsInstanceDerivatives", derivative) for _ in range(2)])
        assert sorted(answer.status_code for answer in answers) == [201, 400]


def test_a_request_that_waits_too_long_for_another_is_answered_with_a_conflict(committing: Managing) -> None:
    vendor = created_id(committing.post("/v3/vendors", VENDOR))
    id_ = committing.post("/v3/applications", APPLICATION | {"vendorId": vendor}).json()["id"]

    def change() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        return committing.put(f"/v3/applications/{id_}", APPLICATION | {"id": id_, "vendorId": vendor})

    with transaction.atomic():
        Application.objects.select_for_update().get()
        answer = in_background(change).result(30)

    assert (answer.status_code, answer.json()) == (
        409,
        {
            "detail": "Unable to process the request due to a concurrent modification. Retry the request.",
            "type": "urn:ed-fi:api:conflict",
            "title": "Conflict",
            "status": 409,
            "correlationId": answer.json()["correlationId"],
            "validationErrors": {},
            "errors": [],
        },
    )
    assert change().status_code == 204


def test_no_management_token_is_issued_while_its_secret_is_replaced(committing: Managing) -> None:
    """The secret was right when it was checked; the token would outlast it."""
    form = {"client_id": "operator", "client_secret": SECRET, "grant_type": "client_credentials"}

    with transaction.atomic():
        clients.rotate_secret(ManagementClient.objects.get(key="operator"), by="tests")
        request = in_background(partial(Managing().form, "/connect/token", **form))
        wait_until_one_waits_for_us(request)

    answer = request.result(30)
    assert (answer.status_code, answer.json()["errors"]) == (
        401,
        ["invalid_client. Invalid client or Invalid client credentials"],
    )
    assert not ManagementToken.objects.exists()
