"""The runs of validation over HTTP."""

from typing import Any

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.status import HTTP_202_ACCEPTED

from edfi_api import addresses
from edfi_api.api.validation.base import ENGINE, NAMESPACE, CollectionView, Rows, id_of, json_object, moment
from edfi_api.api.validation.query import Field, conditions
from edfi_api.api.validation.requested_rules import chosen_rules
from edfi_api.api.validation.results import VisibleResultsView
from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.api.viewsets.responses import EmptyResponse, JsonTextResponse
from edfi_api.conf import api_settings
from edfi_api.security.actions import Action
from edfi_api.security.exceptions import UNAUTHORIZABLE, NoNamespacePrefixes, NoRelationship
from edfi_api.security.row_policies import row_policy
from edfi_api.storage.driver.sql import Sql
from edfi_api.validation.requests import active_rules, request_run
from edfi_api.validation.resources import RESULT, RUN
from edfi_api.validation.visible import RESULTS

_STATUS = f"'{NAMESPACE}/RunStatusDescriptor#' || r.status"
ROWS = "FROM validation_run r"
# Those that Ed-Fi's extension has.
MEMBERS = f"""
    'id', r.run_uuid, 'runIdentifier', r.run_identifier, 'host', %(host)s::text, 'ruleEngine', '{ENGINE}',
    'runStartDateTime', {moment("r.started_at")}, 'runStatusDescriptor', {_STATUS},
    'runFinishDateTime', {moment("r.finished_at")},
    '_etag', coalesce(extract(epoch FROM r.finished_at)::bigint::text, r.status),
    '_lastModifiedDate', {moment("coalesce(r.finished_at, r.started_at)")}
"""
# `counts` has, for each rule, how many results the client may see that appeared or were resolved.
_OWN_MEMBERS = """
    'changeVersion', r.change_version,
    'rules', (
        SELECT json_agg(json_build_object(
            'validationRuleReference', json_build_object('ruleIdentifier', v.identifier, 'ruleSource', v.source),
            'outcome', o.outcome,
            'appeared', (%(counts)s::json -> v.id::text ->> 0)::bigint,
            'resolved', (%(counts)s::json -> v.id::text ->> 1)::bigint
        ) ORDER BY v.source, v.identifier)
          FROM validation_run_rule o JOIN validation_rule v ON v.id = o.rule_id WHERE o.run_id = r.id
    )
"""
_ITEM = json_object(MEMBERS, _OWN_MEMBERS)
# A run that was requested and has not begun.
_WAITING = f"""json_build_object(
    'id', r.run_uuid, 'runIdentifier', r.run_uuid, 'host', %(host)s::text, 'ruleEngine', '{ENGINE}',
    'runStartDateTime', {moment("r.requested_at")}, 'runStatusDescriptor', '{NAMESPACE}/RunStatusDescriptor#Requested',
    '_etag', 'Requested', '_lastModifiedDate', {moment("r.requested_at")}
)"""
_REQUESTS = """FROM (
    SELECT * FROM validation_request q WHERE NOT EXISTS (SELECT FROM validation_run WHERE run_uuid = q.run_uuid)
) r"""
FIELDS = (
    Field("id", "r.run_uuid", "uuid"),
    Field("runIdentifier", "r.run_identifier"),
    Field("host", "%(host)s::text"),
    Field("ruleEngine", f"'{ENGINE}'"),
    Field("runStartDateTime", "r.started_at", "timestamptz"),
    Field("runStatusDescriptor", _STATUS),
    Field("runFinishDateTime", "r.finished_at", "timestamptz"),
)
_COUNTS = """
SELECT d.rule_id, count(*) FILTER (WHERE d.first_run = r.id), count(*) FILTER (WHERE d.resolved_run = r.id)
{rows} JOIN validation_run r ON r.id IN (d.first_run, d.resolved_run)
 WHERE r.run_uuid = %(item_id)s::uuid AND {visible}
 GROUP BY d.rule_id
"""
_RULES = Sql("SELECT id FROM validation_rule")


class RunsView(CollectionView):
    """All runs, without counts."""

    resource = RUN
    fields: tuple[Field, ...] = (*FIELDS, Field("changeVersion", "r.change_version", "bigint"))
    item_sql = _ITEM

    def selected(self, request: EdFiRequest) -> Rows:
        host = {"host": self.host(request)}
        found = conditions(self.fields, request.query_params, self.parameters, host)
        self.authorize(request)
        item = Sql(self.item_sql, {**host, "counts": "{}"})
        return Rows(item, ROWS, list(found.values()), "r.id")

    def post(self, request: EdFiRequest, **kwargs: Any) -> HttpResponseBase:
        """Request a run of rules over the client's organizations."""
        if not api_settings.VALIDATION_REQUESTS:
            return self.http_method_not_allowed(request)
        self.action = "create"
        self.authorize(request)
        if not request.user.education_organization_ids:
            raise NoRelationship((), ("EducationOrganizationId",), ())
        # What is wrong with the body is answered with the names of all rules.
        rules, categories = chosen_rules(request.parsers[0].parse(request._request), active_rules(self.using))
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
        host = self.host(request)
        own = Sql("r.client = %(client)s", {"client": request.user.row_id})
        for text, _ in self.found(Rows(Sql(_WAITING, {"host": host}), _REQUESTS, [condition, own]), 1):
            return JsonTextResponse(text.encode())
        counts = orjson.dumps(self._counts(request, condition)).decode()
        return self.item(Rows(Sql(_ITEM, {"host": host, "counts": counts}), ROWS, [condition]))

    def _counts(self, request: EdFiRequest, condition: Sql) -> dict[str, list[int]]:
        """By rule: how many appeared, how many were resolved. Nothing if the client may not read results."""
        try:
            policy = row_policy(request.user, RESULT, Action.READ, self.surface, self.using)
            visible = self.readable(request).results(policy)
        except (*UNAUTHORIZABLE, NoNamespacePrefixes):
            return {}
        statement = Sql(_COUNTS, condition.parameters).fill(rows=RESULTS, visible=visible.whole)
        found = {str(rule): [0, 0] for (rule,) in self.rows(_RULES)}
        return found | {str(rule): [appeared, resolved] for rule, appeared, resolved in self.rows(statement)}
