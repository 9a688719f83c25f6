"""Claim sets are copied, exported and imported in the admin, and the tree of resource claims is a page."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load, stored_claims
from edfi_api.core.security.models import ClaimSet, ResourceClaim
from tests.core.security.claim_tree import TREE, grant
from tests.support.admin_users import client_of, member
from tests.support.logs import Log

pytestmark = pytest.mark.django_db
SETS = "/admin/security/claimset/"
TREE_PAGE = "/admin/security/resourceclaim/tree/"
URI = "http://ed-fi.org/identity/claims/"
STUDENT = {
    "claimName": f"{URI}ed-fi/student",
    "actions": [{"name": "Read"}, {"name": "Create"}],
    "authorizationStrategyOverrides": [
        {"actionName": "Read", "authorizationStrategies": [{"authStrategyName": "NamespaceBased"}]}
    ],
}
GRANTED = {"ed-fi/student": {"Create": (), "Read": ("NamespaceBased",)}}
TAKEN = "There is a claim set SISVendor already. Names of claim sets are unique in any case."


def messages(response: HttpResponse) -> list[str]:
    found = re.findall(r'<li class="(?:success|warning)">(.*?)</li>', response.content.decode(), re.DOTALL)
    return [unescape(each) for each in found]


def errors(response: HttpResponse) -> list[str]:
    assert response.status_code == 200
    found = re.findall(r'<ul class="errorlist[^>]*>(.*?)</ul>', response.content.decode(), re.DOTALL)
    return [unescape(text) for each in found for text in re.findall(r"<li>(.*?)</li>", each)]


def imported(client: Client, file: Any, **fields: str) -> HttpResponse:
    content = file if isinstance(file, bytes) else json.dumps(file).encode()
    return client.post(f"{SETS}import/", {"file": SimpleUploadedFile("Mine.json", content)} | fields, follow=True)


def granted(name: str) -> dict[str, Any]:
    return stored_claims().claim_sets[name].grants


def test_a_claim_set_is_copied(operator: Client, log: Log) -> None:
    original = ClaimSet.objects.get(name="RosterVendor")
    assert f'href="{SETS}{original.pk}/copy/"' in operator.get(f"{SETS}{original.pk}/change/").content.decode()

    response = operator.post(f"{SETS}{original.pk}/copy/", {"name": "Roster"}, follow=True)

    copy = ClaimSet.objects.get(name="Roster")
    assert response.redirect_chain == [(f"{SETS}{copy.pk}/change/", 302)]
    assert messages(response) == ["Roster grants what RosterVendor grants."]
    assert granted("Roster") == granted("RosterVendor")
    assert len(granted("Roster")) > 5
    assert not copy.is_system_reserved
    assert [(line["event"], line["by"]) for line in log.audit if line["event"] == "claims changed"] == [
        ("claims changed", "admin:operator")
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", "This field is required."),
        ("sisvendor", TAKEN),
        ("x" * 257, "Ensure this value has at most 256 characters (it has 257)."),
        ("a\x1fb", "A name is one line without control characters, and not blank."),
    ],
)
def test_names_that_no_copy_can_have(operator: Client, name: str, text: str) -> None:
    original = ClaimSet.objects.get(name="RosterVendor")

    assert text in errors(operator.post(f"{SETS}{original.pk}/copy/", {"name": name}))
    assert operator.get(f"{SETS}99999/copy/").status_code == 404


def test_a_new_claim_set_has_no_name_of_another_in_other_case(operator: Client) -> None:
    form = {"name": "SISVENDOR", "grants-TOTAL_FORMS": 0, "grants-INITIAL_FORMS": 0}

    page = operator.post(f"{SETS}add/", form)

    assert errors(page) == [TAKEN]


def test_an_export_is_a_file_that_is_imported_under_another_name(operator: Client) -> None:
    original = ClaimSet.objects.get(name="RosterVendor")

    file = operator.get(f"{SETS}{original.pk}/export/")

    assert file.headers["Content-Disposition"] == 'attachment; filename="RosterVendor.json"'
    assert file.json()["claimSetName"] == "RosterVendor"
    response = imported(operator, file.content, name="Again")
    assert messages(response) == ["Again was imported."]
    assert granted("Again") == granted("RosterVendor")


def test_an_import_makes_a_claim_set_and_replaces_it_only_if_asked(operator: Client) -> None:
    people = {"claimName": f"{URI}domains/people", "actions": [{"name": "Read"}]}
    imported(operator, {"claimSetName": "Mine", "resourceClaims": [people]})
    assert granted("Mine") == {"domains/people": {"Read": ()}}
    file = {"claimSetName": "MINE", "resourceClaims": [STUDENT]}

    assert errors(imported(operator, file)) == [
        "There is a claim set of this name. Choose another name, or replace it."
    ]
    assert granted("Mine") == {"domains/people": {"Read": ()}}
    assert messages(imported(operator, file, replace="on")) == ["Mine was imported."]
    assert granted("Mine") == GRANTED


def test_an_import_says_what_it_leaves_out(operator: Client) -> None:
    nothing = STUDENT | {"claimName": f"{URI}domains/nothing"}
    misplaced = STUDENT | {"parentClaimName": f"{URI}domains/other"}

    response = imported(operator, {"claimSetName": "Mine", "resourceClaims": [nothing, misplaced]})

    assert messages(response) == [
        f"There is no resource claim {URI}domains/nothing: what is granted on it is left out.",
        f"Child resource '{URI}ed-fi/student' added to the wrong parent resource. Correct parent resource is: "
        f"'{URI}domains/people'.",
        "Mine was imported.",
    ]
    assert granted("Mine") == GRANTED


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (b"", "The submitted file is empty."),
        (b"{", "It is not JSON: unexpected end of data: line 1 column 2 (char 1)."),
        (b"\xff", "It is not JSON: str is not valid UTF-8: surrogates not allowed: line 1 column 1 (char 0)."),
        ([], "It is not a claim set: a JSON object with claimSetName and resourceClaims, as an export is."),
        (
            {"claimSetName": "Mine"},
            "It is not a claim set: a JSON object with claimSetName and resourceClaims, as an export is.",
        ),
        (
            {"claimSetName": 7, "resourceClaims": []},
            "It is not a claim set: a JSON object with claimSetName and resourceClaims, as an export is.",
        ),
        ({"resourceClaims": []}, "This field cannot be blank."),
        (
            {"claimSetName": "a\x00b", "resourceClaims": []},
            "Null characters are not allowed.",
        ),
        (
            {"claimSetName": "x" * 257, "resourceClaims": []},
            "Ensure this value has at most 256 characters (it has 257).",
        ),
        (
            {"claimSetName": "Mine", "resourceClaims": {}},
            "Its resource claims cannot be read: resourceclaims is not a list of objects.",
        ),
        (
            {"claimSetName": "Mine", "resourceClaims": [{"actions": []}]},
            "Its resource claims cannot be read: a resource claim has no name.",
        ),
        (
            {"claimSetName": "Mine", "resourceClaims": [STUDENT | {"actions": [{"name": "Fly"}]}]},
            f"Fly is not a valid action. Resource name: '{URI}ed-fi/student'",
        ),
    ],
)
def test_files_that_are_not_imported(operator: Client, file: Any, text: str) -> None:
    before = ClaimSet.objects.count()

    assert text in errors(imported(operator, file))
    assert ClaimSet.objects.count() == before


def test_a_file_that_is_too_long_is_not_read(operator: Client, settings: Any) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "MAX_BODY_BYTES": 10}

    assert errors(imported(operator, {"claimSetName": "Mine", "resourceClaims": []})) == ["It has more than 10 bytes."]


def test_who_may_export_copy_and_import(client: Client) -> None:
    claim_set = ClaimSet.objects.get(name="RosterVendor").pk
    addresses = [f"{SETS}{claim_set}/export/", f"{SETS}{claim_set}/copy/", f"{SETS}import/", TREE_PAGE]

    statuses = {
        group: [client_.get(address).status_code for address in addresses]
        for group in ("operator", "steward", "auditor")
        for client_ in [member(group)]
    }

    assert statuses == {
        "operator": [200, 200, 200, 200],
        "steward": [403, 403, 403, 403],
        "auditor": [200, 403, 403, 200],
    }
    assert {client.get(address).status_code for address in addresses} == {302}


def test_without_the_permission_to_change_nothing_is_replaced() -> None:
    user = User.objects.create(username="maker", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["add_claimset", "add_grant"]))
    ClaimSet.objects.create(name="Mine")

    page = imported(client_of(user), {"claimSetName": "Mine", "resourceClaims": [STUDENT]}, replace="on")

    assert errors(page) == ["There is a claim set of this name. Choose another name, or replace it."]
    assert granted("Mine") == {}


class _Lines(HTMLParser):
    """The text of each line of a list, with the depth of the list around it."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.lines: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.depth += tag == "ul"

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "ul"

    def handle_data(self, data: str) -> None:
        if data.strip() and self.depth:
            self.lines.append((self.depth, data.strip()))


