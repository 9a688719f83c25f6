"""Requests at the same time: none fails with 500, and none leaves a half."""

from functools import partial
from typing import Any

import pytest

from edfi_api.security.models import ApiClient, Application, ClaimSet, Grant, Vendor
from tests.concurrency.concurrently import at_once
from tests.management_api.conftest import APPLICATION, VENDOR, Managing, created_id, token_of

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
