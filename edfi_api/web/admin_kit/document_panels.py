"""The blocks of the page of a document, which apps contribute: `document_panels` in their `apps.py`
(`edfi_api/common/contributions.py`).

Such a function is given a `ShownDocument`. It yields nothing for documents that do not concern it, and nothing that
the user may not view:

    def document_panels(shown: ShownDocument) -> Iterator[Panel | Problems]:
        if shown.may("validation.view_validationresult"):
            yield Problems(sentences, "" if sentences else "No finding about it is open.")
            yield Panel("results", "Validation", content, Place.FOLDED, PanelOrder.FINDINGS)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from edfi_api.common.contributions import contributions
from edfi_api.core.models import Document
from edfi_api.model.surface.resource import Resource
from edfi_api.web.admin_kit.store_choice import shown_in, store_number
from edfi_api.web.admin_kit.titles import resource_of


class Place(Enum):
    """The place of a block on the page: below the problems, or closed at the end of the page."""

    BODY = "body"
    FOLDED = "folded"


class PanelOrder(IntEnum):
    """The order of blocks in a place. Others choose numbers between these."""

    OF_PERSON = 5
    VALUES = 10
    REFERRERS = 20
    REFUSED = 30
    FINDINGS = 40
    VERSIONS = 50


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """The document that a page is about. `resource` is None if the served standard does not have it."""

    request: HttpRequest
    document: Any
    resource: Resource | None

    @classmethod
    def of(cls, request: HttpRequest, document: Document) -> "ShownDocument":
        """Return what the page of a stored document is about."""
        return cls(request, document, resource_of(document.resource_type))

    def may(self, permission: str) -> bool:
        """Return whether the user has the permission."""
        return bool(self.request.user.has_perm(permission))

    @property
    def using(self) -> str:
        """The alias of the database that has the document."""
        return shown_in(self.request).using

    @property
    def data_store(self) -> int:
        """The number of the data store in the ledger of refusals."""
        return store_number(self.request)


@dataclass(frozen=True, slots=True)
class Panel:
    """A block with its heading; `name` is the id of its element. Blocks that are not wide stand next to others."""

    name: str
    heading: str
    content: SafeString
    place: Place
    order: int
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Problems:
    """The problems of the document now: sentences with links, the most urgent first. `none` is what the page says
    where there are none: exactly what was looked for, and where; else it is empty. `more` is a link to the rest, if
    there are more."""

    sentences: Sequence[SafeString]
    none: SafeString | str
    more: SafeString | str = ""


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """The blocks of a page by place, and what is wrong."""

    panels: Sequence[Panel]
    problems: Sequence[Problems]

    @property
    def body(self) -> list[Panel]:
        return self._in(Place.BODY)

    @property
    def folded(self) -> list[Panel]:
        return self._in(Place.FOLDED)

    @property
    def has_problems(self) -> bool:
        return any(each.sentences for each in self.problems)

    @property
    def nothing_found(self) -> SafeString:
        """What was looked for without finding anything; empty if the user may view no kind of problem."""
        return format_html_join(" ", "{}", ((each.none,) for each in self.problems if each.none))

    def _in(self, place: Place) -> list[Panel]:
        return sorted((each for each in self.panels if each.place == place), key=lambda panel: panel.order)


def page_of(shown: ShownDocument, own: Iterable[Panel | Problems]) -> DocumentPage:
    """Return the page of a document: `own` blocks, and those that apps contribute."""
    found = [*own, *(block for each in contributions("document_panels") for block in each(shown))]
    panels = [each for each in found if isinstance(each, Panel)]
    return DocumentPage(panels, [each for each in found if isinstance(each, Problems)])