def tree(page: HttpResponse) -> list[tuple[int, str]]:
    assert page.status_code == 200
    parser = _Lines()
    text = page.content.decode()
    parser.feed(text[text.index("<p>Strategies are the defaults") :])
    return parser.lines


@pytest.fixture
def own_tree() -> None:
    ClaimSet.objects.all().delete()
    ResourceClaim.objects.update(parent=None)
    ResourceClaim.objects.all().delete()
    sets = [
        {"name": "A", "grants": [grant("domains/top", "Read", "Update")]},
        {
            "name": "B",
            "grants": [
                grant("domains/top", "Create", "Read", "Delete", strategies={"Read": ["NamespaceBased"]}),
                grant("ed-fi/school", "Read"),
            ],
        },
    ]
    load(read_claims(orjson.dumps({"resourceClaims": [TREE], "claimSets": sets})), by="tests")


@pytest.mark.usefixtures("own_tree")
def test_the_tree_shows_strategies_and_grants(operator: Client) -> None:
    assert tree(operator.get(TREE_PAGE)) == [
        (1, "domains/top"),
        (1, "Create, Read: Top"),
        (1, "A: Read, Update"),
        (1, "B: Create, Delete; Read by NamespaceBased"),
        (1, "Below domains/top"),
        (2, "domains/middle"),
        (2, "Create: Top (from domains/top)"),
        (2, "Read: Middle"),
        (2, "Below domains/middle"),
        (3, "ed-fi/staff"),
        (3, "Staff"),
        (3, "Create: Top (from domains/top)"),
        (3, "Read: Middle (from domains/middle)"),
        (3, "ed-fi/student"),
        (3, "Students"),
        (3, "Create: Top (from domains/top)"),
        (3, "Read: Middle (from domains/middle)"),
        (3, "Delete: Leaf"),
        (2, "ed-fi/school"),
        (2, "Schools"),
        (2, "Create, Read: Top (from domains/top)"),
        (2, "B: Read"),
    ]


