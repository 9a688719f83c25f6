"""The page of the admin that shows what an API client may do, and why."""

import re
from html import unescape

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient, Application, ClaimSet
from tests.core.security.claim_tree import TREE, grant
from tests.support.admin_users import member

pytestmark = pytest.mark.django_db
GRANTS = [
    grant("domains/top", "Read", "Update"),
    grant("domains/middle", "Delete", strategies={"Delete": ["NoFurtherAuthorizationRequired"]}),
    grant("ed-fi/school", "Create", "Read", strategies={"Create": ["NamespaceBased"]}),
]


@pytest.fixture
def address():
    file = {"resourceClaims": [TREE], "claimSets": [{"name": "Test", "grants": GRANTS}]}
    load(read_claims(orjson.dumps(file)), by="tests")
    create_client("Lakeside", "Test", [255901], ["uri://lakeside.example"])
    return f"/admin/security/apiclient/{ApiClient.objects.get().pk}/permissions/"


_PEOPLE = "ed-fi/staff (Staff), ed-fi/student (Students)"


def rows(page: str) -> list[list[str]]:
    found = [
        re.findall(r"<td>\s*(.*?)\s*</td>", row, re.DOTALL) for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    ]
    return [[unescape(cell) for cell in row] for row in found if row]


def test_each_action_has_its_strategies_and_the_claims_they_come_from(operator, address):
    page = operator.get(address).content.decode()

    assert rows(page) == [
        ["ed-fi/school (Schools)", "Create", "NamespaceBased", "ed-fi/school", "the grant"],
        ["ed-fi/school (Schools)", "Read", "Top", "ed-fi/school", "defaults of domains/top"],
        ["ed-fi/school (Schools)", "Update", "none: refused", "domains/top", "-"],
        [_PEOPLE, "Read", "Middle", "domains/top", "defaults of domains/middle"],
        [_PEOPLE, "Update", "none: refused", "domains/top", "-"],
        [_PEOPLE, "Delete", "NoFurtherAuthorizationRequired", "domains/middle", "the grant"],
    ]
    assert "255901" in page
    assert "uri://lakeside.example" in page


def test_the_page_of_the_client_links_to_it(operator, address):
    assert address in operator.get(address.replace("permissions", "change")).content.decode()


def test_it_says_that_a_client_is_inactive_or_has_no_claim_set(operator, address):
    ApiClient.objects.update(is_active=False)
    Application.objects.update(claim_set=None, claim_set_name="Later")

    page = operator.get(address).content.decode()

    assert "inactive or expired" in page
    assert rows(page) == []
    assert "Nothing." in page


def test_queries_do_not_grow_with_the_claim_set(operator, address):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert operator.get(address).status_code == 200
        return len(captured)

    small = queries()
    sandbox = ClaimSet.objects.get(name="EdFiSandbox")
    Application.objects.update(claim_set=sandbox, claim_set_name=sandbox.name)

    assert queries() == small <= 12


def test_users_who_may_not_view_claim_sets_are_refused(address):
    steward = member("steward")

    assert steward.get(address).status_code == 403
    assert address not in steward.get(address.replace("permissions", "change")).content.decode()


def test_a_client_that_there_is_not(operator, address):
    assert operator.get("/admin/security/apiclient/999999/permissions/").status_code == 404
