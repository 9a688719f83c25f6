"""The results that a client may see: those of its organizations, as far as it may read every document they name.

A result says that a document exists, and something about its body. So the policy of the claim on results decides about
the organization, and the policies for reading decide about the offending document and all other ones of the result.
Pages of them are read without looking up the documents of more results than necessary.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from edfi_api.core.queries.listing import SqlRows, matching
from edfi_api.core.queries.selection import LAST_ROW
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.requests.authorization import readable_resources
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql, all_of, any_of
from edfi_api.core.storage.row_policy import RowPolicy
from edfi_api.model.surface.resource import (
    JsonPath,
    NamedPath,
    Resource,
    ResourceKind,
    ResourceName,
    SecurableElements,
    Surface,
)

_NEAR_RESULTS = 2_000
_STEP = 4
_NAMED_TYPES = Sql("SELECT DISTINCT unnest(document_types) FROM validation_rule")

# Policies name their row `d`: first the result, with the columns of a document that it lacks, then a document.
_EVERY = """(
    SELECT *, NULL::bigint AS created_by, NULL::boolean AS opens_pathway, NULL::jsonb AS body, '{}'::jsonb AS key_values
      FROM validation_result
  )"""
# Every result has a rule. PostgreSQL leaves an outer join out of counts, which it would make in the order of rules, and
# so look up documents in any order.
_TABLES = """
  FROM {results} d
  LEFT JOIN validation_rule v ON v.id = d.rule_id
  LEFT JOIN validation_run run ON run.id = CASE WHEN d.resolved_at IS NULL THEN v.published_run ELSE d.resolved_run END
 CROSS JOIN LATERAL (SELECT d.document_uuid AS document, d.other_documents AS others) named
