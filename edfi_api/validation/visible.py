"""The results that a client may see: those of its organizations, as far as it may read every document they name.

A result says that a document exists, and something about its body. So the policy of the claim on results decides about
the organization, and the policies for reading decide about the offending document and all other ones of the result.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.security.readable import readable_resources
from edfi_api.security.tokens import AuthenticatedClient
from edfi_api.storage import resource_types
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.sql import Sql, all_of, any_of
from edfi_api.storage.row_policy import RowPolicy

_NAMED_TYPES = Sql("SELECT DISTINCT unnest(document_types) FROM validation_rule")

# Policies name their row `d`: first the result, with the columns of a document that it lacks, then a document.
RESULTS = """
  FROM (
    SELECT *, NULL::bigint AS created_by, NULL::boolean AS opens_pathway, NULL::jsonb AS body, '{}'::jsonb AS key_values
      FROM validation_result
  ) d
  JOIN validation_rule v ON v.id = d.rule_id
  LEFT JOIN validation_run run ON run.id = CASE WHEN d.resolved_at IS NULL THEN v.published_run ELSE d.resolved_run END
 CROSS JOIN LATERAL (SELECT array_remove(d.document_uuid || d.other_documents, NULL) AS uuids) named
"""
_READABLE = """
d.organization IS NOT NULL AND {allowed} AND NOT EXISTS (
    SELECT FROM unnest(named.uuids) AS wanted
     WHERE NOT EXISTS (SELECT FROM document d WHERE d.document_uuid = wanted AND ({readable}))
)"""
# A deleted document hides from no client that its result is resolved.
_READABLE_OR_GONE = """
d.organization IS NOT NULL AND {allowed}
AND (d.resource_type_id IS NULL OR d.resource_type_id = ANY (%(readable_types)s::smallint[]))
AND NOT EXISTS (
    SELECT FROM unnest(named.uuids) AS wanted
     WHERE EXISTS (SELECT FROM document d WHERE d.document_uuid = wanted AND NOT ({readable}))
)"""


@dataclass(frozen=True, slots=True)
class Readable:
    """What a client may read of the resources that results name, and the paths of these, by their numbers."""

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

    def results(self, policy: RowPolicy | None) -> Sql:
        """The condition on results that the client may see."""
        return Sql(_READABLE).fill(allowed=_allowed(policy), readable=self.condition)

    def resolved_results(self, policy: RowPolicy | None) -> Sql:
        """The condition on resolved results whose resolution the client may see."""
        types = Sql(_READABLE_OR_GONE, {"readable_types": list(self.paths)})
        return types.fill(allowed=_allowed(policy), readable=self.condition)


def _of_types(conditions: Iterable[tuple[Sql, Sequence[int]]]) -> Iterator[Sql]:
    for condition, types in conditions:
        numbers = ", ".join(map(str, types))
        yield f"d.resource_type_id IN ({numbers}) AND " + condition


def _allowed(policy: RowPolicy | None) -> Sql:
    """Raises the policy's refusal if it cannot allow any result. Results of few organizations are found by the index on
    these; the policy is checked for each."""
    if policy is None:
        return Sql("true")
    predicate = policy.predicate()
    return all_of([each for each in (predicate.organizations, predicate.for_one_row) if each is not None])
