"""Claim set, relation of the client to a document, and request → the answer with its body.

The documents belong to school 11 of district 1: a calendar, a student enrolled there, the enrollment; and there is an
assessment of `uri://ed-fi.org`. Another client has created them. They are requested singly and in collections.
"""

from typing import Any

import pytest
from django.http import HttpResponse

from tests.core.security.strategies.denials import DENIED, problem
from tests.core.security.strategies.scenario import Scenario

RELATIONS: dict[str, dict[str, Any]] = {
    "the school itself": {"organizations": (11,), "prefixes": ("uri://ed-fi.org",)},
    "the district above": {"organizations": (1,), "prefixes": ("uri://ed-fi.org/", "uri://other.example")},
    "a school beside": {"organizations": (12,), "prefixes": ("uri://other.example",)},
    "another district": {"organizations": (2, 21), "prefixes": ("URI://ED-FI.ORG",)},
    "nobody": {"organizations": (), "prefixes": ()},
}
RESOURCES = ("Calendar", "Student", "StudentSchoolAssociation", "Assessment")
# Answers to Create, Read, Update and Delete: + allowed, - without a claim, . not granted, c referenced by other
# documents; unrelated school (s), person (p) or both (b); namespace mismatch (n), no prefixes (0); another owner (o).
MATRIX = """
                                       Calendar Student StudentSchoolAssociation Assessment
EdFiSandbox     the school itself      ++++     +++c    ++++                     ++++
EdFiSandbox     nobody                 ++++     +++c    ++++                     ++++
SISVendor       the school itself      ++++     +++c    ++++                     ++++
SISVendor       the district above     ++++     +++c    ++++                     ++++
SISVendor       a school beside        ssss     +ppc    sbbb                     nnnn
SISVendor       another district       ssss     +ppc    sbbb                     nnnn
SISVendor       nobody                 ssss     +ppc    sbbb                     0000
RosterVendor    the district above     ----     .+..    .+..                     ----
RosterVendor    a school beside        ----     .p..    .b..                     ----
AssessmentVendor the school itself     .+..     .+..    ----                     ++++
AssessmentVendor another district      .s..     .p..    ----                     nnnn
OwnershipBased  the school itself      oooo     oooo    oooo                     oooo
"""
AUTHORIZATION = "urn:ed-fi:api:security:authorization"
NO_ORGANIZATIONS = ":relationships:invalid-client:no-education-organizations"
NOT_GRANTED = "Access to the resource could not be authorized."
HINT = f"{DENIED} Hint: You may need to create a corresponding 'StudentSchoolAssociation' item."
UNRELATED = "No relationships have been established between the caller's education organization id {claims} and "
# Type, detail and errors.
DENIALS = {
    "-": (":access-denied:resource", NOT_GRANTED),
    ".": (
        ":access-denied:action",
        NOT_GRANTED,
        "The API client's assigned claim set (currently '{claim_set}') must grant permission of the '{action}' action "
        "on one of the following resource claims: {name}",
    ),
    "s": ("", DENIED, f"{UNRELATED}the resource item's 'SchoolId' value."),
    "p": ("", HINT, f"{UNRELATED}the resource item's 'StudentUniqueId' value."),
    "b": (
        "",
        HINT,
        f"{UNRELATED}one or more of the following properties of the resource item: 'SchoolId', 'StudentUniqueId'.",
    ),
    "n": (
        ":namespace:access-denied:namespace-mismatch",
        f"{DENIED} The existing 'Namespace' value of the data does not start with any of the caller's associated "
        "namespace prefixes ({prefixes}).",
    ),
    "0": (
        ":namespace:invalid-client:no-namespaces",
        "There was a problem authorizing the request. The caller has not been configured correctly for accessing "
        "resources authorized by Namespace.",
        "The API client has been given permissions on a resource that uses the 'NamespaceBased' authorization strategy "
        "but the client doesn't have any namespace prefixes assigned.",
    ),
    "o": (":ownership:access-denied:ownership-mismatch", f"{DENIED} The item is not owned by the caller."),
}


