"""Authorization of a write that is revoked by a concurrent transaction."""

from functools import partial

import pytest
from django.db import transaction

from edfi_api.common.conf import api_settings
from tests.core.security.strategies.scenario import Scenario
from tests.whole.concurrency.concurrently import at_once, in_background, wait_until_one_waits_for_us
from tests.whole.concurrency.integrity import assert_integrity


@pytest.fixture
def scenario(committing_api, documents):
    found = Scenario(committing_api, documents)
    found.district(1)
    found.school(11, 1)
    found.student("S")
    return found


def test_a_write_that_waited_is_authorized_against_the_new_state(scenario):
    """Another client changes the student and deletes its enrollment, after the waiting request has read the student."""
    enrollment = scenario.enroll("S", 11)
    sis = scenario.client("SISVendor", 1)
    body = scenario.body("Student", studentUniqueId="S")
    path = scenario.student("S")

    with transaction.atomic():
        assert scenario.api.post("/students", body | {"firstName": "Other"}).status_code == 200
        waiting = in_background(lambda: sis.put(path, body | {"firstName": "Ours", "id": path.rsplit("/", 1)[1]}))
        wait_until_one_waits_for_us(waiting)
        assert scenario.api.delete(enrollment).status_code == 204

    assert waiting.result().status_code == 403
    assert scenario.api.get(path).json()["firstName"] == "Other"


def test_a_key_change_that_waited_is_authorized_against_the_new_state(scenario):
    """The school leaves the district while an enrollment is moved to it."""
    scenario.school(12, 1)
    enrollment = scenario.enroll("S", 11)
    sis = scenario.client("SISVendor", 1)
    stored = sis.get(enrollment).json()

    with transaction.atomic():
        assert scenario.api.put(enrollment, stored | {"exitWithdrawDate": "2026-05-01"}).status_code == 204
        moving = in_background(lambda: sis.put(enrollment, stored | {"schoolReference": {"schoolId": 12}}))
        wait_until_one_waits_for_us(moving)
        scenario.school(12)

    assert moving.result().status_code == 403
    assert scenario.api.get(enrollment).json()["schoolReference"]["schoolId"] == 11


def test_a_delete_that_waited_is_authorized_against_the_new_state(scenario, surface):
    """The enrollment moves out of the district while it is deleted."""
    scenario.district(2)
    scenario.school(21, 2)
    enrollment = scenario.enroll("S", 11)
    sis = scenario.client("SISVendor", 1)
    stored = scenario.api.get(enrollment).json()

    with transaction.atomic():
        assert scenario.api.put(enrollment, stored | {"schoolReference": {"schoolId": 21}}).status_code == 204
        waiting = in_background(lambda: sis.delete(enrollment))
        wait_until_one_waits_for_us(waiting)

    assert waiting.result().status_code == 403
    assert scenario.api.get(enrollment).status_code == 200
    assert_integrity(surface)


@pytest.fixture
def _upserts_require_update(settings):
    settings.EDFI_API = {**settings.EDFI_API, "UPSERT_ASKS_UPDATE": True}
    yield
    api_settings.reload()


@pytest.mark.usefixtures("_upserts_require_update")
def test_a_post_of_a_document_created_concurrently_is_authorized_as_update(scenario):
    """The request starts as a Create, which is allowed for every student."""
    sis = scenario.client("SISVendor", 1)
    body = scenario.body("Student", studentUniqueId="New")

    with transaction.atomic():
        path = scenario.student("New")
        waiting = in_background(lambda: sis.post("/students", body | {"firstName": "Ours"}))
        wait_until_one_waits_for_us(waiting)

    assert waiting.result().status_code == 403
    assert scenario.api.get(path).json()["firstName"] == body["firstName"]


@pytest.mark.usefixtures("_upserts_require_update")
def test_one_of_two_concurrent_posts_creates_and_the_other_is_denied_the_update(scenario):
    sis = scenario.client("SISVendor", 1)
    bodies = [scenario.body("Student", studentUniqueId="New", firstName=name) for name in ("One", "Other")]

    for number in range(20):
        named = [body | {"studentUniqueId": f"New {number}"} for body in bodies]
        answers = at_once(*(partial(sis.post, "/students", body) for body in named))

        assert sorted(each.status_code for each in answers) == [201, 403]
        (stored,) = scenario.api.get(f"/students?studentUniqueId=New {number}").json()
        created = next(body for body, answer in zip(named, answers, strict=True) if answer.status_code == 201)
        assert stored["firstName"] == created["firstName"]
