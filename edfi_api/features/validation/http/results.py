"""The results of validation over HTTP: those that the client may see."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.response import Response

from edfi_api.common import addresses
from edfi_api.common.logs import audit
from edfi_api.core.queries.csv_text import CONTENT_TYPE, csv_file, prefers_csv
from edfi_api.core.queries.listing import (
    BIGINT,
    TEXT,
    TIMESTAMP,
    UUID,
    Field,
    Represent,
    SqlRows,
    as_sql,
    one_of,
    read_filters,
    without_nulls,
)
from edfi_api.core.queries.parameters import (
    CHANGE_VERSION_PARAMETERS,
    PAGING_PARAMETERS,
    last_values,
    refuse_filters,
)
from edfi_api.core.queries.selection import EVERY_VERSION, Window
from edfi_api.core.security.profiles.negotiation import visibility_of
from edfi_api.core.storage.driver.sql import Sql, all_of
from edfi_api.features.changes.change_queries.windows import read_window
from edfi_api.features.validation.http.base import ENGINE, CollectionView, ValidationView, id_of
from edfi_api.features.validation.http.rules import SEVERITY
from edfi_api.features.validation.result_visibility import RESULT, RESULTS, Readable, Visible, VisibleRows
from edfi_api.web.viewsets.edfi_view import EdFiRequest
from edfi_api.web.viewsets.responses import json_file_response

COLUMNS = (
    "ruleIdentifier", "ruleSource", "severity", "category", "educationOrganizationId", "resourceType", "naturalKey",
    "resourceId", "studentUniqueId", "staffUniqueId", "message", "additionalContexts", "appearedDateTime",
    "resolvedDateTime", "resultIdentifier",
)  # fmt: skip
_HEADERS = {"Content-Type": CONTENT_TYPE}
_ROWS_AT_ONCE = 1_000


_IDENTIFIER = "replace(d.result_key::text, '-', '') || '-' || d.episode"
# Profiles may hide members of documents, which message and context may quote.
_MESSAGE = "CASE WHEN %(is_whole)s::boolean THEN d.message ELSE v.short_description END"
_CONTEXTS = """CASE WHEN %(is_whole)s::boolean THEN (
    SELECT json_agg(json_build_array(name, value) ORDER BY name)
      FROM jsonb_each_text(d.context) AS each (name, value) WHERE value ~ '[^[:space:]]'
) END"""
# Ed-Fi's extension has these fields.
FIELDS = (
    Field("id", "d.result_uuid", UUID),
    Field("resultIdentifier", _IDENTIFIER, TEXT),
    Field("resourceType", "v.resource", TEXT),
    Field("ruleIdentifier", "v.identifier", TEXT),
    Field("ruleSource", "v.source", TEXT),
    Field("runIdentifier", "run.run_identifier", TEXT),
    Field("host", "CASE WHEN run.id IS NOT NULL THEN %(host)s::text END", TEXT),
    Field("ruleEngine", f"CASE WHEN run.id IS NOT NULL THEN '{ENGINE}' END", TEXT),
    Field("educationOrganizationId", "d.organization", BIGINT),
    Field("resourceId", "d.document_uuid", UUID),
    Field("studentUniqueId", "d.student", TEXT),
    Field("staffUniqueId", "d.staff", TEXT),
    Field("namespace", "d.namespace", TEXT),
)
_OWN_FIELDS = (
    Field("category", "v.category", TEXT),
    Field("severityDescriptor", SEVERITY, TEXT),
    Field("naturalKey", "d.natural_key", TEXT),
    Field("message", _MESSAGE, TEXT),
    Field("appearedDateTime", "d.appeared_at", TIMESTAMP),
    Field("resolvedDateTime", "d.resolved_at", TIMESTAMP),
)
_VERSION = "d.validation_version"
_NO_FILTERS = (
    Field("additionalContexts", _CONTEXTS, TEXT),
    Field("changeVersion", _VERSION, BIGINT),
    Field("_lastModifiedDate", "coalesce(d.resolved_at, d.changed_at, d.appeared_at)", TIMESTAMP),
    Field("resource_type", "d.resource_type_id", BIGINT),
)
_FIELDS_OF_DELETES = (FIELDS[0], FIELDS[1], FIELDS[2], Field("changeVersion", _VERSION, BIGINT))
# The fields that rules have, and the rules that meet conditions on them.
_FIELDS_OF_RULES = {"resourceType", "ruleIdentifier", "ruleSource", "category", "severityDescriptor"}
_RULES = Sql("SELECT v.id FROM validation_rule v WHERE {condition}")
OPEN = Sql("d.resolved_at IS NULL")
_STATES = {"open": OPEN, "resolved": Sql("d.resolved_at IS NOT NULL"), "all": Sql("true")}
_STATE = Field("state", "", one_of(_STATES))
_NEWEST = Sql("SELECT coalesce(max(validation_version), 0) FROM validation_result")


def csv_response(rows: SqlRows, using: str) -> HttpResponseBase:
    """All rows that a request selects, read in parts and in the order of their appearance, for people who repair data
    with a spreadsheet."""
    return json_file_response(csv_file(COLUMNS, _cells(rows, using)), _HEADERS)


def _cells(rows: SqlRows, using: str) -> Iterator[Iterable[Any]]:
    rows, last = replace(rows, version=None), 0
    while True:
        found = rows.where(Sql(f"{rows.row} > %(after)s::bigint", {"after": last})).read(using, _ROWS_AT_ONCE)
        for _, result in found:
            yield _row(result)
        if len(found) < _ROWS_AT_ONCE:
            return
        last, _ = found[-1]


def _row(result: dict[str, Any]) -> list[Any]:
    flat = {**result, **result["validationRuleReference"], **result["educationOrganizationReference"]}
    flat |= {**result.get("studentReference", {}), **result.get("staffReference", {})}
    flat["severity"] = result["severityDescriptor"].rpartition("#")[2]
    contexts = result.get("additionalContexts") or ()
    flat["additionalContexts"] = "; ".join(
        f"{each['identificationCode']}: {each['customizationValue']}" for each in contexts
    )
    return [flat.get(column) for column in COLUMNS]


def members(row: dict[str, Any]) -> dict[str, Any]:
    """The JSON object of a result, with the members of Ed-Fi's extension."""
    contexts = orjson.loads(row["additionalContexts"] or b"null")
    return without_nulls(
        {
            "id": row["id"],
            "resultIdentifier": row["resultIdentifier"],
            "resourceType": row["resourceType"],
            "validationRuleReference": _part(row, "ruleIdentifier", "ruleSource"),
            "validationRunReference": row["host"] and _part(row, "runIdentifier", "host", "ruleEngine"),
            "educationOrganizationReference": _part(row, "educationOrganizationId"),
            "resourceId": row["resourceId"],
            "studentReference": row["studentUniqueId"] and _part(row, "studentUniqueId"),
            "staffReference": row["staffUniqueId"] and _part(row, "staffUniqueId"),
            "namespace": row["namespace"],
            "additionalContexts": contexts
            and [{"identificationCode": name, "customizationValue": value} for name, value in contexts],
            "_etag": str(row["changeVersion"]),
            "_lastModifiedDate": row["_lastModifiedDate"],
        }
    )