def rows() -> list[tuple[str, str, dict[str, str]]]:
    found = []
    for line in MATRIX.strip("\n").splitlines()[1:]:
        claim_set, rest = line.split(maxsplit=1)
        relation = next(each for each in RELATIONS if rest.startswith(each))
        cells = rest.removeprefix(relation).split()
        found.append((claim_set, relation, dict(zip(RESOURCES, cells, strict=True))))
    return found


@pytest.fixture
def paths(scenario: Scenario) -> dict[str, str]:
    student = scenario.student("S")
    enrollment = scenario.enroll("S", 11)
    calendar = scenario.calendar("C", 11)
    assessment = scenario.post("Assessment", namespace="uri://ed-fi.org/Assessment")
    return dict(zip(RESOURCES, (calendar, student, enrollment, assessment), strict=True))


@pytest.mark.parametrize(("claim_set", "relation", "cells"), rows())
def test_actions_granted_by_claim_set_and_owner(
    scenario: Scenario, paths: dict[str, str], claim_set: str, relation: str, cells: dict[str, str]
) -> None:
    near = RELATIONS[relation]
    client = scenario.client(claim_set, *near["organizations"], prefixes=near["prefixes"])
    for name in RESOURCES:
        codes = cells[name]
        path, collection = paths[name], scenario.endpoint(name)
        id_, body = path.rsplit("/", 1)[1], body_of(scenario, path)
        assert_lists(client.get(f"{collection}?totalCount=true"), codes, id_, near)
        requests = {
            "Create": ("post", collection, body, 200),
            "Read": ("get", path, None, 200),
            "Update": ("put", path, body | {"id": id_}, 204),
            "Delete": ("delete", path, None, 204),
        }
        for (action, (method, place, sent, allowed)), code in zip(requests.items(), codes, strict=True):
            answer = client.request(method, place, sent)
            if code == "+":
                assert answer.status_code == allowed, (action, answer.content)
            elif code == "c":
                assert answer.status_code == 409
                assert answer.json()["type"] == "urn:ed-fi:api:data-conflict:dependent-item-exists"
            else:
                assert problem(answer) == denial(code, claim_set, name, action, near)
        if codes.endswith("+"):
            assert scenario.api.post(collection, body).status_code == 201  # for the next requests


def body_of(scenario: Scenario, path: str) -> dict[str, Any]:
    return {name: value for name, value in scenario.api.get(path).json().items() if name != "id" and name[0] != "_"}


def assert_lists(answer: HttpResponse, codes: str, id_: str, near: dict[str, Any]) -> None:
    """A collection contains the documents that may be read singly; it is refused only if it must always be empty."""
    match codes[1]:
        case "+":
            shown = [each["id"] for each in answer.json()]
            assert (id_ in shown, answer["Total-Count"]) == (True, str(len(shown)))
        case "." | "-" | "0":
            assert answer.status_code == 403
        case "s" | "p" | "b" if not near["organizations"]:
            assert (answer.status_code, answer.json()["type"]) == (403, f"{AUTHORIZATION}{NO_ORGANIZATIONS}")
        case _:
            assert (answer.json(), answer["Total-Count"]) == ([], "0")


def denial(code: str, claim_set: str, name: str, action: str, near: dict[str, Any]) -> dict[str, Any]:
    ids, prefixes = (", ".join(f"'{each}'" for each in near[what]) for what in ("organizations", "prefixes"))
    claims = f"claim ({ids})" if len(near["organizations"]) == 1 else f"claims ({ids or 'none'})"
    facts = {"claim_set": claim_set, "name": name, "action": action, "claims": claims, "prefixes": prefixes}
    type_, detail, *errors = (text.format(**facts) for text in DENIALS[code])
    return {"type": f"{AUTHORIZATION}{type_}", "detail": detail, "errors": errors}
