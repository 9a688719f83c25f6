"""The processor time and memory of any request stay within a budget.

Measured for the processes of the server and PostgreSQL, so the result is independent of other load.
"""

import json
from collections.abc import Iterable, Iterator
from http.client import HTTPConnection
from typing import Any, NamedTuple

import psutil
import pytest

from edfi_api.common.conf import DEFAULTS
from edfi_api.core.documents.json_text import MOST_REFERENCES, MOST_VALUES
from edfi_api.model.surface.resource import JsonPath, Resource
from tests.whole.robustness.floods import filled, heaviest_array, separators
from tests.whole.robustness.memory import needs_peaks, peak, reset_peak
from tests.whole.robustness.other_server import postmaster
from tests.whole.robustness.real_server import RealServer

MOST_SECONDS = 2
MOST_MEMORY = 300 * 2**20
LONGEST_ANSWER = 300_000
LARGEST = DEFAULTS["MAX_BODY_BYTES"]

STUDENT = {"studentUniqueId": "1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
SCHOOL = "/data/ed-fi/schools"
STUDENTS = "/data/ed-fi/students"


class Cost(NamedTuple):
    status: int
    seconds: float
    memory: int
    body: bytes


class Meter:
    """Sends requests to a server with one worker and measures their cost."""

    def __init__(self, server: RealServer) -> None:
        self._server = server
        self._compiled: set[str] = set()
        [self._worker] = server.workers()
        self._postmaster = psutil.Process(postmaster(server.data))

    def send(self, method: str, path: str, body: bytes | None = None) -> Cost:
        """The answer, the processor time of server and database, and the growth of the worker's memory.

        Excludes compilation, which the first request of a resource causes.
        """
        if path not in self._compiled:
            self._compiled.add(path)
            self._measured("POST", path.partition("?")[0], b"{}")
        return self._measured(method, path, body)

    def _measured(self, method: str, path: str, body: bytes | None) -> Cost:
        before, had = self._processor_time(), reset_peak(self._worker)
        connection = HTTPConnection("127.0.0.1", self._server.port, timeout=300)
        headers = {"Authorization": f"Bearer {self._server.token}", "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return Cost(response.status, self._processor_time() - before, peak(self._worker) - had, answer)

    def _processor_time(self) -> float:
        processes = [self._worker, *self._postmaster.children()]
        return sum(sum(process.cpu_times()[:2]) for process in processes)


@pytest.fixture(scope="module")
def meter(tmp_path_factory, prepared_home, surface, documents) -> Iterator[Meter]:
    """A server with the minimal document of every resource, and many staff members."""
    home = prepared_home(tmp_path_factory.mktemp("budgets") / "home")
    lines = [
        {"resource": resource.url_path, "body": documents.minimal_body(resource)} for resource in surface.resources
    ]
    lines += [
        {"resource": "/ed-fi/staffs", "body": {"staffUniqueId": f"S{n}", "firstName": "Ada", "lastSurname": "Diaz"}}
        for n in range(MOST_REFERENCES)
    ]
    (home / "all.jsonl").write_text("\n".join(map(json.dumps, lines)))
    limits = {"MEADOWLARK_STATEMENT_SECONDS": "120", "MEADOWLARK_REQUEST_SECONDS": "120"}
    with RealServer(home, MEADOWLARK_WORKERS="1", MEADOWLARK_THREADS="1", **limits) as server:
        server.manage("load_documents", str(home / "all.jsonl"))
        yield Meter(server)


def assert_within_budget(cost: Cost, *statuses: int) -> None:
    assert cost.status in statuses, cost.body[:500]
    assert cost.seconds < MOST_SECONDS
    assert cost.memory < MOST_MEMORY
    assert len(cost.body) < LONGEST_ANSWER


def text_with(member: str, value: str) -> bytes:
    """A student with one more member, as JSON text."""
    return (json.dumps(STUDENT)[:-1] + f', "{member}": {value}}}').encode()


def items(item: str, length: int = LARGEST - 1000, first: str = "1") -> str:
    """Return as many items as fit into a body."""
    return f"[{first}" + f",{item}" * (length // (len(item) + 1)) + "]"


SHAPES = {
    "empty arrays": items("[]"),
    "empty objects": items("{}"),
    "objects in a body with an escape": items('{"a":1}', first=r'"\u0041"'),
    "objects in a body with a long number": items('{"a":1}', first="12345678901234567.5"),
    "decimals": items("1.5"),
    "long numbers": items("0." + "7" * 90),
    "names": "{" + ",".join(f'"{n}":1' for n in range(LARGEST // 12)) + "}",
    "repeated names": "{" + ",".join('"a":1' for _ in range(LARGEST // 6 - 200)) + "}",
    "a repeated name far below a long one": f'{{"{"n" * (LARGEST // 2)}":{{"a":1,"a":2,"b":{items("[]", 250_000)}}}}}',
    "a deep nest of long names": f'{{"{"n" * 40_000}":' * 250 + "1" + "}" * 250,
    "one long number": "9" * (LARGEST - 1000),
    "one long fraction": "0." + "9" * (LARGEST - 1000),
    "one long text": f'"{"a" * (LARGEST - 1000)}"',
    "a text of escapes": '"' + r"\u0041" * (LARGEST // 6 - 200) + '"',
}


# The gate sends those that take most, `make test-long` all.
_HEAVIEST_SHAPES = {"objects in a body with an escape", "repeated names", "a deep nest of long names", "long numbers"}


@needs_peaks
@pytest.mark.parametrize(
    "shape", [pytest.param(each, marks=() if each in _HEAVIEST_SHAPES else pytest.mark.long) for each in SHAPES]
)
def test_any_shape_of_an_unknown_member(meter, shape):
    cost = meter.send("POST", STUDENTS, text_with("unknown", SHAPES[shape]))

    assert_within_budget(cost, 200, 201, 400, 413)


LONG_TEXTS = {"letters": "a", "blanks": " ", "digits": "1", "slashes": "1/", "escapes": r"\u0000"}
TYPES = ("string", "date", "date-time", "time", "integer", "number", "boolean", "descriptor", "array", "object")


def _types_and_contents() -> Iterator[Any]:
    """The gate sends one text for each type, `make test-long` every text."""
    for number, type_ in enumerate(TYPES):
        for place, content in enumerate(LONG_TEXTS):
            is_quick = place == number % len(LONG_TEXTS)
            yield pytest.param(type_, content, marks=() if is_quick else pytest.mark.long)


@needs_peaks
@pytest.mark.parametrize(("type_", "content"), list(_types_and_contents()))
def test_a_member_of_any_type_with_as_long_a_text_as_fits(meter, surface, documents, type_, content):
    resource, member = next(
        (resource, name)
        for resource in surface.resources
        for name, schema in resource.json_schema["properties"].items()
        if type_ in (schema.get("format", schema["type"]), "descriptor" if name.endswith("Descriptor") else None)
    )
    text = LONG_TEXTS[content] * ((LARGEST - 10_000) // len(LONG_TEXTS[content]))
    body = json.dumps(documents.minimal_body(resource) | {member: "LONG"}).replace("LONG", text)

    cost = meter.send("POST", f"/data{resource.url_path}", body.encode())

    assert_within_budget(cost, 400)


def _descriptors(resource: Resource) -> Iterable[JsonPath]:
    return [descriptor.path for descriptor in resource.descriptors]


def _references(resource: Resource) -> Iterable[JsonPath]:
    return [reference.path for reference in resource.references]


def _equalities(resource: Resource) -> Iterable[JsonPath]:
    return [path for rule in resource.equality_constraints for path in (rule.source, rule.target)]


def _everything(resource: Resource) -> Iterable[JsonPath]:
    return [*_descriptors(resource), *_references(resource), *_equalities(resource), *_decimals(resource)]


def _decimals(resource: Resource) -> Iterable[JsonPath]:
    return [limit.path for limit in resource.decimals]


@needs_peaks
@pytest.mark.parametrize("paths", [_descriptors, _references, _equalities, _decimals, _everything])
@pytest.mark.parametrize("limit", [MOST_VALUES, MOST_REFERENCES])
def test_items_up_to_a_limit(meter, surface, documents, paths, limit):
    """The items have different keys, so most of their targets do not exist, or their values are in conflict."""
    resource, rule = heaviest_array(surface, documents, paths)
    full = documents.full_body(resource)
    [array] = rule.array.steps
    number = (MOST_VALUES - separators(full)) // separators(full[array]) if limit == MOST_VALUES else MOST_REFERENCES
    body = filled(full, rule, number)

    cost = meter.send("POST", f"/data{resource.url_path}", json.dumps(body).encode())

    assert_within_budget(cost, 200, 201, 400, 409, 413)


SPOILT = {
    "a missing member": {"middleName": "B"},
    "a wrong type": {"firstName": 1},
    "a long text": {"firstName": "a" * 100},
}


@needs_peaks
@pytest.mark.parametrize("wrong", SPOILT)
def test_items_that_break_a_rule_each(meter, wrong):
    item = SPOILT[wrong]
    body = STUDENT | {"otherNames": [item] * (MOST_VALUES // 4)}

    cost = meter.send("POST", STUDENTS, json.dumps(body).encode())

    assert_within_budget(cost, 400)
    problem = json.loads(cost.body)
    assert len(problem["validationErrors"]) == 100
    assert problem["errors"] == ["Only the first 100 are listed; there are more."]


@needs_peaks
@pytest.mark.parametrize("text", ["soon", "13/13/2025 10:61:00 PM"])
def test_text_that_is_no_date(meter, documents, resource_named, text):
    periods = [{"beginDate": text}] * (MOST_VALUES // 2 - 100)
    school = documents.minimal_body(resource_named("School")) | {"addresses": [{"periods": periods}]}

    cost = meter.send("POST", SCHOOL, json.dumps(school).encode())

    assert_within_budget(cost, 400)


@needs_peaks
def test_unknown_descriptors_cost_one_query(meter, documents, resource_named):
    school = documents.minimal_body(resource_named("School"))
    descriptors = [{"gradeLevelDescriptor": f"uri://ed-fi.org/GradeLevelDescriptor#{n}"} for n in range(9_000)]

    cost = meter.send("POST", SCHOOL, json.dumps(school | {"gradeLevels": descriptors}).encode())

    assert_within_budget(cost, 400)
    problem = json.loads(cost.body)
    assert problem["validationErrors"]["$.gradeLevels[99].gradeLevelDescriptor"] == [
        "GradeLevelDescriptor value 'uri://ed-fi.org/gradeleveldescriptor#99' does not exist."
    ]
    assert len(problem["validationErrors"]) == 100


@needs_peaks
def test_as_many_references_as_a_document_may_have(meter, documents, resource_named):
    resource = resource_named("DisciplineAction")
    body = documents.minimal_body(resource)
    path = f"/data{resource.url_path}"

    def with_staff(number: int) -> bytes:
        staff = [{"staffReference": {"staffUniqueId": f"S{n}"}} for n in range(number)]
        return json.dumps(body | {"staffs": staff}).encode()

    # The minimal body has further references, such as those to a student and a school.
    first = meter.send("POST", path, with_staff(MOST_REFERENCES - 10))
    again = meter.send("POST", path, with_staff(MOST_REFERENCES - 10))
    fewer = meter.send("POST", path, with_staff(10))
    more = meter.send("POST", path, with_staff(MOST_REFERENCES + 1))

    for cost, status in ((first, 200), (again, 200), (fewer, 200), (more, 413)):
        assert_within_budget(cost, status)


@needs_peaks
def test_the_cost_of_a_body_grows_with_its_length(meter, surface, documents):
    """A quarter of a body costs about a quarter."""
    resource, rule = heaviest_array(surface, documents, _decimals)
    path, body = f"/data{resource.url_path}", documents.full_body(resource)
    quarter = (MOST_VALUES - separators(body)) // separators(body[rule.array.steps[0]]) // 4

    less = meter.send("POST", path, json.dumps(filled(body, rule, quarter)).encode())
    most = meter.send("POST", path, json.dumps(filled(body, rule, 4 * quarter)).encode())

    assert_within_budget(less, 200)
    assert_within_budget(most, 200)
    assert most.seconds < 6 * less.seconds + 0.2


@needs_peaks
@pytest.mark.parametrize(
    "query",
    [
        "&".join(f"p{n}=1" for n in range(1100)),
        "&".join("firstName=a" for _ in range(600)),
        "firstName=" + "a" * 8000,
        "birthDate=" + "1" * 8000,
        "limit=" + "9" * 8000,
        "pageToken=" + "A" * 8000,
        "id=" + "a" * 8000,
    ],
    ids=lambda query: query[:12],
)
def test_any_query_string(meter, query):
    cost = meter.send("GET", f"{STUDENTS}?{query}")

    assert_within_budget(cost, 200, 400, 414)
    assert len(cost.body) < 3000 or cost.status == 200
