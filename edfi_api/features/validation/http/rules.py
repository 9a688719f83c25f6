"""The rules of validation over HTTP."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse

from edfi_api.core.queries.listing import (
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
from edfi_api.features.validation.http.base import NAMESPACE, CollectionView, ValidationView, id_of
from edfi_api.features.validation.result_visibility import RULE
from edfi_api.web.viewsets.edfi_view import EdFiRequest

SEVERITY = f"""'{NAMESPACE}/SeverityDescriptor#' || CASE v.severity
    WHEN 'major' THEN 'Major Validation Error' WHEN 'minor' THEN 'Minor Validation Error' ELSE 'Warning' END"""
_STATUS = f"""'{NAMESPACE}/RuleStatusDescriptor#' || CASE
    WHEN v.retired_at IS NULL AND v.is_on THEN 'Active' ELSE 'Inactive' END"""
# A path in a repository, as the bundled rules have, does not resolve for a client.
_HELP = "CASE WHEN v.help_url ~* '^https?://' THEN v.help_url END"
_ROWS = "FROM validation_rule v"
# Ed-Fi's extension has these fields.
FIELDS = (
    Field("id", "v.rule_uuid", UUID),
    Field("ruleIdentifier", "v.identifier", TEXT),
    Field("ruleSource", "v.source", TEXT),
    Field("helpUrl", _HELP, TEXT),
    Field("shortDescription", "v.short_description", TEXT),
    Field("description", "v.description", TEXT),
    Field("ruleStatusDescriptor", _STATUS, TEXT),
    Field("category", "v.category", TEXT),
    Field("severityDescriptor", SEVERITY, TEXT),
    Field("externalRuleId", "v.external_id", TEXT),
    Field("validationLogicTypeDescriptor", f"'{NAMESPACE}/ValidationLogicTypeDescriptor#' || v.language", TEXT),
    Field("validationLogic", "v.logic", TEXT),
)
_OWN_FIELDS = (Field("version", "v.version", TEXT), Field("resourceType", "v.resource", TEXT))
_CHANGED = (
    Field("_etag", "(extract(epoch FROM v.modified_at) * 1000000)::bigint", TEXT),
    Field("_lastModifiedDate", "v.modified_at", TIMESTAMP),
)
_MAY_BE_EMPTY = ("description", "externalRuleId", "validationLogic")


def members(row: dict[str, Any]) -> dict[str, Any]:
    """The JSON object of a rule."""
    return without_nulls(row | {name: row[name] or None for name in _MAY_BE_EMPTY})


class RulesView(CollectionView):
    """All rules that there ever were."""

    resource = RULE
    fields: Sequence[Field] = (*FIELDS, *_OWN_FIELDS)

    def selected(self, request: EdFiRequest) -> SqlRows:
        others = {*PAGING_PARAMETERS, *self.parameters}
        filters = read_filters(self.fields, request.query_params, others).or_invalid_values()
        self.authorize(request)
        return SqlRows((*self.fields, *_CHANGED), members, _ROWS, list(as_sql(filters).values()), "v.id")


class RuleView(ValidationView):
    """One rule."""

    detail = True
    resource = RULE
    action = "retrieve"
    fields: Sequence[Field] = (*FIELDS, *_OWN_FIELDS)

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        condition = id_of("v.rule_uuid", item_id)
        self.authorize(request)
        return self.item(SqlRows((*self.fields, *_CHANGED), members, _ROWS, [condition]))