@pytest.mark.usefixtures("own_tree")
def test_the_tree_shows_the_grants_of_one_claim_set(operator: Client) -> None:
    page = operator.get(TREE_PAGE, {"claim_set": ClaimSet.objects.get(name="B").pk})

    assert [line for _, line in tree(page) if line.startswith(("A:", "B:"))] == [
        "B: Create, Delete; Read by NamespaceBased",
        "B: Read",
    ]
    for unknown in ("99999", "x", "9" * 30):
        assert operator.get(TREE_PAGE, {"claim_set": unknown}).status_code == 404


@pytest.mark.usefixtures("own_tree")
def test_the_tree_is_read_in_few_queries_and_shows_some_of_many_grants(operator: Client) -> None:
    with CaptureQueriesContext(connection) as of_two:
        operator.get(TREE_PAGE)
    sets = [{"name": f"C{number}", "grants": [grant("ed-fi/student", "Read")]} for number in range(30)]
    load(read_claims(orjson.dumps({"claimSets": sets})), by="tests")

    with CaptureQueriesContext(connection) as of_many:
        page = operator.get(TREE_PAGE)

    assert len(of_many) == len(of_two) <= 14
    lines = [line for _, line in tree(page)]
    assert len([line for line in lines if re.match(r"C\d+: Read$", line)]) == 25
    assert "and 5 more claim sets" in lines
