"""Rules, runs and open results as resources of Ed-Fi's extension `EdFiXValidations`, below `/data/ed-fi-x-validations`,
read-only, with the members of the extension only."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.response import Response

from edfi_api.api.validation import results, rules, runs
from edfi_api.api.validation.base import NAMESPACE, Rows, ValidationView, id_of, json_object
from edfi_api.api.validation.query import Field, conditions
from edfi_api.api.validation.visible_rows import VisibleRows
from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.api.viewsets.recorded_writes import record_refused
from edfi_api.api.viewsets.resource_viewset import View
from edfi_api.api.viewsets.router import OwnViews
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.profiles.catalog import ProfileCatalogs
from edfi_api.storage.driver.sql import Sql
from edfi_api.validation.resources import ENDPOINT, RESULT, RULE, RUN
from edfi_api.validation.visible import RESULTS

_IS_OPEN = Sql("d.resolved_at IS NULL")
# Descriptor → the resource whose claim authorizes it, and its values.
_DESCRIPTORS: Mapping[str, tuple[Resource, tuple[str, ...]]] = {
    "RuleStatusDescriptor": (RULE, ("Active", "Inactive")),
    "RunStatusDescriptor": (RUN, ("Running", "Completed", "Stopped")),
    "SeverityDescriptor": (RULE, ("Warning", "Minor Validation Error", "Major Validation Error")),
    "ValidationLogicTypeDescriptor": (RULE, ("SQL", "Python")),
}
# The values are part of the program, so they have one version, and no time of a change.
_VALUE = Sql(
    json_object(
        "'id', v.id, 'namespace', v.namespace, 'codeValue', v.code, 'shortDescription', v.code, '_etag', '1'",
    )
)
_VALUES = """
  FROM (
    SELECT number, code, %(namespace)s::text AS namespace, md5(%(namespace)s::text || '#' || code)::uuid AS id
      FROM unnest(%(codes)s::text[]) WITH ORDINALITY AS each (code, number)
  ) v
"""
_VALUE_FIELDS = (
    Field("id", "v.id", "uuid"),
    Field("namespace", "v.namespace"),
    Field("codeValue", "v.code"),
    Field("shortDescription", "v.code"),
    Field("description", "NULL"),
    Field("effectiveBeginDate", "NULL::date", "date"),
    Field("effectiveEndDate", "NULL::date", "date"),
)


class _DataView(ValidationView):
    """Refused writes are recorded, as those of all data routes."""

    http_method_names = ["get", "head"]
    url_path = ""

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        record_refused(self.request, response, exc, resource=self.url_path)
        return response


class _Rules(_DataView, rules.RulesView):
    fields = rules.FIELDS
    item_sql = Sql(json_object(rules.MEMBERS))


class _Rule(_DataView, rules.RuleView):
    item_sql = Sql(json_object(rules.MEMBERS))


class _Runs(_DataView, runs.RunsView):
    fields = runs.FIELDS
    item_sql = json_object(runs.MEMBERS)


class _Run(_DataView):
    detail = True
    resource = RUN
    action = "retrieve"

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        condition = id_of("r.run_uuid", item_id)
        self.authorize(request)
        return self.item(Rows(Sql(_Runs.item_sql, {"host": self.host(request)}), runs.ROWS, [condition]))


class _Results(_DataView, results.VisibleResultsView):
    action = "list"
    item_sql = json_object(results.MEMBERS)

    def get(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        page = self.paginator.read_offset(request)
        found = self.selected(conditions(results.FIELDS, request.query_params, given=self.given(request)))
        item, visible = self.visible(request)
        return self.page(page, VisibleRows(item, RESULTS, [_IS_OPEN, *found], "d.id", visible=visible))


class _Result(_DataView, results.VisibleResultsView):
    detail = True
    action = "retrieve"
    item_sql = json_object(results.MEMBERS)

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        condition = id_of("d.result_uuid", item_id)
        item, visible = self.visible(request)
        return self.item(Rows(item, RESULTS, [_IS_OPEN, condition, visible.whole]))


class _Descriptors(_DataView):
    action = "list"
    resource = RULE
    name = ""
    codes: tuple[str, ...] = ()

    def get(self, request: EdFiRequest, **kwargs: Any) -> HttpResponse:
        page = self.paginator.read_offset(request)
        found = conditions(_VALUE_FIELDS, request.query_params)
        self.authorize(request)
        return self.page(page, self.values(list(found.values())))

    def values(self, found: list[Sql]) -> Rows:
        """The values that meet these conditions."""
        values = Sql(_VALUES, {"namespace": f"{NAMESPACE}/{self.name}", "codes": list(self.codes)})
        return Rows(_VALUE, values, found, "v.number")


class _Descriptor(_Descriptors):
    detail = True
    action = "retrieve"

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
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


def extension_views(surface: Surface) -> OwnViews:
    """The views of collections and items by project and endpoint, in lower case. `surface` are the resources whose
    documents results are about."""
    parts = {"surface": surface, "profiles": ProfileCatalogs(surface)}
    found: dict[tuple[str, str], tuple[View, View]] = {}
    for endpoint, collection, item, facts in _views():
        given = {"url_path": f"/{ENDPOINT}/{endpoint}", **parts, **facts}
        found[ENDPOINT, endpoint.lower()] = _Route(collection, **given), _Route(item, **given)
    return found


def _views() -> Iterator[tuple[str, type[_DataView], type[_DataView], dict[str, Any]]]:
    yield RULE.endpoint, _Rules, _Rule, {}
    yield RUN.endpoint, _Runs, _Run, {}
    yield RESULT.endpoint, _Results, _Result, {}
    for name, (resource, codes) in _DESCRIPTORS.items():
        endpoint = f"{name[0].lower()}{name[1:]}s"
        yield endpoint, _Descriptors, _Descriptor, {"resource": resource, "name": name, "codes": codes}
