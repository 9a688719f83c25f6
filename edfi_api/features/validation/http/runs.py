"""The runs of validation over HTTP."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.status import HTTP_202_ACCEPTED

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from edfi_api.core.documents import violations
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.violations import MOST_REPORTED, Violation
from edfi_api.core.queries.listing import (
    BIGINT,
    TEXT,
    TIMESTAMP,
    UUID,
    Field,
    SqlRows,
    as_sql,
    read_filters,
    without_nulls,
)
from edfi_api.core.queries.parameters import PAGING_PARAMETERS
from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.exceptions import UNREADABLE, NoRelationship
from edfi_api.core.security.requests.authorization import row_policy
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.features.validation.http.base import ENGINE, NAMESPACE, CollectionView, id_of
from edfi_api.features.validation.http.results import VisibleResultsView
from edfi_api.features.validation.requested_runs import active_rules, request_run
from edfi_api.features.validation.result_visibility import RESULT, RESULTS, RUN
from edfi_api.web.viewsets.edfi_view import EdFiRequest
from edfi_api.web.viewsets.responses import EmptyResponse, JsonTextResponse

_STATUS = f"'{NAMESPACE}/RunStatusDescriptor#' || r.status"
ROWS = "FROM validation_run r"
# Ed-Fi's extension has these fields.
FIELDS = (
    Field("id", "r.run_uuid", UUID),
    Field("runIdentifier", "r.run_identifier", TEXT),
    Field("host", "%(host)s::text", TEXT),
    Field("ruleEngine", f"'{ENGINE}'", TEXT),
    Field("runStartDateTime", "r.started_at", TIMESTAMP),
    Field("runStatusDescriptor", _STATUS, TEXT),
    Field("runFinishDateTime", "r.finished_at", TIMESTAMP),
)
CHANGED = (
    Field("_etag", "coalesce(extract(epoch FROM r.finished_at)::bigint::text, r.status)", TEXT),
    Field("_lastModifiedDate", "coalesce(r.finished_at, r.started_at)", TIMESTAMP),
)
_VERSION = Field("changeVersion", "r.change_version", BIGINT)
# Number, identifier, source and outcome of each rule of a run.
_RULES_OF_RUN = """(
    SELECT json_agg(json_build_array(v.id, v.identifier, v.source, o.outcome) ORDER BY v.source, v.identifier)
      FROM validation_run_rule o JOIN validation_rule v ON v.id = o.rule_id WHERE o.run_id = r.id
)"""
_OWN_FIELDS = (*FIELDS, *CHANGED, _VERSION, Field("rules", _RULES_OF_RUN, TEXT))
# A run that was requested and has not begun.
_WAITING = (
    Field("id", "r.run_uuid", UUID),
    Field("runIdentifier", "r.run_uuid", TEXT),
    Field("host", "%(host)s::text", TEXT),
    Field("ruleEngine", f"'{ENGINE}'", TEXT),
    Field("runStartDateTime", "r.requested_at", TIMESTAMP),
    Field("runStatusDescriptor", f"'{NAMESPACE}/RunStatusDescriptor#Requested'", TEXT),
    Field("_etag", "'Requested'", TEXT),
    Field("_lastModifiedDate", "r.requested_at", TIMESTAMP),
)
_REQUESTS = """FROM (
    SELECT * FROM validation_request q WHERE NOT EXISTS (SELECT FROM validation_run WHERE run_uuid = q.run_uuid)
) r"""
_COUNTS = """
SELECT d.rule_id, count(*) FILTER (WHERE d.first_run = r.id), count(*) FILTER (WHERE d.resolved_run = r.id)
{rows} JOIN validation_run r ON r.id IN (d.first_run, d.resolved_run)
 WHERE r.run_uuid = %(item_id)s::uuid AND {visible}
 GROUP BY d.rule_id
