"""Two requests on the same documents, the first blocked before its end: every pair, with commit and rollback."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from tests.whole.concurrency.concurrently import answer_after
from tests.whole.concurrency.conftest import SmallSchool
from tests.whole.concurrency.integrity import assert_integrity


@dataclass
class Requests:
    """The requests of the two clients. Stored are P1, P2, and schedule S1, which refers to P2."""

    school: SmallSchool
    s1: str
    p1: str
    p2: str
    one_id_two_organizations: tuple[dict, dict]

    def post_referrer(self):
        return self.school.post_schedule("S2", "P1")

    def put_s1_to_p1(self):
        return self.school.put_schedule(self.s1, "S1", "P1")

    def post_s1_to_p1(self):
        return self.school.post_schedule("S1", "P1")

    def put_s1_to_both(self):
        return self.school.put_schedule(self.s1, "S1", "P1", "P2")

    def change_s1(self):
        return self.school.post_schedule("S1", "P2", totalInstructionalTime=1)

    def put_s1(self):
        return self.school.put_schedule(self.s1, "S1", "P2", totalInstructionalTime=2)

    def post_p1_changed(self):
        return self.school.post_period("P1", officialAttendancePeriod=True)

    def post_p3(self):
        return self.school.post_period("P3")

    def post_p3_otherwise(self):
        return self.school.post_period("P3", officialAttendancePeriod=True)

    def delete_s1(self):
        return self.school.api.delete(self.s1)

    def delete_p1(self):
        return self.school.api.delete(self.p1)

    def delete_p2(self):
        return self.school.api.delete(self.p2)

    def replace_p1(self):
        self.delete_p1()
        return self.school.post_period("P1")

    def rename_p1(self):
        return self.school.put_period(self.p1, "P3")

    def rename_p2(self):
        return self.school.put_period(self.p2, "P3")

    def post_school(self):
        return self.school.api.post("/schools", self.one_id_two_organizations[0])

    def post_agency(self):
        return self.school.api.post("/localEducationAgencies", self.one_id_two_organizations[1])


class Pair(NamedTuple):
    """Two requests, and the status of the second after a commit or a rollback of the first."""

    first: str
    second: str
    if_committed: int
    if_rolled_back: int


PAIRS = [
    # a new reference against the removal of its target
    Pair("post_referrer", "delete_p1", 409, 204),
    Pair("delete_p1", "post_referrer", 409, 201),
    Pair("put_s1_to_p1", "delete_p1", 409, 204),
    Pair("delete_p1", "put_s1_to_p1", 409, 204),
    Pair("post_s1_to_p1", "delete_p1", 409, 204),
    Pair("delete_p1", "post_s1_to_p1", 409, 200),
    Pair("put_s1_to_both", "delete_p1", 409, 204),
    Pair("delete_p1", "put_s1_to_both", 409, 204),
    # the last reference is removed while its target is deleted
    Pair("put_s1_to_p1", "delete_p2", 204, 409),
    Pair("post_s1_to_p1", "delete_p2", 204, 409),
    Pair("delete_s1", "delete_p2", 204, 409),
    # the target is deleted and created again
    Pair("replace_p1", "post_referrer", 201, 201),
    Pair("replace_p1", "delete_p1", 404, 204),
    Pair("replace_p1", "post_p1_changed", 200, 200),
    # two documents with one identity
    Pair("post_p3", "post_p3", 200, 201),
    Pair("post_p3", "post_p3_otherwise", 200, 201),
    Pair("post_school", "post_agency", 409, 201),
    Pair("post_agency", "post_school", 409, 201),
    # one document changed and deleted
    Pair("put_s1", "change_s1", 200, 200),
    Pair("change_s1", "put_s1", 204, 204),
    Pair("put_s1_to_p1", "put_s1_to_both", 204, 204),
    Pair("put_s1_to_both", "change_s1", 200, 200),
    Pair("put_s1", "delete_s1", 204, 204),
    Pair("delete_s1", "put_s1", 404, 204),
    Pair("delete_s1", "change_s1", 201, 200),
    Pair("delete_s1", "delete_s1", 404, 204),
    # an identity change cascades to its referrers
    Pair("rename_p1", "post_referrer", 409, 201),
    Pair("post_referrer", "rename_p1", 204, 204),
    Pair("rename_p1", "put_s1_to_both", 409, 204),
    Pair("put_s1_to_both", "rename_p1", 204, 204),
    Pair("rename_p2", "change_s1", 409, 200),
    Pair("change_s1", "rename_p2", 204, 204),
    Pair("rename_p2", "put_s1_to_p1", 204, 204),
    Pair("put_s1_to_p1", "rename_p2", 204, 204),
    Pair("rename_p2", "delete_s1", 204, 204),
    Pair("delete_s1", "rename_p2", 204, 204),
    Pair("rename_p1", "delete_p1", 204, 204),
    Pair("delete_p1", "rename_p1", 404, 204),
    Pair("rename_p1", "post_p1_changed", 201, 200),
    Pair("rename_p1", "post_p3_otherwise", 200, 201),
    Pair("post_p3", "rename_p1", 409, 204),
    Pair("rename_p1", "rename_p2", 409, 204),
    Pair("rename_p2", "rename_p1", 409, 204),
]


@pytest.fixture
def requests(small_school, path_of, documents, resource_named):
    p1, p2 = path_of(small_school.post_period("P1")), path_of(small_school.post_period("P2"))
    s1 = path_of(small_school.post_schedule("S1", "P2"))
    agency, school = resource_named("LocalEducationAgency"), resource_named("School")
    bodies = documents.minimal_body(school, schoolId=7), documents.minimal_body(agency, localEducationAgencyId=7)
    documents.store_targets(agency, bodies[1])
    return Requests(small_school, s1, p1, p2, bodies)


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "taken back"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.first}, {pair.second}")
def test_the_second_request_waits_for_the_first_and_depends_on_its_outcome(requests, surface, pair, is_committed):
    first, second = getattr(requests, pair.first), getattr(requests, pair.second)

    answer = answer_after(first, second, is_committed=is_committed)

    assert answer.status_code == (pair.if_committed if is_committed else pair.if_rolled_back), answer.content
    assert_integrity(surface)
