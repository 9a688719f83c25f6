"""The results of validation over HTTP: those that the client may see."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.response import Response

from edfi_api import addresses
from edfi_api.api.validation.base import ENGINE, CollectionView, Rows, ValidationView, id_of, json_object, moment
from edfi_api.api.validation.csv_results import csv_response
from edfi_api.api.validation.query import VERSIONS, Field, choice, conditions
from edfi_api.api.validation.rules import SEVERITY
from edfi_api.api.validation.visible_rows import VisibleRows
from edfi_api.api.viewsets.accepted_types import prefers_csv
from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.changes.change_queries.windows import read_window
from edfi_api.logs import audit
from edfi_api.profiles.visibility import visibility_of
from edfi_api.queries.parameters import last_values, refuse_filters
from edfi_api.queries.selection import EVERY_VERSION, Window
from edfi_api.storage.driver.sql import Sql, all_of
from edfi_api.validation.resources import RESULT
from edfi_api.validation.visible import RESULTS, Readable, Visible

_IDENTIFIER = "replace(d.result_key::text, '-', '') || '-' || d.episode"
# Profiles may hide members of documents, which message and context may quote.
_MESSAGE = "CASE WHEN %(is_whole)s::boolean THEN d.message ELSE v.short_description END"
# Those that Ed-Fi's extension has.
MEMBERS = f"""
    'id', d.result_uuid, 'resultIdentifier', {_IDENTIFIER}, 'resourceType', v.resource,
    'validationRuleReference', json_build_object('ruleIdentifier', v.identifier, 'ruleSource', v.source),
    'validationRunReference', CASE WHEN run.id IS NOT NULL THEN json_build_object(
        'runIdentifier', run.run_identifier, 'host', %(host)s::text, 'ruleEngine', '{ENGINE}'
    ) END,
    'educationOrganizationReference', json_build_object('educationOrganizationId', d.organization),
    'resourceId', d.document_uuid,
    'studentReference', CASE WHEN d.student IS NOT NULL THEN json_build_object('studentUniqueId', d.student) END,
    'staffReference', CASE WHEN d.staff IS NOT NULL THEN json_build_object('staffUniqueId', d.staff) END,
    'namespace', d.namespace,
    'additionalContexts', CASE WHEN %(is_whole)s::boolean THEN (
        SELECT json_agg(json_build_object('identificationCode', name, 'customizationValue', value) ORDER BY name)
          FROM jsonb_each_text(d.context) AS each (name, value) WHERE value ~ '[^[:space:]]'
    ) END,
    '_etag', d.validation_version::text,
    '_lastModifiedDate', {moment("coalesce(d.resolved_at, d.changed_at, d.appeared_at)")}
"""
_OWN_MEMBERS = f"""
    'resourceLink', %(data)s::text || (%(paths)s::json ->> d.resource_type_id::text) || '/' || d.document_uuid,
    'naturalKey', d.natural_key, 'severityDescriptor', {SEVERITY}, 'category', v.category, 'message', {_MESSAGE},
    'appearedDateTime', {moment("d.appeared_at")}, 'resolvedDateTime', {moment("d.resolved_at")},
    'changeVersion', d.validation_version