"""
_RULES = Sql("SELECT id FROM validation_rule")
# The members of the body of a request for a run.
_MEMBERS = ("rules", "categories")

# Says for each rule how many results appeared, how many were resolved.
_Counts = Mapping[int, Sequence[int]]


def members(row: dict[str, Any], counts: _Counts | None = None) -> dict[str, Any]:
    """The JSON object of a run; `counts` are those of results that the client may see."""
    rules = orjson.loads(row.get("rules") or b"null")
    return without_nulls(row | {"rules": rules and [_rule(each, counts or {}) for each in rules]})


def _rule(columns: tuple[int, str, str, str], counts: _Counts) -> dict[str, Any]:
    number, identifier, source, outcome = columns
    found = {"validationRuleReference": {"ruleIdentifier": identifier, "ruleSource": source}, "outcome": outcome}
    return found | dict(zip(("appeared", "resolved"), counts.get(number, ()), strict=False))


class RunsView(CollectionView):
    """All runs, without counts."""

    resource = RUN
    fields: Sequence[Field] = (*FIELDS, _VERSION)
    shown: Sequence[Field] = _OWN_FIELDS

    def selected(self, request: EdFiRequest) -> SqlRows:
        host = {"host": self.host(request)}
        others = {*PAGING_PARAMETERS, *self.parameters}
        filters = read_filters(self.fields, request.query_params, others).or_invalid_values()
        self.authorize(request)
        return SqlRows(self.shown, members, ROWS, list(as_sql(filters, host).values()), "r.id", given=host)

    def post(self, request: EdFiRequest, **kwargs: Any) -> HttpResponseBase:
        """Request a run of rules over the client's organizations."""
        if not api_settings.VALIDATION_REQUESTS:
            return self.http_method_not_allowed(request)
        self.action = "create"
        self.authorize(request)
        if not request.user.education_organization_ids:
            raise NoRelationship((), ("EducationOrganizationId",), ())
        # What is wrong with the body is answered with the names of all rules.
        rules, categories = _chosen_rules(request.parsers[0].parse(request._request), active_rules(self.using))
        run = request_run(request.user, rules, categories, self.using)
        location = f"{self.host(request)}/{addresses.VALIDATION}/validationRuns/{run}"
        return EmptyResponse(HTTP_202_ACCEPTED, {"Location": location})

    @property
    def allowed_methods(self) -> list[str]:
        return [each for each in super().allowed_methods if each != "POST" or api_settings.VALIDATION_REQUESTS]


class RunView(VisibleResultsView):
    """One run, with counts of the results that the client may see."""

    detail = True
    resource = RUN
    action = "retrieve"

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        condition = id_of("r.run_uuid", item_id)
        self.authorize(request)
        host = {"host": self.host(request)}
        own = Sql("r.client = %(client)s", {"client": request.user.row_id})
        for _, waiting in SqlRows(_WAITING, members, _REQUESTS, [condition, own], given=host).read(self.using, 1):
            return JsonTextResponse(orjson.dumps(waiting))
        counts = self._counts(request, condition)
        return self.item(SqlRows(_OWN_FIELDS, lambda row: members(row, counts), ROWS, [condition], given=host))

    def _counts(self, request: EdFiRequest, condition: Sql) -> _Counts:
        """Return the counts, nothing if the client may not read results."""
        try:
            policy = row_policy(request.user, RESULT, Action.READ, self.surface, self.using)
            visible = self.readable(request).results(policy)
        except UNREADABLE:
            return {}
        statement = Sql(_COUNTS, condition.parameters).fill(rows=RESULTS, visible=visible.whole)
        found = {rule: [0, 0] for (rule,) in self.rows(_RULES)}
        return found | {rule: [appeared, resolved] for rule, appeared, resolved in self.rows(statement)}


def _chosen_rules(body: Mapping[str, Any], active: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Identifiers and categories; `active` are those of the rules that there are. Raises DataValidationFailed."""
    known = dict(zip(_MEMBERS, map(set, zip(*active, strict=True)), strict=False))
    found = [violations.unknown_member(f"$.{name}") for name in body if name not in _MEMBERS]
    chosen = []
    for member in _MEMBERS:
        values = body.get(member) or []
        found += islice(_violations(values, f"$.{member}", known.get(member, set())), MOST_REPORTED)
        chosen.append(values)
    if found:
        raise DataValidationFailed(found)
    return chosen[0], chosen[1]


def _violations(values: Any, path: str, known: set[str]) -> Iterable[Violation]:
    if not isinstance(values, list):
        yield violations.wrong_type(path, type(values).__name__, "array")
        return
    for number, value in enumerate(values):
        if not isinstance(value, str) or value not in known:
            yield violations.not_one_of(f"{path}[{number}]", sorted(known))
