"""Any comparisons and orders, by clients that see some documents and some of their members, against the same in Python
over what each may see. Whatever it asks, a client learns nothing of the rest: not from rows, totals, or the order.
"""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from django.core.cache import cache
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import assign_profiles, read_definitions, store_profiles
from tests.conftest import ApiTestClient, new_token
from tests.core.queries.students_in_python import BODIES, FIELDS, NUMBER, comparisons, holds, ordered, pages
from tests.core.security.profiles.definitions import profile_xml
from tests.support.examples import examples
from tests.web.batch.batch_client import BatchClient
from tests.web.batch.operations import DESCRIPTORS, enrolment, school

EXAMPLES = examples(12)
SCHOOLS = (1, 2, 3)
KEY = "studentUniqueId"
ENVELOPE = {"id", "_etag", "_lastModifiedDate"}
# By student: the schools; the last students have none.
ENROLLED = {
    body[KEY]: {each for each in SCHOOLS if number % (each + 1) == 0} for number, body in enumerate(BODIES[:20])
}

# The schools of a client, none for one that sees every document; and the members that its profile hides.
Rights = tuple[frozenset[int], frozenset[str]]
OF_ONE_SCHOOL: Rights = (frozenset({1}), frozenset())


@pytest.fixture
def client_with(api) -> Callable[[Rights], ApiTestClient]:
    """A client with these rights; each is made once."""
    operations = [*DESCRIPTORS, *map(school, SCHOOLS)]
    operations += [{"resource": "/ed-fi/students", "document": body} for body in BODIES]
    for id_, schools in ENROLLED.items():
        for number in sorted(schools):
            association = enrolment(0, number, studentReference={KEY: id_})
            operations.append(association)
    assert set(BatchClient(api.token).statuses(*operations)) == {201}
    cache.clear()
    made: dict[Rights, ApiTestClient] = {}

    def client(rights: Rights) -> ApiTestClient:
        if rights not in made:
            made[rights] = _made(len(made), *rights)
        return made[rights]

    return client


def _made(number: int, schools: frozenset[int], hidden: frozenset[str]) -> ApiTestClient:
    name = f"client-{number}"
    of_schools: dict[str, Any] = {"education_organization_ids": sorted(schools)} if schools else {}
    token = new_token(name, "SISVendor" if schools else "EdFiSandbox", **of_schools)
    if hidden:
        rule = "ExcludeOnly:" + "".join(f'<Property name="{each}"/>' for each in sorted(hidden))
        store_profiles(read_definitions(profile_xml("Student", rule, rule, name)), by="tests")
        assign_profiles(Application.objects.get(name=name), [name], by="tests")
    return ApiTestClient(token)


def rights() -> st.SearchStrategy[Rights]:
    some = st.frozensets(st.sampled_from(sorted(FIELDS)))
    return st.tuples(st.frozensets(st.sampled_from(SCHOOLS)), some)


def visible(of: Rights) -> list[dict[str, Any]]:
    """What the client sees: its documents, without what is hidden."""
    schools, hidden = of
    bodies = [body for body in BODIES if not schools or ENROLLED.get(body[KEY], set()) & schools]
    return [{name: value for name, value in body.items() if name not in hidden} for body in bodies]


class Question(NamedTuple):
    """What is asked: comparisons, the terms of `orderBy`, and the members of `fields`, None for all."""

    comparisons: list[tuple[str, str, str]]
    order: tuple[str, ...]
    members: frozenset[str] | None

    @property
    def query(self) -> dict[str, str]:
        query = {f"{field}[{operator}]": text for field, operator, text in self.comparisons}
        if self.order:
            query["orderBy"] = ",".join(self.order)
        if self.members is not None:
            query["fields"] = ",".join(sorted(self.members))
        return query

    @property
    def used(self) -> set[str]:
        """The members that it names."""
        return {
            *(field for field, *_ in self.comparisons),
            *(term.removeprefix("-") for term in self.order),
            *(self.members or ()),
        }

    def matches(self, body: dict[str, Any]) -> bool:
        # Of several with one name the last one counts.
        last = {(field, operator): text for field, operator, text in self.comparisons}
        return all(holds(body, field, operator, text) for (field, operator), text in last.items())


QUESTIONS = st.builds(
    Question,
    st.lists(comparisons(), max_size=2),
    st.lists(st.sampled_from(list(FIELDS)), unique=True, max_size=2).flatmap(
        lambda names: st.tuples(*(st.sampled_from([name, f"-{name}"]) for name in names))
    ),
    st.none() | st.frozensets(st.sampled_from([*FIELDS, "firstName"]), min_size=1),
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(of=OF_ONE_SCHOOL, question=Question([("lastSurname", "prefix", "o")], (), None), size=5)
@given(of=rights(), question=QUESTIONS, size=st.integers(1, NUMBER))
def test_any_client_is_answered_from_what_it_sees(client_with, of, question, size):
    client, query = client_with(of), question.query
    expected = [body for body in visible(of) if question.matches(body)]

    if question.used & of[1]:  # A refusal that says nothing about what is stored.
        assert client.get("/students?" + urlencode(query)).status_code == 400
        return
    assert pages(client, query, size) == [body[KEY] for body in ordered(expected, list(question.order))]
    whole = client.get("/students?" + urlencode(query | {"totalCount": "true", "limit": NUMBER}))
    assert whole["Total-Count"] == str(len(expected))
    shown = None if question.members is None else {KEY, *question.members}
    assert sorted((_without_envelope(body) for body in whole.json()), key=lambda body: body[KEY]) == [
        {name: value for name, value in body.items() if shown is None or name in shown} for body in expected
    ]


def _without_envelope(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in ENVELOPE}
