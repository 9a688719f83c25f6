"""A collection cut into parts of about equal size, each the start of a walk of its own. Source: http-api.md §9.3."""

from collections.abc import Iterator, Mapping

from django.db.models import Count, F, IntegerField, QuerySet, Value, Window
from django.db.models.functions import Cast, Ceil, Greatest, Mod, RowNumber

from edfi_api.conf import api_settings
from edfi_api.models import Document
from edfi_api.queries.exceptions import ParameterValidationFailed
from edfi_api.queries.page_tokens import LAST_ROW, PageToken
from edfi_api.queries.parameters import PAGING_PARAMETERS, is_natural_number, last_values

NUMBER_PARAMETER = "number"
_DEFAULT_NUMBER, _LARGEST_NUMBER = 10, 200
# Smaller parts would cost a client more requests than they save.
_PAGES_IN_A_PART = 5


def read_number(query: Mapping[str, str]) -> int:
    """How many parts are wanted; ParameterValidationFailed names what else of the query string is out of place."""
    given = last_values(query)
    messages = [
        f"The '{name}' parameter is not supported by the partitions endpoint."
        for key, (name, _) in given.items()
        if key in PAGING_PARAMETERS
    ]
    number = given.get(NUMBER_PARAMETER, ("", str(_DEFAULT_NUMBER)))[1]
    if not is_natural_number(number, _LARGEST_NUMBER) or int(number) == 0:
        messages.insert(0, f"Number of partitions must be between 1 and {_LARGEST_NUMBER}.")
    if messages:
        raise ParameterValidationFailed(messages)
    return int(number)


def partition(documents: QuerySet[Document], number: int) -> list[PageToken]:
    """At most `number` tokens that together cover exactly these documents; one statement."""
    smallest = _PAGES_IN_A_PART * api_settings.MAX_PAGE_SIZE
    position = Window(RowNumber(), order_by="id") - Value(1)
    wanted = Ceil(Cast(Window(Count("*")), output_field=IntegerField()) * Value(1.0) / Value(number))
    size = Greatest(Cast(wanted, output_field=IntegerField()), Value(smallest))
    firsts = documents.annotate(position=position, size=size).annotate(place=Mod(F("position"), F("size")))
    return list(_tokens(list(firsts.filter(place=0).values_list("id", flat=True))))


def _tokens(firsts: list[int]) -> Iterator[PageToken]:
    lasts = [first - 1 for first in firsts[1:]]
    for first, last in zip(firsts, [*lasts, LAST_ROW], strict=False):
        yield PageToken(first, last)
