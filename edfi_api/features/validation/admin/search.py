"""What the search of the admin finds among results of validation."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.html import format_html

from edfi_api.common.logs import audit
from edfi_api.features.validation.admin.results import open_results
from edfi_api.features.validation.models import ValidationResult
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.search import Group, Item, Order, Search, in_time
from edfi_api.web.admin_kit.tables import filtered
from references.identity import as_uuid

_RESULT = "admin:validation_validationresult_change"
_RESULTS = "admin:validation_validationresult_changelist"
_MOST = 10


def findings(search: Search) -> Iterator[Group]:
    """Yield what is open about the persons, organizations and documents that were searched for."""
    if not search.may("validation.view_validationresult"):
        return
    found = in_time(_results(search)[: _MOST + 1])
    if found:
        audit.administered("validation results searched", by=search.request.user.get_username())
    rest = filtered(_RESULTS, {"q": search.text}) if len(found) > _MOST and not search.documents else ""
    yield Group("findings", "Findings", Order.FINDINGS, [_item(each) for each in found[:_MOST]], rest=rest)


def _results(search: Search) -> QuerySet[ValidationResult]:
    about = Q(student__in=search.own_values) | Q(staff__in=search.own_values) | Q(natural_key=search.text)
    if id_ := as_uuid(search.text):
        about |= Q(document_uuid=id_) | Q(result_uuid=id_)
    if organizations := [each.hierarchy[0] for each in search.documents if each.hierarchy]:
        about |= Q(organization__in=organizations)
    return open_results(search.using).filter(about).select_related("rule").order_by("-id")


def _item(result: ValidationResult) -> Item:
    detail = format_html("{}, since {}", result.rule, timestamp(result.appeared_at))
    return Item(result.rule.severity.capitalize(), result.message, reverse(_RESULT, args=[result.pk]), detail)
