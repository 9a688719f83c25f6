"""Partitions: page tokens that divide a collection into parts of about equal size, for parallel reading. See
meadowlark/docs/reference/contract.md#paging."""

from collections.abc import Mapping, Sequence

from edfi_api.common.conf import api_settings
from edfi_api.core.queries import collection
from edfi_api.core.queries.exceptions import ParameterValidationFailed
from edfi_api.core.queries.ordering import ORDER_PARAMETER
from edfi_api.core.queries.page_tokens import PageToken
from edfi_api.core.queries.parameters import PAGING_PARAMETERS, is_natural_number, last_values
from edfi_api.core.queries.selection import LAST_ROW, Selection

NUMBER_PARAMETER = "number"
DEFAULT_NUMBER, LARGEST_NUMBER = 10, 200
# With smaller partitions a client would need more requests instead of fewer.
_PAGES_IN_A_PART = 5


def read_number(query: Mapping[str, str]) -> int:
    """The requested number of partitions. Raises ParameterValidationFailed, also for paging parameters."""
    given = last_values(query)
    messages = [
        f"The '{name}' parameter is not supported by the partitions endpoint."
        for key, (name, _) in given.items()
        if key in PAGING_PARAMETERS or key == ORDER_PARAMETER
    ]
    number = given.get(NUMBER_PARAMETER, ("", str(DEFAULT_NUMBER)))[1]
    if not is_natural_number(number, LARGEST_NUMBER) or int(number) == 0:
        messages.insert(0, f"Number of partitions must be between 1 and {LARGEST_NUMBER}.")
    if messages:
        raise ParameterValidationFailed(messages)
    return int(number)


def partition(documents: Selection, number: int) -> list[PageToken]:
    """Return at most `number` tokens that together cover exactly these documents."""
    return tokens_from(collection.partition(documents, number, smallest_part()))


def smallest_part() -> int:
    """How many rows a part has at least, but for the last."""
    return _PAGES_IN_A_PART * int(api_settings.MAX_PAGE_SIZE)


def tokens_from(firsts: Sequence[int]) -> list[PageToken]:
    """The tokens of parts that begin with these rows."""
    lasts = [*(first - 1 for first in firsts[1:]), LAST_ROW]
    return [PageToken(first, last) for first, last in zip(firsts, lasts, strict=False)]
