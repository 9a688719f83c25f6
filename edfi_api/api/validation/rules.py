"""The rules of validation over HTTP."""

from typing import Any

from django.http import HttpResponse

from edfi_api.api.validation.base import NAMESPACE, CollectionView, Rows, ValidationView, id_of, json_object, moment
from edfi_api.api.validation.query import Field, conditions
from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.storage.driver.sql import Sql
from edfi_api.validation.resources import RULE

SEVERITY = f"""'{NAMESPACE}/SeverityDescriptor#' || CASE v.severity
    WHEN 'major' THEN 'Major Validation Error' WHEN 'minor' THEN 'Minor Validation Error' ELSE 'Warning' END"""
_STATUS = f"""'{NAMESPACE}/RuleStatusDescriptor#' || CASE
    WHEN v.retired_at IS NULL AND v.is_on THEN 'Active' ELSE 'Inactive' END"""
# A path in a repository, as the bundled rules have, does not resolve for a client.
_HELP = "CASE WHEN v.help_url ~* '^https?://' THEN v.help_url END"
_LANGUAGE = f"'{NAMESPACE}/ValidationLogicTypeDescriptor#' || v.language"
_ROWS = "FROM validation_rule v"
# Those that Ed-Fi's extension has.
MEMBERS = f"""
    'id', v.rule_uuid, 'ruleIdentifier', v.identifier, 'ruleSource', v.source, 'helpUrl', {_HELP},
    'shortDescription', v.short_description, 'description', nullif(v.description, ''),
    'ruleStatusDescriptor', {_STATUS}, 'category', v.category, 'severityDescriptor', {SEVERITY},
    'externalRuleId', nullif(v.external_id, ''), 'validationLogicTypeDescriptor', {_LANGUAGE},
    'validationLogic', nullif(v.logic, ''),
    '_etag', (extract(epoch FROM v.modified_at) * 1000000)::bigint::text, '_lastModifiedDate', {moment("v.modified_at")}
"""
_ITEM = Sql(json_object(MEMBERS, "'version', v.version, 'resourceType', v.resource"))
FIELDS = (
    Field("id", "v.rule_uuid", "uuid"),
    Field("ruleIdentifier", "v.identifier"),
    Field("ruleSource", "v.source"),
    Field("helpUrl", _HELP),
    Field("shortDescription", "v.short_description"),
    Field("description", "v.description"),
    Field("ruleStatusDescriptor", _STATUS),
    Field("category", "v.category"),
    Field("severityDescriptor", SEVERITY),
    Field("externalRuleId", "v.external_id"),
    Field("validationLogicTypeDescriptor", _LANGUAGE),
    Field("validationLogic", "v.logic"),
)
_OWN_FIELDS = (Field("version", "v.version"), Field("resourceType", "v.resource"))


class RulesView(CollectionView):
    """All rules that there ever were."""

    resource = RULE
    fields: tuple[Field, ...] = (*FIELDS, *_OWN_FIELDS)
    item_sql = _ITEM

    def selected(self, request: EdFiRequest) -> Rows:
        found = conditions(self.fields, request.query_params, self.parameters)
        self.authorize(request)
        return Rows(self.item_sql, _ROWS, list(found.values()), "v.id")


class RuleView(ValidationView):
    """One rule."""

    detail = True
    resource = RULE
    action = "retrieve"
    item_sql = _ITEM

    def get(self, request: EdFiRequest, item_id: str, **kwargs: Any) -> HttpResponse:
        condition = id_of("v.rule_uuid", item_id)
        self.authorize(request)
        return self.item(Rows(self.item_sql, _ROWS, [condition]))
