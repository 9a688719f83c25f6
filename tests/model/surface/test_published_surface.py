"""The compiled surfaces of the bundled standards, compared with the published ones: each difference has a reason.

The facts are in `expected/`, in the format of `published`. Their `provenance` names the source of each, and so what it
does not contain.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from edfi_api.model.surface.describe import describe
from edfi_api.model.surface.resource import Surface
from tests.model.surface.paths import equal_paths
from tests.model.surface.published import FOLDER, published, text_of
from tests.support.serving import STANDARDS, served

PUBLISHED_STANDARDS = ("3.3.1-b", "4.0", "5.2")
ABSENT = None
# School years are the server's own; the published facts of 4.0 are of the model only.
NOT_IN_THE_FACTS = {"3.3.1-b": set(), "4.0": {"schoolYearTypes"}, "5.2": set()}


@dataclass(frozen=True)
class Difference:
    """A fact about a path, or about the endpoint if `path` is empty, that differs from the published one."""

    endpoint: str
    path: str
    fact: str
    actual: Any
    published: Any

    @property
    def is_inside_a_reference(self) -> bool:
        return "Reference." in self.path

    @property
    def is_about_a_descriptor(self) -> bool:
        return self.endpoint.endswith("Descriptors")


@dataclass(frozen=True)
class Reason:
    """The reason for a group of differences."""

    text: str
    explains: Callable[[Difference], bool]


SCHOOL_YEAR_RANGE = Reason(
    "The range of school years is this server's own check, no part of a data standard.",
    lambda d: d.fact in ("minimum", "maximum") and d.path.endswith("choolYear") and d.published is ABSENT,
)
DESCRIPTOR_QUERIES = Reason(
    "Query parameters of descriptors are not published, or only an internal number that no server needs.",
    lambda d: d.is_about_a_descriptor and d.fact == "queryParameters",
)
OF_OPENAPI_DOCUMENTS = [
    SCHOOL_YEAR_RANGE,
    DESCRIPTOR_QUERIES,
    Reason(
        "OpenAPI documents of 3.3 and 4.0 state neither minimum lengths nor ranges nor digits; the XSD does.",
        lambda d: d.fact in ("minLength", "minimum", "maximum", "precision", "scale") and d.published is ABSENT,
    ),
    Reason(
        "OpenAPI documents of 3.3 and 4.0 give times no format.",
        lambda d: d.fact == "format" and d.actual == "time" and d.published is ABSENT,
    ),
    Reason(
        "OpenAPI documents of 3.3 and 4.0 leave out that subclasses can be searched by inherited members.",
        lambda d: d.fact == "queryParameters" and d.actual - d.published in INHERITED and d.published <= d.actual,
    ),
]
REASONS = {
    "3.3.1-b": OF_OPENAPI_DOCUMENTS,
    "4.0": OF_OPENAPI_DOCUMENTS,
    "5.2": [
        SCHOOL_YEAR_RANGE,
        DESCRIPTOR_QUERIES,
        Reason(
            "The published facts of school years in 5.2 have no query parameters at all.",
            lambda d: (d.endpoint, d.fact) == ("schoolYearTypes", "queryParameters"),
        ),
        Reason(
            "All descriptors have one fixed document; the lengths published for 5.2 are those of its XML base type.",
            lambda d: d.is_about_a_descriptor and d.fact == "minLength",
        ),
        Reason(
            "The published facts of 5.2 leave out lower limits inside of references; a value has those of its origin.",
            lambda d: d.is_inside_a_reference and d.fact in ("minLength", "minimum", "maximum"),
        ),
        Reason(
            "The document schemas limit decimals by their digits only; ranges are those of the XSD.",
            lambda d: d.fact in ("minimum", "maximum") and d.actual is ABSENT,
        ),
        Reason(
            "The key of an item below an optional inline common is optional for the compiler, but not for the tables.",
            lambda d: (
                d.fact == "required"
                and d.path.removeprefix("$.identificationDocuments[*].")
                in ("identificationDocumentUseDescriptor", "personalInformationVerificationDescriptor")
            ),
        ),
        Reason(
            "The published facts of 5.2 do not know of deprecation; the model of both neighbouring versions does.",
            lambda d: (
                (d.endpoint, d.path, d.fact) == ("studentSchoolAssociations", "$.schoolChoiceTransfer", "deprecated")
            ),
        ),
    ],
}
INHERITED = (
    {"nameOfInstitution", "operationalStatusDescriptor", "shortNameOfInstitution", "webSite"},
    {"endDate", "reasonExitedDescriptor", "servedOutsideOfRegularSession"},
)


@pytest.fixture(scope="module", params=PUBLISHED_STANDARDS)
def standard(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def compiled(standard: str) -> Surface:
    return served(standard).surface


@pytest.fixture(scope="module")
def differences(standard: str, compiled: Surface) -> list[Difference]:
    actual = {resource["endpoint"]: resource for resource in describe(compiled)["resources"]}
    theirs = {resource["endpoint"]: resource for resource in published(standard)["resources"]}
    assert actual.keys() == theirs.keys() | NOT_IN_THE_FACTS[standard]
    return [difference for name in theirs for difference in compare(name, actual[name], theirs[name])]


def compare(endpoint: str, actual: dict[str, Any], published: dict[str, Any]) -> Iterator[Difference]:
    for fact in ("resourceName", "isDescriptor", "deprecated", "identityPaths", "queryParameters"):
        mine, theirs = endpoint_fact(actual, fact), endpoint_fact(published, fact)
        if mine != theirs:
            yield Difference(endpoint, "", fact, mine, theirs)
    for path in sorted(actual["paths"].keys() | published["paths"].keys()):
        mine, theirs = actual["paths"].get(path, {}), published["paths"].get(path, {})
        for fact in sorted(mine.keys() | theirs.keys()):
            if as_set(mine.get(fact)) != as_set(theirs.get(fact)):
                yield Difference(endpoint, path, fact, mine.get(fact, ABSENT), theirs.get(fact, ABSENT))


def endpoint_fact(resource: dict[str, Any], fact: str) -> Any:
    """Lists as sets; some versions publish inherited query parameters separately."""
    if fact == "queryParameters":
        return {*resource.get("queryParameters", ()), *resource.get("queryParametersInherited", ())}
    return as_set(resource.get(fact, False))


def as_set(value: Any) -> Any:
    return set(value) if isinstance(value, list) else value


def test_every_difference_has_a_reason(standard: str, differences: list[Difference]) -> None:
    unexplained = [d for d in differences if not any(reason.explains(d) for reason in REASONS[standard])]

    assert unexplained == []


def test_every_reason_has_a_difference(standard: str, differences: list[Difference]) -> None:
    needless = [r.text for r in REASONS[standard] if not any(r.explains(d) for d in differences)]

    assert needless == []


def test_all_published_paths_are_compared(standard: str, compiled: Surface) -> None:
    paths = sum(len(resource["paths"]) for resource in describe(compiled)["resources"])

    assert (len(compiled.resources), paths) == {
        "3.3.1-b": (297, 3863),
        "4.0": (314, 4002),
        "5.2": (349, 4296),
    }[standard]


@pytest.mark.parametrize("standard", STANDARDS)
def test_equality_constraints_are_the_published_ones(standard: str) -> None:
    theirs = {name: {frozenset(pair) for pair in pairs} for name, pairs in published(standard)["equalities"].items()}

    actual = {
        resource.name.resource: equal_paths(resource)
        for resource in served(standard).surface.resources
        if resource.equality_constraints
    }

    assert actual == theirs


def test_the_facts_are_formatted_for_diffs(standard: str) -> None:
    assert text_of(published(standard)) == (FOLDER / f"{standard}.json").read_text(encoding="utf-8")
