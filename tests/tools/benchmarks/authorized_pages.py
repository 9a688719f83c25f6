"""The cost of authorization in collections: with the policy of a client and without.

    python -m tests.tools.benchmarks.authorized_pages [RESOURCE ...] [--json FILE]

for the database that `DATABASE_URL` names, filled by `make bench-data`. Each query is measured without a policy, and
for each client with the policy of a strategy. Times are those of the statement including reading its rows, in
milliseconds, the shortest of several; relevant are the ratios within one run. Unless stated otherwise, the strategy is
RelationshipsWithEdOrgsAndPeople and the page has 25 documents. "GET" is the whole request, through Django in this
process, of a client with the claim set SISVendor compared with one with EdFiSandbox. For deletes and key changes some
documents are deleted and changed in a transaction that is rolled back.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

import django
from django.http import QueryDict
from django.test import Client

from tests.tools.benchmarks import command_line
from tests.tools.benchmarks.verification import verify_here
from tests.tools.seeding import district

if TYPE_CHECKING:
    from edfi_api.core.queries.selection import Selection
    from edfi_api.core.storage.row_policy import RowPolicy
    from edfi_api.model.surface.resource import Resource

_STRATEGY = "RelationshipsWithEdOrgsAndPeople"
_PAGE = 25
_LONGEST_SECONDS = 1.0
_RESOURCES = ["Student", "Contact", "StudentContactAssociation", "StudentSchoolAttendanceEvent"]
_OTHER_STRATEGIES = ["RelationshipsWithStudentsOnly", "RelationshipsWithPeopleOnly", "RelationshipsWithEdOrgsOnly"]
_RECENT = 2_000

Clients = dict[str, list[int]]


@dataclass(frozen=True)
class Row:
    """A query for a client; `unrestricted` is the time without a policy."""

    resource: str
    question: str
    client: str
    documents: int
    milliseconds: float
    unrestricted: float

    @property
    def ratio(self) -> float:
        return self.milliseconds / self.unrestricted


def measure(names: list[str]) -> Iterator[Row]:
    """One row for each resource, query and client."""
    from edfi_api.core.served import current_surface  # noqa: PLC0415  Django is set up by now
    from edfi_api.model.surface.resource import ResourceName  # noqa: PLC0415

    for name in names:
        resource = current_surface().by_name[ResourceName("Ed-Fi", name)]
        for question, (strategy, count) in _questions(resource).items():
            yield from _rows(resource, question, strategy, count)
        yield from _requests(resource)
        yield from _changes(resource)


def _rows(
    resource: "Resource", question: str, strategy: str, count: "Callable[[RowPolicy | None], int]"
) -> Iterator[Row]:
    unrestricted = _shortest(lambda: count(None))
    for who, organizations in _clients().items():
        policy = _policy(resource, strategy, organizations)
        documents = count(policy)
        taken = _shortest(lambda policy=policy: count(policy))
        yield Row(resource.name.resource, question, who, documents, taken, unrestricted)


def _requests(resource: "Resource") -> Iterator[Row]:
    from edfi_api.core.security.models import ApiClient, Application, Vendor  # noqa: PLC0415  Django is set up by now

    http = Client(SERVER_NAME="localhost")

    def count(token: str) -> Callable[[], int]:
        path, headers = f"/data{resource.url_path}", {"authorization": f"Bearer {token}"}
        return lambda: len(json.loads(http.get(path, headers=headers).content))

    try:
        unrestricted = _shortest(count(_token(http, "EdFiSandbox", [])))
        for who, organizations in _clients().items():
            if organizations:
                of_client = count(_token(http, "SISVendor", organizations))
                yield Row(resource.name.resource, "GET", who, of_client(), _shortest(of_client), unrestricted)
    finally:
        for model in (ApiClient, Application, Vendor):
            model.objects.filter(name__startswith=_NAME_PREFIX).delete()


def _token(http: Client, claim_set: str, organizations: list[int]) -> str:
    from edfi_api.core.security.clients import create_client  # noqa: PLC0415  Django is set up by now

    client = create_client(f"{_NAME_PREFIX} {uuid4()}", claim_set, organizations)
    form = {"grant_type": "client_credentials", "client_id": client.key, "client_secret": client.secret}
    return http.post("/oauth/token", form, content_type="application/json").json()["access_token"]


_NAME_PREFIX = "benchmark of authorized pages"


def _questions(resource: "Resource") -> "dict[str, tuple[str, Callable[[RowPolicy | None], int]]]":
    """Query → strategy, and a function that returns the number of documents found."""
    from edfi_api.core.queries import collection  # noqa: PLC0415  Django is set up by now
    from edfi_api.core.queries.query_by_example import QueryByExample  # noqa: PLC0415
    from edfi_api.core.queries.selection import Order, Window, all_documents  # noqa: PLC0415

    everything = all_documents(resource, "default")
    query_by_example = QueryByExample(resource)

    def page(selection: "Selection", size: int = _PAGE, offset: int = 0) -> "Callable[[RowPolicy | None], int]":
        return lambda policy: len(list(collection.page(selection.restricted_by(policy), size, offset)))

    def total(selection: "Selection") -> "Callable[[RowPolicy | None], int]":
        return lambda policy: collection.count(selection.restricted_by(policy))

    def filtered(query: str) -> "Selection":
        return query_by_example.narrow(everything, QueryDict(query))

    newest = _newest()
    pages = {
        "page": page(everything),
        "page of 500": page(everything, 500),
        "offset 1000": page(everything, offset=1000),
        **{f"page, {query}": page(filtered(query)) for query in _filters(resource)},
        "page, all since": page(everything.within(Window(1))),
        "page, recent since": page(everything.within(Window(newest - _RECENT))),
        "page, window of all": page(everything.within(Window(1, newest)).ordered_by(Order.CHANGE_VERSION)),
        "page, recent window": page(
            everything.within(Window(newest - _RECENT, newest)).ordered_by(Order.CHANGE_VERSION)
        ),
        "total": total(everything),
        **{f"total, {query}": total(filtered(query)) for query in _filters(resource)},
    }
    questions = {question: (_STRATEGY, count) for question, count in pages.items()}
    for strategy in _OTHER_STRATEGIES:
        if _applies(resource, strategy):
            questions[f"page, {strategy.removeprefix('RelationshipsWith')}"] = (strategy, page(everything))
            questions[f"total, {strategy.removeprefix('RelationshipsWith')}"] = (strategy, total(everything))
    return questions


def _filters(resource: "Resource") -> list[str]:
    """Filters by frequent and rare values, by the last school and by a student of it, if the resource has these
    fields."""
    school = _clients()["a school at the far end"][0]
    student = district.student_unique_id(school - district.school_id(0), 7)
    parameters = {
        "lastSurname": "Last5",
        "studentUniqueId": student,
        "schoolId": school,
        "attendanceEventReason": district.REASON.replace(" ", "+"),
        "schoolYear": district.YEAR,
    }
    fields = {field.name for field in resource.query_fields}
    return [f"{name}={value}" for name, value in parameters.items() if name in fields]


def _changes(resource: "Resource") -> Iterator[Row]:
    from django.db import connection, transaction  # noqa: PLC0415  Django is set up by now

    from edfi_api.core.queries.selection import Window  # noqa: PLC0415
    from edfi_api.core.storage import resource_types  # noqa: PLC0415
    from edfi_api.features.changes.change_queries.tracked_changes import TrackedWindow  # noqa: PLC0415
    from tests.support import superuser  # noqa: PLC0415

    strategy = f"{_STRATEGY}IncludingDeletes"
    number = resource_types.numbers("default")[resource.name]
    with transaction.atomic(), connection.cursor() as cursor:
        superuser.let_skip_triggers()
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_DELETE, [number])
        cursor.execute(_CHANGE_KEYS, [number])
        cursor.execute("ANALYZE deleted_document, key_change")
        queries = {
            "deletes": lambda policy: len(TrackedWindow(resource, Window(), policy, using="default").deletes(_PAGE, 0)),
            "deletes, total": lambda policy: TrackedWindow(resource, Window(), policy, using="default").count_deletes(),
            "key changes": lambda policy: len(
                TrackedWindow(resource, Window(), policy, using="default").key_changes(_PAGE, 0)
            ),
            "key changes, total": lambda policy: TrackedWindow(
                resource, Window(), policy, using="default"
            ).count_key_changes(),
        }
        for question, count in queries.items():
            yield from _rows(resource, question, strategy, count)
        transaction.set_rollback(True)


# One document in twenty, as written by the triggers, except for columns that are not queried here.
_DELETE = """
INSERT INTO deleted_document (change_version, document_uuid, resource_type_id, natural_key, key_values, aliases,
                              organization, student, contact, staff, namespace, opens_pathway,
                              created_at, last_change_version, last_operation, last_modified_at)
