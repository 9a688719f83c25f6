"""What allows a write goes while the write is under way."""

import pytest
from django.db import transaction

from tests.concurrency.together import in_background, wait_until_one_waits_for_us
from tests.security.strategies.world import World


@pytest.fixture
def world(committing_api, documents):
    found = World(committing_api, documents)
    found.district(1)
    found.school(11, 1)
    found.student("S")
    return found


def test_a_write_that_waited_is_held_against_what_is_there_then(world):
    """The other client changes the student and ends its enrollment; ours has read before it waited."""
    enrollment = world.enroll("S", 11)
    sis = world.client("SISVendor", 1)
    body = world.body("Student", studentUniqueId="S")
    path = world.student("S")

    with transaction.atomic():
        assert world.api.post("/students", body | {"firstName": "Other"}).status_code == 200
        ours = in_background(lambda: sis.put(path, body | {"firstName": "Ours", "id": path.rsplit("/", 1)[1]}))
        wait_until_one_waits_for_us(ours)
        assert world.api.delete(enrollment).status_code == 204

    assert ours.result().status_code == 403
    assert world.api.get(path).json()["firstName"] == "Other"


def test_a_key_change_that_waited_is_held_against_what_is_there_then(world):
    """The school leaves the district while an enrollment is being moved to it."""
    world.school(12, 1)
    enrollment = world.enroll("S", 11)
    sis = world.client("SISVendor", 1)
    stored = sis.get(enrollment).json()

    with transaction.atomic():
        assert world.api.put(enrollment, stored | {"exitWithdrawDate": "2026-05-01"}).status_code == 204
        moving = in_background(lambda: sis.put(enrollment, stored | {"schoolReference": {"schoolId": 12}}))
        wait_until_one_waits_for_us(moving)
        world.school(12)

    assert moving.result().status_code == 403
    assert world.api.get(enrollment).json()["schoolReference"]["schoolId"] == 11


def test_a_removal_that_waited_is_held_against_what_is_there_then(world):
    """The enrollment moves out of the district while it is being removed."""
    world.district(2)
    world.school(21, 2)
    enrollment = world.enroll("S", 11)
    sis = world.client("SISVendor", 1)
    stored = world.api.get(enrollment).json()

    with transaction.atomic():
        assert world.api.put(enrollment, stored | {"schoolReference": {"schoolId": 21}}).status_code == 204
        ours = in_background(lambda: sis.delete(enrollment))
        wait_until_one_waits_for_us(ours)

    assert ours.result().status_code == 403
    assert world.api.get(enrollment).status_code == 200