"""
_DELETE = Sql(
    f"""json_build_object(
    'id', d.result_uuid, 'changeVersion', d.validation_version,
    'keyValues', json_build_object('resultIdentifier', {_IDENTIFIER}, 'resourceType', v.resource)
)"""
)
FIELDS = (
    Field("id", "d.result_uuid", "uuid"),
    Field("resultIdentifier", _IDENTIFIER),
    Field("resourceType", "v.resource"),
    Field("ruleIdentifier", "v.identifier"),
    Field("ruleSource", "v.source"),
    Field("runIdentifier", "run.run_identifier"),
    Field("host", "CASE WHEN run.id IS NOT NULL THEN %(host)s::text END"),
    Field("ruleEngine", f"CASE WHEN run.id IS NOT NULL THEN '{ENGINE}' END"),
    Field("educationOrganizationId", "d.organization", "bigint"),
    Field("resourceId", "d.document_uuid", "uuid"),
    Field("studentUniqueId", "d.student"),
    Field("staffUniqueId", "d.staff"),
    Field("namespace", "d.namespace"),
)
_OWN_FIELDS = (
    Field("category", "v.category"),
    Field("severityDescriptor", SEVERITY),
    Field("naturalKey", "d.natural_key"),
    Field("message", _MESSAGE),
    Field("appearedDateTime", "d.appeared_at", "timestamptz"),
    Field("resolvedDateTime", "d.resolved_at", "timestamptz"),
)
# The fields that rules have, and the rules that meet conditions on them.
_FIELDS_OF_RULES = {"resourceType", "ruleIdentifier", "ruleSource", "category", "severityDescriptor"}
_RULES = Sql("SELECT v.id FROM validation_rule v WHERE {condition}")
OPEN = Sql("d.resolved_at IS NULL")
_STATES = {"open": OPEN, "resolved": Sql("d.resolved_at IS NOT NULL"), "all": Sql("true")}
_VERSION = "d.validation_version"
_NEWEST = Sql("SELECT coalesce(max(validation_version), 0) FROM validation_result")


class VisibleResultsView(ValidationView):
    """A view of results; each action reads only what the client may see."""

    resource = RESULT
    item_sql = json_object(MEMBERS, _OWN_MEMBERS)

    def readable(self, request: EdFiRequest) -> Readable:
        visibility = visibility_of(request.user, self.profiles)
        return Readable.of(request.user, visibility.is_open, self.surface, self.using)

    def visible(self, request: EdFiRequest) -> tuple[Sql, Visible]:
        """The JSON of a result, and the results that the client may see. Raises what `authorize` does."""
        policy = self.authorize(request).policy
        readable = self.readable(request)
        paths = orjson.dumps({str(number): path for number, path in readable.paths.items()}).decode()
        data = f"{request.META.get('SCRIPT_NAME', '')}/{addresses.DATA}"
        return Sql(self.item_sql, {**self.given(request), "data": data, "paths": paths}), readable.results(policy)

    def results(self, request: EdFiRequest, state: Sql, filters: Mapping[str, Sql]) -> VisibleRows:
        """The results in a state that meet the filters, and whose versions are in the window of the request. Pages by
        limit and offset of a window with an upper bound are in the order of versions, as those of documents."""
        window = read_window(request.query_params)
        found = [state, *_within(window), *self._conditions(filters)]
        item, visible = self.visible(request)
        is_by_version = window.is_bounded and "pagetoken" not in last_values(request.query_params)
        return VisibleRows(item, RESULTS, found, "d.id", _VERSION if is_by_version else None, visible=visible)

    def _conditions(self, filters: Mapping[str, Sql]) -> list[Sql]:
        """The conditions of filters by the names of their fields. Those on rules are evaluated first: PostgreSQL has
        statistics of the results of a rule, but not of those of a severity."""
        of_rules = [condition for name, condition in filters.items() if name in _FIELDS_OF_RULES]
        others = [condition for name, condition in filters.items() if name not in _FIELDS_OF_RULES]
        if not of_rules:
            return others
        numbers = [number for (number,) in self.rows(_RULES.fill(condition=all_of(of_rules)))]
        if len(numbers) == 1:  # The index has the results of one rule in their order.
            return [*others, Sql("d.rule_id = %(rule)s::integer", {"rule": numbers[0]})]
        return [*others, Sql("d.rule_id = ANY (%(rules)s::bigint[])", {"rules": numbers})]

    def given(self, request: EdFiRequest) -> dict[str, Any]:
        """The values of parameters in the SQL of members and fields."""
        return {"host": self.host(request), "is_whole": not request.user.profile_ids}


class ResultsView(VisibleResultsView, CollectionView):
    """Open results, unless `state` says otherwise; all of them as CSV, a page as JSON."""

    def get(self, request: EdFiRequest, **kwargs: Any) -> HttpResponseBase:
        if not prefers_csv(request._request):
            return super().get(request, **kwargs)
        self.paginator.read(request)
        rows = self.selected(request)
        audit.administered("validation results exported", client=request.user.key)
        return csv_response(rows, self.found)

    def selected(self, request: EdFiRequest) -> Rows:
        query = request.query_params
        state = choice(query, "state", tuple(_STATES))
        filters = conditions((*FIELDS, *_OWN_FIELDS), query, {"state", *VERSIONS}, self.given(request))
        return self.results(request, _STATES[state], filters)


class ResultView(VisibleResultsView):
    """One result. One that the client may not see is answered as one that does not exist."""

    detail = True
    action = "retrieve"

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        condition = id_of("d.result_uuid", item_id)
        item, visible = self.visible(request)
        return self.item(Rows(item, RESULTS, [condition, visible.whole]))


class ResolvedResultsView(VisibleResultsView):
    """Resolved results, for clients that follow results as they follow documents."""

    detail = None
    action = "deletes"

    def get(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        page = self.paginator.read_offset(request)
        window = read_window(request.query_params)
        refuse_filters(request.query_params)
        policy = self.authorize(request).policy
        visible = self.readable(request).resolved_results(policy)
        selected = [_STATES["resolved"], *_within(window)]
        return self.page(page, VisibleRows(_DELETE, RESULTS, selected, "d.id", _VERSION, visible=visible))


class AvailableVersionsView(ValidationView):
    """The versions of results, for any client that may read results."""

    detail = None
    resource = RESULT
    action = "list"

    def get(self, request: EdFiRequest, **kwargs: Any) -> Response:
        self.authorize(request)
        return Response({"oldestChangeVersion": 0, "newestChangeVersion": self.rows(_NEWEST)[0][0]})


def _within(window: Window) -> Iterator[Sql]:
    if window != EVERY_VERSION:
        given = {"first_version": window.first, "last_version": window.last}
        yield Sql("d.validation_version BETWEEN %(first_version)s::bigint AND %(last_version)s::bigint", given)