def _part(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return without_nulls({name: row[name] for name in names})


@dataclass(frozen=True, slots=True)
class _OwnMembers:
    """The JSON object of a result with our own members; `data` is the path of the data, `paths` are those of the
    resources that the client may read, by number."""

    data: str
    paths: Mapping[int, str]

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        path, document = self.paths.get(row["resource_type"]), row["resourceId"]
        link = f"{self.data}{path}/{document}" if path is not None and document is not None else None
        own = ("naturalKey", "severityDescriptor", "category", "message", "appearedDateTime", "resolvedDateTime")
        return members(row) | without_nulls({"resourceLink": link}) | _part(row, *own, "changeVersion")


def _deleted(row: dict[str, Any]) -> dict[str, Any]:
    return _part(row, "id", "changeVersion") | {"keyValues": _part(row, "resultIdentifier", "resourceType")}


class VisibleResultsView(ValidationView):
    """A view of results; each action reads only what the client may see."""

    resource = RESULT
    # Whether answers have our own members in addition to those of Ed-Fi's extension.
    is_own = True

    def readable(self, request: EdFiRequest) -> Readable:
        visibility = visibility_of(request.user, self.profiles)
        return Readable.of(request.user, visibility.is_open, self.surface, self.using)

    def visible(self, request: EdFiRequest) -> tuple[Represent, Visible]:
        """Return what makes the JSON object of a result, and the results that the client may see. Raises what
        `authorize` does."""
        policy = self.authorize(request).policy
        readable = self.readable(request)
        data = f"{request.META.get('SCRIPT_NAME', '')}/{addresses.DATA}"
        return _OwnMembers(data, readable.paths) if self.is_own else members, readable.results(policy)

    def results(self, request: EdFiRequest, state: Sql, filters: Mapping[str, Sql]) -> VisibleRows:
        """The results in a state that meet the filters, and whose versions are in the window of the request. Pages by
        limit and offset of a window with an upper bound are in the order of versions, as those of documents."""
        window = read_window(request.query_params)
        found = [state, *_within(window), *self._conditions(filters)]
        represent, visible = self.visible(request)
        is_by_version = window.is_bounded and "pagetoken" not in last_values(request.query_params)
        version = _VERSION if is_by_version else None
        given = self.given(request)
        return VisibleRows(_ALL_FIELDS, represent, RESULTS, found, "d.id", version, given, visible=visible)

    def result(self, request: EdFiRequest, item_id: str, *conditions: Sql) -> SqlRows:
        """The result with this id that meets the conditions, if the client may see it."""
        condition = id_of("d.result_uuid", item_id)
        represent, visible = self.visible(request)
        found = [*conditions, condition, visible.whole]
        return SqlRows(_ALL_FIELDS, represent, RESULTS, found, given=self.given(request))

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
        """The values of parameters in the SQL of fields."""
        return {"host": self.host(request), "is_whole": not request.user.profile_ids}


_ALL_FIELDS = (*FIELDS, *_OWN_FIELDS, *_NO_FILTERS)


class ResultsView(VisibleResultsView, CollectionView):
    """Open results, unless `state` says otherwise; all of them as CSV, a page as JSON."""

    def get(self, request: EdFiRequest, **kwargs: Any) -> HttpResponseBase:
        if not prefers_csv(request._request):
            return super().get(request, **kwargs)
        self.paginator.read(request)
        rows = self.selected(request)
        audit.log_change("validation results exported", client=request.user.key)
        return csv_response(rows, self.using)

    def selected(self, request: EdFiRequest) -> VisibleRows:
        query = request.query_params
        state = next((each.value for each in read_filters([_STATE], query, None).or_failed_validation()), "open")
        others = {_STATE.name, *CHANGE_VERSION_PARAMETERS, *PAGING_PARAMETERS}
        filters = read_filters((*FIELDS, *_OWN_FIELDS), query, others).or_invalid_values()
        return self.results(request, _STATES[state], as_sql(filters, self.given(request)))


class ResultView(VisibleResultsView):
    """One result. One that the client may not see is answered as one that does not exist."""

    detail = True
    action = "retrieve"

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        return self.item(self.result(request, item_id))


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
        rows = VisibleRows(_FIELDS_OF_DELETES, _deleted, RESULTS, selected, "d.id", _VERSION, visible=visible)
        return self.page(page, rows)


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
