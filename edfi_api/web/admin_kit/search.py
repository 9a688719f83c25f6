"""The search in the header of every page: what it is asked, and the groups of what it finds, which apps contribute as
`search_groups` in their `apps.py` (`edfi_api/common/contributions.py`).

Such a function is given a `Search`. It yields nothing that the user may not view, and reads a bounded number of rows:

    def search_groups(search: Search) -> Iterator[Group]:
        if search.may("validation.view_validationresult"):
            yield Group("findings", "Findings", GroupOrder.FINDINGS, items)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from edfi_api.core.models import Document
from edfi_api.core.queries.name_index import Word, having_words
from edfi_api.core.security.models import ApiClient, Application, Vendor
from edfi_api.core.storage.driver.execution import TookTooLong, find_in_time, time_limit
from edfi_api.web.admin_kit import natural_keys

Row = TypeVar("Row", bound=Model)
# Milliseconds for one of the queries about other things than documents, which read rows one by one: some 30
# microseconds each.
_MILLISECONDS = 250


class GroupOrder(IntEnum):
    """The order of the groups. Others choose numbers between these."""

    PEOPLE = 10
    ORGANIZATIONS = 20
    OTHER_NAMES = 30
    CLIENTS = 40
    REFUSED = 50
    FINDINGS = 60
    DOCUMENTS = 70


@dataclass(frozen=True, slots=True)
class Item:
    """Something that was found: its kind in words, a title that leads to its page, and what else there is to say."""

    kind: str
    title: SafeString | str
    address: str
    detail: SafeString | str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one sort; `name` is the id of its element. `answer` is a sentence that stands above all groups,
    and `rest` the address of a list that has more."""

    name: str
    heading: str
    order: int
    items: Sequence[Item]
    answer: SafeString | str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """The search of a user. `words` are those of names, and `documents` the persons and organizations that were
    found. `using` and `data_store` are the database and the number of the shown data store; `data_store` is None for a
    user who may see no page of documents, so that none is chosen."""

    request: HttpRequest
    text: str
    words: Sequence[Word]
    documents: Sequence[Document]
    using: str
    data_store: int | None

    def may(self, permission: str) -> bool:
        """Return whether the user has the permission."""
        return bool(self.request.user.has_perm(permission))

    @property
    def own_values(self) -> list[str]:
        """The unique ids of the persons and organizations that were found, then the text itself."""
        keys = (natural_keys.elements(each.natural_key) for each in self.documents)
        return list(dict.fromkeys([*(key[0].value for key in keys if len(key) == 1), self.text]))

    @property
    def is_one_word(self) -> bool:
        """Whether the text may be a value that identifies something."""
        return bool(self.text) and not any(character.isspace() or character in "=#" for character in self.text)


def in_time(rows: "QuerySet[Row]") -> list[Row]:
    """Return the rows; none if reading them takes too long."""
    try:
        with time_limit(_MILLISECONDS, rows.db):
            return list(rows)
    except TookTooLong:
        return []


def rows_named(model: Any, words: Sequence[Word], most: int) -> list[int]:
    """Return the primary keys of rows of a model with a `name`, at most `most`, in the order of their names."""
    if not words:
        return []
    select = f"SELECT id FROM {model._meta.db_table} WHERE "  # noqa: S608  No values.
    found = find_in_time(
        select + having_words("name", words) + f" ORDER BY name LIMIT {most:d}", _MILLISECONDS, DEFAULT_DB_ALIAS
    )
    return [row for (row,) in found]


def clients_named(words: Sequence[Word], most: int) -> list[ApiClient]:
    """Return the API clients with such a name, and those of applications and vendors with one."""
    vendors, applications = rows_named(Vendor, words, most), rows_named(Application, words, most)
    owned = Application.objects.filter(vendor__in=vendors).values_list("pk", flat=True)[:most]
    of_owners = ApiClient.objects.filter(application__in=[*applications, *owned]).values_list("pk", flat=True)[:most]
    return list(
        ApiClient.objects.filter(pk__in=[*rows_named(ApiClient, words, most), *of_owners]).order_by("name")[:most]
    )
