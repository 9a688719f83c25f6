"""Rules, runs and open results as resources of Ed-Fi's extension `EdFiXValidations`, below `/data/ed-fi-x-validations`,
read-only, with the members of the extension only.

Results are followed as documents are: by windows of change versions and by `/deletes`. Rules, runs and the values of
descriptors have no versions. They are few, so all of them are in every window.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.response import Response

from edfi_api.core.queries.listing import DATE, TEXT, UUID, Field, SqlRows, as_sql, read_filters, without_nulls
from edfi_api.core.queries.pagination import NUMBER_PARAMETER, tokens_from
from edfi_api.core.queries.parameters import CHANGE_VERSION_PARAMETERS, PAGING_PARAMETERS, refuse_filters
from edfi_api.core.security.profiles.catalog import ProfileCatalogs
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.features.changes.change_queries.windows import read_window
from edfi_api.features.validation.http import results, rules, runs
from edfi_api.features.validation.http.base import NAMESPACE, CollectionView, ValidationView, id_of
from edfi_api.features.validation.result_visibility import ENDPOINT, RESULT, RULE, RUN
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.web.viewsets.edfi_view import EdFiRequest
from edfi_api.web.viewsets.recorded_writes import record_refused
from edfi_api.web.viewsets.responses import JsonTextResponse
from edfi_api.web.viewsets.router import OwnViews

# Descriptor → the resource whose claim authorizes it, and its values.
_DESCRIPTORS: Mapping[str, tuple[Resource, tuple[str, ...]]] = {
    "RuleStatusDescriptor": (RULE, ("Active", "Inactive")),
    "RunStatusDescriptor": (RUN, ("Running", "Completed", "Stopped")),
    "SeverityDescriptor": (RULE, ("Warning", "Minor Validation Error", "Major Validation Error")),
    "ValidationLogicTypeDescriptor": (RULE, ("SQL", "Python")),
}
_VALUES = """
  FROM (
    SELECT number, code, %(namespace)s::text AS namespace, md5(%(namespace)s::text || '#' || code)::uuid AS id
      FROM unnest(%(codes)s::text[]) WITH ORDINALITY AS each (code, number)
  ) v
