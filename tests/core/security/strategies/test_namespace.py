"""NamespaceBased over HTTP. See meadowlark/docs/design/authorization.md#namespaces."""

import pytest

from tests.core.security.strategies.denials import DENIED, problem
from tests.core.security.strategies.scenario import EO

TYPE = "urn:ed-fi:api:security:authorization:namespace"
NO_PREFIXES = {
    "detail": "There was a problem authorizing the request. The caller has not been configured correctly for accessing "
    "resources authorized by Namespace.",
    "type": f"{TYPE}:invalid-client:no-namespaces",
    "errors": [
        "The API client has been given permissions on a resource that uses the 'NamespaceBased' authorization strategy "
        "but the client doesn't have any namespace prefixes assigned."
    ],
}


def term(namespace, code="T"):
    return {"namespace": namespace, "codeValue": code, "shortDescription": code}


def mismatch(which, *prefixes):
    listed = ", ".join(f"'{prefix}'" for prefix in prefixes)
    return {
        "detail": f"{DENIED} {which} 'Namespace' value of the data does not start with any of the caller's associated "
        f"namespace prefixes ({listed}).",
        "type": f"{TYPE}:access-denied:namespace-mismatch",
        "errors": [],
    }


@pytest.fixture
def vendor(scenario):
    def find(*prefixes):
        return scenario.client_by("NamespaceBased", prefixes=prefixes)

    return find


def test_a_namespace_that_starts_with_a_prefix_is_accessible(scenario, vendor):
    client = vendor("uri://a.example", "uri://b.example")

    assert client.post("/termDescriptors", term("uri://b.example/TermDescriptor")).status_code == 201
    answer = client.post("/termDescriptors", term("uri://c.example/TermDescriptor"))

    assert problem(answer) == mismatch("The", "uri://a.example", "uri://b.example")


def test_stored_and_proposed_namespaces_are_reported_differently(scenario, vendor):
    path = scenario.post("TermDescriptor", **term("uri://a.example/TermDescriptor"))
    client = vendor("uri://b.example")

    assert problem(client.get(path)) == mismatch("The existing", "uri://b.example")
    assert problem(client.delete(path)) == mismatch("The existing", "uri://b.example")


def test_without_prefixes_nothing_is_accessible(scenario, vendor):
    path = scenario.post("TermDescriptor", **term("uri://a.example/TermDescriptor"))
    client = vendor()

    for answer in (
        client.get(path),
        client.get("/termDescriptors"),
        client.get("/termDescriptors/partitions"),
        client.post("/termDescriptors", term("uri://a.example/TermDescriptor", "U")),
    ):
        assert problem(answer) == NO_PREFIXES


@pytest.mark.parametrize(
    "prefix", ["%", "uri://_.example", "uri://a.exampl_", "uri://a.example%", "' OR true --", "\\"]
)
def test_no_character_of_a_prefix_is_a_wildcard(scenario, vendor, prefix):
    path = scenario.post("TermDescriptor", **term("uri://a.example/TermDescriptor"))
    client = vendor(prefix)

    assert client.get(path).status_code == 403
    assert client.get("/termDescriptors").json() == []


# A prefix, a namespace, and whether it covers that: by default, and as plain text.
COVERED = [
    ("uri://education.example", "uri://education.example", True, True),
    ("uri://education.example", "uri://education.example/x", True, True),
    ("uri://education.example", "uri://education.example.evil", False, True),
    ("uri://education.example", "uri://education.example.evil/x", False, True),
    ("uri://education.example", "uri://education.example-evil/x", False, True),
    ("uri://education.example", "uri://education.examples", False, True),
    ("uri://education.example", "uri://education.example:p@evil.example/x", False, True),
    ("uri://education.example", "URI://education.example/x", False, False),
    ("uri://education.example/", "uri://education.example/x", True, True),
    ("uri://education.example/", "uri://education.example", False, False),
    ("uri://education.example.", "uri://education.example.evil", True, True),
    ("uri://education.example/x", "uri://education.example/x/y", True, True),
    ("uri://education.example/x", "uri://education.example/xy", False, True),
    ("urn:education", "urn:education:x", True, True),
    ("urn:education", "urn:educational", False, True),
    ("uri://", "uri://education.example", True, True),
    ("uri://école", "uri://école/x", True, True),
    ("uri://école", "uri://écoles", False, True),
]


@pytest.mark.parametrize("case", COVERED, ids=lambda case: f"{case[0]} {case[1]}")
@pytest.mark.parametrize("is_plain", [False, True], ids=["segments", "plain"])
def test_a_prefix_ends_with_a_segment_unless_it_is_plain(scenario, vendor, settings, case, is_plain):
    prefix, namespace, *covers = case
    settings.EDFI_API = settings.EDFI_API | {"PLAIN_NAMESPACE_PREFIXES": is_plain}
    path = scenario.post("TermDescriptor", **term(namespace))
    client, is_covered = vendor("uri://other.example", prefix), covers[is_plain]

    assert client.get(path).status_code == (200 if is_covered else 403)
    assert len(client.get("/termDescriptors").json()) == is_covered
    assert client.get("/termDescriptors?limit=0&totalCount=true")["Total-Count"] == str(int(is_covered))
    again = term(namespace) | {"shortDescription": "Again"}
    assert client.post("/termDescriptors", again).status_code == (200 if is_covered else 403)
    assert client.post("/termDescriptors", term(namespace, "U")).status_code == (201 if is_covered else 403)


def test_collections_contain_documents_with_the_prefix(scenario, vendor):
    for name in ("a", "ab", "b"):
        for code in ("1", "2"):
            scenario.post("TermDescriptor", **term(f"uri://{name}.example/TermDescriptor", code))

    found = vendor("uri://a.example", "uri://ab.").get("/termDescriptors?limit=3&totalCount=true")

    assert found["Total-Count"] == "4"
    assert [each["namespace"] for each in found.json()] == [
        "uri://a.example/TermDescriptor",
        "uri://a.example/TermDescriptor",
        "uri://ab.example/TermDescriptor",
    ]


def test_all_strategies_must_allow(scenario):
    scenario.student("S")
    both = scenario.client_by("NamespaceBased", EO, organizations=(1,), prefixes=("uri://a.example",))

    answer = both.get("/calendars")

    assert answer.status_code == 500
    assert answer.json()["errors"] == [
        "The resource 'Calendar' is configured with the 'NamespaceBased' authorization strategy, but no Namespace "
        "securable element resolves to a root table column. Collection-level Namespace paths are not eligible for "
        "namespace authorization."
    ]