SELECT nextval('change_version'), document_uuid, resource_type_id, d.natural_key, '{}', '{}',
       organization, student, contact, staff, namespace, opens_pathway, now(), change_version, 'insert', now()
  FROM document d WHERE resource_type_id = %s AND id %% 20 = 0 ORDER BY id
"""
_CHANGE_KEYS = """
INSERT INTO key_change (change_version, document_uuid, resource_type_id, old_key_values, new_key_values,
                        organization, student, contact, staff, namespace, opens_pathway)
SELECT nextval('change_version'), document_uuid, resource_type_id, '{}', '{}',
       organization, student, contact, staff, namespace, opens_pathway
  FROM document WHERE resource_type_id = %s AND id %% 20 = 1 ORDER BY id
"""


def _policy(resource: "Resource", strategy: str, organizations: list[int]) -> "RowPolicy":
    from edfi_api.core.security.authenticated_client import AuthenticatedClient  # noqa: PLC0415
    from edfi_api.core.security.strategies.combined import ClientPolicy, CombinedStrategies  # noqa: PLC0415  Django is set up by now
    from edfi_api.core.security.strategies.strategy import Subject  # noqa: PLC0415
    from edfi_api.core.served import current_surface  # noqa: PLC0415

    client = AuthenticatedClient(
        row_id=1,
        key="bench",
        name="bench",
        claim_set_name="",
        claim_set_id=0,
        claims_version=0,
        education_organization_ids=tuple(organizations),
        namespace_prefixes=(),
        token_expires=datetime.now(UTC),
    )
    subject = Subject(resource, current_surface(), is_for_changes=strategy.endswith("IncludingDeletes"))
    combined = CombinedStrategies((strategy,), subject)
    return ClientPolicy(combined, client, "default")


def _applies(resource: "Resource", strategy: str) -> bool:
    from edfi_api.core.security.exceptions import StrategyNotApplicable  # noqa: PLC0415  Django is set up by now

    try:
        _policy(resource, strategy, [])
    except StrategyNotApplicable:
        return False
    return True


def _clients() -> Clients:
    """Agencies in the order of their schools' documents."""
    from edfi_api.core.models import OrganizationClosure  # noqa: PLC0415  Django is set up by now

    below = OrganizationClosure.objects.order_by("ancestor_id", "descendant_id")
    pairs = [(above, school) for above, school in below.values_list("ancestor_id", "descendant_id") if above != school]
    agencies = sorted({above for above, _ in pairs})
    return {
        "agencies that see most": agencies[:-1],
        "an agency at the far end": agencies[-1:],
        "a school at the far end": [pairs[-1][1]],
        "nobody": [],
    }


def _newest() -> int:
    from edfi_api.core.models import Document  # noqa: PLC0415  Django is set up by now

    return Document.objects.order_by("-id").values_list("change_version", flat=True)[0]


def _shortest(action: Callable[[], object]) -> float:
    """The shortest of two to twenty runs, within about a second."""
    durations: list[float] = []
    while len(durations) < 2 or (len(durations) < 20 and sum(durations) < _LONGEST_SECONDS):
        started = time.perf_counter()
        action()
        durations.append(time.perf_counter() - started)
    return min(durations) * 1000


def main() -> None:
    """The command line; see the module's docstring."""
    parser = command_line.parser("authorized_pages", __doc__)
    parser.add_argument("resource", nargs="*", default=_RESOURCES)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    rows = []
    for row in measure(options.resource):
        rows.append(row)
        print(
            f"{row.resource:28} {row.question:38} {row.client:26} {row.documents:>7} {row.milliseconds:9.2f} ms"
            f" {row.unrestricted:9.2f} {row.ratio:7.1f}x",
            flush=True,
        )
    verify_here()
    command_line.write_json(options.json, (asdict(row) | {"ratio": row.ratio} for row in rows))


if __name__ == "__main__":
    main()