"""
_VALUE_FIELDS = (
    Field("id", "v.id", UUID),
    Field("namespace", "v.namespace", TEXT),
    Field("codeValue", "v.code", TEXT),
    Field("shortDescription", "v.code", TEXT),
    Field("description", "NULL", TEXT),
    Field("effectiveBeginDate", "NULL::date", DATE),
    Field("effectiveEndDate", "NULL::date", DATE),
)
# The values are part of the program, so they have one version, and no time of a change.
_ETAG = Field("_etag", "'1'", TEXT)


class _DataView(ValidationView):
    """Refused writes are recorded, as those of all data routes."""

    http_method_names = ["get", "head"]
    url_path = ""

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        record_refused(self.request, response, exc, resource=self.url_path)
        return response


class _Collection(_DataView, CollectionView):
    """Accepts a window of change versions."""

    parameters: Collection[str] = CHANGE_VERSION_PARAMETERS

    def selected(self, request: EdFiRequest) -> SqlRows:
        read_window(request.query_params)
        return super().selected(request)


class _Partitions(_DataView, CollectionView):
    """The page tokens of the parts of a collection, which is a further base of each subclass."""

    detail = None
    action = "partitions"
    parameters = {*CHANGE_VERSION_PARAMETERS, NUMBER_PARAMETER}

    def get(self, request: EdFiRequest, **kwargs: Any) -> Response:
        rows = self.selected(request)
        firsts = rows.partition(self.paginator.read_number(request), self.using)
        return Response({"pageTokens": [str(token) for token in tokens_from(firsts)]})


class _NoChanges(_DataView):
    """The deletes or key changes of a resource that has none."""

    detail = None
    action = "deletes"
    resource = RULE

    def get(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        page = self.paginator.read_offset(request)
        read_window(request.query_params)
        refuse_filters(request.query_params)
        if (policy := self.authorize(request).policy) is not None:
            policy.predicate()  # Raises a refusal if the client cannot be allowed to read any row.
        return JsonTextResponse(b"[]", {"Total-Count": "0"} if page.wants_total else {})


class _Rules(_Collection, rules.RulesView):
    fields = rules.FIELDS


class _Rule(_DataView, rules.RuleView):
    fields = rules.FIELDS


class _Runs(_Collection, runs.RunsView):
    fields = runs.FIELDS
    shown = (*runs.FIELDS, *runs.CHANGED)


class _Run(_DataView):
    detail = True
    resource = RUN
    action = "retrieve"

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        condition = id_of("r.run_uuid", item_id)
        self.authorize(request)
        host = {"host": self.host(request)}
        return self.item(SqlRows(_Runs.shown, runs.members, runs.ROWS, [condition], given=host))


class _Results(_Collection, results.VisibleResultsView):
    is_own = False

    def selected(self, request: EdFiRequest) -> SqlRows:
        others = {*PAGING_PARAMETERS, *self.parameters}
        filters = read_filters(results.FIELDS, request.query_params, others).or_invalid_values()
        return self.results(request, results.OPEN, as_sql(filters, self.given(request)))


class _Result(_DataView, results.VisibleResultsView):
    detail = True
    action = "retrieve"
    is_own = False

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        return self.item(self.result(request, item_id, results.OPEN))


class _ResolvedResults(_DataView, results.ResolvedResultsView):
    pass


class _DescriptorView(_DataView):
    resource = RULE
    name = ""
    codes: tuple[str, ...] = ()

    def values(self, found: Iterable[Sql]) -> SqlRows:
        """The values that meet these conditions."""
        values = Sql(_VALUES, {"namespace": f"{NAMESPACE}/{self.name}", "codes": list(self.codes)})
        return SqlRows((*_VALUE_FIELDS, _ETAG), without_nulls, values, list(found), "v.number")


class _Descriptors(_Collection, _DescriptorView):
    def selected(self, request: EdFiRequest) -> SqlRows:
        read_window(request.query_params)
        others = {*PAGING_PARAMETERS, *self.parameters}
        filters = read_filters(_VALUE_FIELDS, request.query_params, others).or_invalid_values()
        self.authorize(request)
        return self.values(as_sql(filters).values())


class _Descriptor(_DescriptorView):
    detail = True
    action = "retrieve"

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        condition = id_of("v.id", item_id)
        self.authorize(request)
        return self.item(self.values([condition]))


class _Route:
    """A view of the data router: without the prefix of the address, and with the id by the name that it has here."""

    def __init__(self, view: type[_DataView], url_path: str, **facts: Any) -> None:
        self.url_path = url_path
        self._view = view.as_view(url_path=url_path, **facts)

    def __call__(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        named = {"item_id": kwargs["document_id"]} if "document_id" in kwargs else {}
        response: HttpResponse = self._view(request, **named)
        return response


def extension_views(surface: Surface) -> dict[tuple[str, str], OwnViews]:
    """The views by project and endpoint, in lower case. `surface` has the resources that results are about."""
    parts = {"surface": surface, "profiles": ProfileCatalogs(surface)}
    found: dict[tuple[str, str], OwnViews] = {}
    for resource, endpoint, collection, item, facts in _views():
        given: dict[str, Any] = {"url_path": f"/{ENDPOINT}/{endpoint}", "resource": resource, **parts}
        partitions = type(f"{collection.__name__}Partitions", (_Partitions, collection), {})
        deletes = _ResolvedResults if resource is RESULT else _NoChanges
        by_segment = {
            "partitions": _Route(partitions, **given, **facts),
            "deletes": _Route(deletes, **given),
            "keychanges": _Route(_NoChanges, **given, action="key_changes"),
        }
        own = OwnViews(_Route(collection, **given, **facts), _Route(item, **given, **facts), by_segment)
        found[ENDPOINT, endpoint.lower()] = own
    return found


def _views() -> Iterator[tuple[Resource, str, type[_Collection], type[_DataView], dict[str, Any]]]:
    """The resource whose claim authorizes, the endpoint, the views of collection and item, and their attributes."""
    yield RULE, RULE.endpoint, _Rules, _Rule, {}
    yield RUN, RUN.endpoint, _Runs, _Run, {}
    yield RESULT, RESULT.endpoint, _Results, _Result, {}
    for name, (resource, codes) in _DESCRIPTORS.items():
        yield resource, f"{name[0].lower()}{name[1:]}s", _Descriptors, _Descriptor, {"name": name, "codes": codes}
