"""The closure of the organization hierarchy under concurrent changes."""

import random

import pytest
from django.db import transaction

from edfi_api.core.models import Document
from tests.core.documents.organizations import Organizations, closure_of, stored_closure
from tests.whole.concurrency.concurrently import at_once, in_background, wait_until_one_waits_for_us

DISTRICTS = range(1, 6)
SCHOOLS = range(101, 106)


@pytest.fixture
def organizations(committing_api, documents, resource_named):
    found = Organizations(documents, resource_named("LocalEducationAgency"), resource_named("School"))
    found.store_descriptors()
    for district in DISTRICTS:
        assert committing_api.post("/localEducationAgencies", found.district(district)).status_code == 201
    return found


def expected_closure():
    hierarchies = Document.objects.filter(hierarchy__isnull=False).values_list("hierarchy", flat=True)
    return closure_of({own: above for own, *above in hierarchies})


def test_a_school_added_to_a_moving_district_is_below_the_new_parent(committing_api, organizations):
    with transaction.atomic():
        assert committing_api.post("/localEducationAgencies", organizations.district(1, 2)).status_code == 200
        joining = in_background(lambda: committing_api.post("/schools", organizations.school(101, 1)))
        wait_until_one_waits_for_us(joining)

    assert joining.result().status_code == 201
    assert (2, 101) in stored_closure()
    assert stored_closure() == expected_closure()


def test_a_district_that_moves_while_a_school_is_added_moves_it_too(committing_api, organizations):
    with transaction.atomic():
        assert committing_api.post("/schools", organizations.school(101, 1)).status_code == 201
        moving = in_background(lambda: committing_api.post("/localEducationAgencies", organizations.district(1, 2)))
        wait_until_one_waits_for_us(moving)

    assert moving.result().status_code == 200
    assert (2, 101) in stored_closure()
    assert stored_closure() == expected_closure()


def test_closure_is_consistent_after_many_concurrent_changes(committing_api, organizations):
    def client(seed):
        chance = random.Random(seed)  # noqa: S311

        def change_some():
            for _ in range(15):
                parent = chance.choice([None, *DISTRICTS])
                if chance.random() < 0.5:
                    body = organizations.district(chance.choice(DISTRICTS), parent)
                    answer = committing_api.post("/localEducationAgencies", body)
                else:
                    answer = committing_api.post("/schools", organizations.school(chance.choice(SCHOOLS), parent))
                assert answer.status_code in (200, 201), answer.content

        return change_some

    at_once(*(client(seed) for seed in range(4)))

    assert stored_closure() == expected_closure()
