"""The pages of the admin by what people do there: the header shows the areas, and the pages of the one that is open.

Each user sees the pages that the permissions allow, and the areas that have one. It is the only navigation: Django's
list of apps, its sidebar and the links of its breadcrumbs to the front page would say the same in another order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

SEES_DATA = "edfi_api.view_document"
_SEES_REFUSALS = "refusals.view_refusal"
_SEES_RESULTS = "validation.view_validationresult"
SEES_CLIENTS = ("security.view_vendor", "security.view_application", "security.view_apiclient")
# Users with one of these find something by the search of the header.
_SEARCHED = (SEES_DATA, _SEES_REFUSALS, _SEES_RESULTS, *SEES_CLIENTS)
_TODAY = "admin:index"


@dataclass(frozen=True, slots=True)
class OwnPage:
    """A page that is not the list of a model: the name of its URL, and the permissions that it needs."""

    name: str
    url_name: str
    permissions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the header shows it; `is_current` of the one that is open, or whose parts are."""

    name: str
    address: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Area:
    """Pages for one kind of work. The header leads to the first of them."""

    name: str
    pages: tuple[Page, ...]

    @property
    def address(self) -> str:
        return self.pages[0].address

    @property
    def is_current(self) -> bool:
        return any(page.is_current for page in self.pages)


# Area → its pages in their order: lists of models by their labels, and others. A page that no capability serves is left
# out. Lists that are in no area are in the last one.
_AREAS: dict[str, Sequence[str | OwnPage]] = {
    "Today": (OwnPage("Today", _TODAY),),
    "Schools": (OwnPage("Schools", "admin:schools", (SEES_DATA,)),),
    "Refused": (
        "refusals.refusal",
        OwnPage("Overview", "admin:refusals_overview", (_SEES_REFUSALS,)),
        OwnPage("Activity of clients", "admin:refusals_activity", (_SEES_REFUSALS,)),
        OwnPage("Rules of writes", "admin:refusals_rules", (_SEES_REFUSALS,)),
    ),
    "Findings": (
        OwnPage("Overview", "admin:validation_overview", (_SEES_RESULTS,)),
        "validation.validationresult",
        "validation.validationrule",
        "validation.validationrun",
    ),
    "Documents": (
        "edfi_api.document",
        OwnPage("By kind", "admin:documents_by_kind", (SEES_DATA,)),
        "descriptors.descriptor",
        "change_queries.deleteddocument",
    ),
    "Access": (
        "security.apiclient",
        "security.application",
        "security.vendor",
        OwnPage(
            "Give a vendor access",
            "admin:security_onboarding",
            ("security.add_vendor", "security.add_application", "security.add_apiclient"),
        ),
        "security.claimset",
        "security.resourceclaim",
        "profiles.profile",
        "security.grant",
        "oauth2_provider.accesstoken",
        "auth.user",
        "auth.group",
        "sign_in.adminidentity",
    ),
    "Exchange": (
        "tables.tableload",
        "exchange.connection",
        "change_queries.changeconsumer",
        "change_stream.deadletter",
        "sql_views.sqlreader",
        "questions.questionreader",
        "questions.questionprofile",
        "questions.question",
    ),
    "Server": ("data_stores.datastore", "data_stores.tenant"),
}
_LAST = "Server"


def areas(apps: Iterable[dict[str, Any]], request: HttpRequest) -> list[Area]:
    """Return the areas that have a page for the user. `apps` is Django's list, which has what the user may see."""
    lists = {each["model"]._meta.label_lower: each for app in apps for each in app["models"]}
    placed = {label for entries in _AREAS.values() for label in entries if isinstance(label, str)}
    found = []
    for name, entries in _AREAS.items():
        rest = sorted(lists.keys() - placed) if name == _LAST else ()
        if pages := tuple(_pages((*entries, *rest), lists, request.user)):
            found.append((name, pages))
    current = _current(request.path, (address for _, pages in found for _, address in pages))
    return [Area(name, tuple(Page(*page, is_current=page[1] == current) for page in pages)) for name, pages in found]


def may_search(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether there is anything that the user may find."""
    return any(user.has_perm(permission) for permission in _SEARCHED)  # type: ignore[union-attr]


def sees_a_database(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether what the user may find is in the chosen data store; refusals of all are in the admin database."""
    return user.has_perm(SEES_DATA) or user.has_perm(_SEES_RESULTS)  # type: ignore[union-attr]


def _pages(
    entries: Iterable[str | OwnPage], lists: dict[str, Any], user: AbstractBaseUser | AnonymousUser
) -> Iterator[tuple[str, str]]:
    """Yield name and address of what there is and the user may see."""
    for entry in entries:
        if isinstance(entry, OwnPage):
            address = _address(entry.url_name)
            if address and user.has_perms(entry.permissions):  # type: ignore[union-attr]
                yield entry.name, address
        elif (listed := lists.get(entry)) and listed["admin_url"]:
            yield listed["name"], listed["admin_url"]


def _address(url_name: str) -> str:
    try:
        return reverse(url_name)
    except NoReverseMatch:
        return ""


def _current(path: str, addresses: Iterable[str]) -> str:
    """Return the longest address that the path begins with; every page of the admin begins with that of Today, which is
    current only by itself."""
    today = reverse(_TODAY)
    found = [each for each in addresses if path == each or (each != today and path.startswith(each))]
    return max(found, key=len, default="")