"""
RESULTS = _TABLES.format(results=_EVERY)
# Only ids are sorted, if no index has the order: whole results would be sorted on disk.
_FIRST = Sql("""(
    SELECT first.place, first.is_beyond, d.*
      FROM (
        SELECT near.*, row_number() OVER (ORDER BY place) > {number} AS is_beyond
          FROM (SELECT d.id, {order} AS place {tables} WHERE {condition} ORDER BY place LIMIT {number} + 1) near
      ) first
     CROSS JOIN LATERAL (SELECT * FROM {every} d WHERE d.id = first.id OFFSET 0) d
  )""")
# Most results name a single document. A function in FROM would cost more than looking it up.
_READABLE = """
{allowed}
AND (named.document IS NULL OR EXISTS (
    SELECT FROM document d WHERE d.document_uuid = named.document AND ({readable})
))
AND (named.others = '{{}}' OR NOT EXISTS (
    SELECT FROM unnest(named.others) AS wanted
     WHERE wanted IS NOT NULL
       AND NOT EXISTS (SELECT FROM document d WHERE d.document_uuid = wanted AND ({readable}))
))"""
# A deleted document hides from no client that its result is resolved.
_READABLE_OR_GONE = """
{allowed}
AND (d.resource_type_id IS NULL OR d.resource_type_id = ANY (%(readable_types)s::smallint[]))
AND NOT EXISTS (
    SELECT FROM unnest(named.document || named.others) AS wanted
     WHERE EXISTS (SELECT FROM document d WHERE d.document_uuid = wanted AND NOT ({readable}))
)"""
_CHECKED = Sql("CASE WHEN d.is_beyond THEN true ELSE {checked} END")

PROJECT, ENDPOINT = "EdFiXValidations", "ed-fi-x-validations"

_ORGANIZATION = JsonPath(("educationOrganizationReference", "educationOrganizationId"))


@dataclass(frozen=True, slots=True)
class Visible:
    """The conditions under which a client sees a result: on its organization, which an index may answer, and one that
    is checked for each result, by looking up every document that it names."""

    organizations: Sql
    checked: Sql

    @property
    def whole(self) -> Sql:
        return all_of([self.organizations, self.checked])


@dataclass(frozen=True, slots=True)
class VisibleRows(SqlRows):
    """The results that meet all conditions and that a client sees.

    Without statistics of its table PostgreSQL expects few results, and checks and sorts all of them for a page. So a
    page is read from the nearest results that meet the cheap conditions, and from all only if there are more, and the
    client may not see enough of these.
    """

    visible: Visible = field(kw_only=True)

    def pages(self, size: int, offset: int) -> Iterator[Sql]:
        number = _NEAR_RESULTS
        while number < 2 * (size + offset):
            number *= _STEP
        near = _nearest([*self.conditions, self.visible.organizations], self.order, min(number, LAST_ROW - 1))
        checked = matching(near, [_CHECKED.fill(checked=self.visible.checked)])
        yield self._page(checked, size, offset, order="d.place", is_shown="NOT d.is_beyond")
        yield self._page(self._matching(), size, offset)

    def _matching(self) -> Sql:
        """Return what is counted and partitioned, too: no more than the client sees."""
        return matching(self.tables, [*self.conditions, self.visible.whole])


def _nearest(conditions: Iterable[Sql], order: str, number: int) -> Sql:
    """Return RESULTS for the first `number` results that meet the conditions, in the order of `d.place`, and for the
    one that follows them, for which `d.is_beyond` holds. `number` is part of the text, so that PostgreSQL plans for
    this many.
    """
    parts = {"tables": RESULTS, "every": _EVERY, "order": order, "number": str(number)}
    first = _FIRST.fill(condition=all_of(conditions), **parts)
    return Sql(_TABLES).fill(results=first)


@dataclass(frozen=True, slots=True)
class Readable:
    """The rights of a client to read the resources that results name, and the paths of these, by their numbers."""

    condition: Sql
    paths: dict[int, str]

    @classmethod
    def of(
        cls, client: AuthenticatedClient, is_open: Callable[[Resource], bool], surface: Surface, using: str
    ) -> "Readable":
        """`is_open` says whether the client's profiles show a resource."""
        names = resource_types.names(using)
        types = {number: names[number] for (number,) in execute(_NAMED_TYPES, using) if number in names}
        served = {name: number for number, name in types.items() if name in surface.by_name}
        resources = filter(is_open, (surface.by_name[name] for name in served))
        found = list(readable_resources(client, resources, surface, using))
        by_text: dict[str, tuple[Sql, list[int]]] = {}
        for resource, predicate in found:
            condition = Sql("true") if predicate is None else predicate.for_one_row
            by_text.setdefault(condition.text, (condition, []))[1].append(served[resource.name])
        return cls(any_of(_of_types(by_text.values())), {served[each.name]: each.url_path for each, _ in found})

    def results(self, policy: RowPolicy | None) -> Visible:
        """The results that the client may see."""
        return _visible(policy, Sql(_READABLE).fill(allowed=_allowed(policy), readable=self.condition))

    def resolved_results(self, policy: RowPolicy | None) -> Visible:
        """The resolved results whose resolution the client may see."""
        types = Sql(_READABLE_OR_GONE, {"readable_types": list(self.paths)})
        return _visible(policy, types.fill(allowed=_allowed(policy), readable=self.condition))


def _of_types(conditions: Iterable[tuple[Sql, Sequence[int]]]) -> Iterator[Sql]:
    for condition, types in conditions:
        numbers = ", ".join(map(str, types))
        yield f"d.resource_type_id IN ({numbers}) AND " + condition


def _allowed(policy: RowPolicy | None) -> Sql:
    """Raises the policy's refusal if it cannot allow any result."""
    return Sql("true") if policy is None else policy.predicate().for_one_row


def _visible(policy: RowPolicy | None, checked: Sql) -> Visible:
    organizations = None if policy is None else policy.predicate().organizations
    placed = Sql("d.organization IS NOT NULL")
    return Visible(placed if organizations is None else all_of([placed, organizations]), checked)


def _resource(name: str, endpoint: str, elements: SecurableElements) -> Resource:
    return Resource(
        name=ResourceName(PROJECT, name),
        project_endpoint=ENDPOINT,
        endpoint=endpoint,
        kind=ResourceKind.ENTITY,
        json_schema={},
        identity=(),
        securable_elements=elements,
    )


RULE = _resource("ValidationRule", "validationRules", SecurableElements())
RUN = _resource("ValidationRun", "validationRuns", SecurableElements())
RESULT = _resource(
    "ValidationResult",
    "validationResults",
    SecurableElements(
        namespace=(JsonPath(("namespace",)),),
        education_organization=(NamedPath("EducationOrganizationId", _ORGANIZATION),),
        student=(JsonPath(("studentReference", "studentUniqueId")),),
        staff=(JsonPath(("staffReference", "staffUniqueId")),),
    ),
)
