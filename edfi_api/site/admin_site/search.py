"""The page of the search: persons, organizations, clients and all else by name, any document by the values of its key,
and what apps find (`edfi_api/web/admin_kit/search.py`)."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from edfi_api.common.contributions import contributions
from edfi_api.core.models import Document
from edfi_api.core.queries import name_index
from edfi_api.core.queries.name_index import FoundNames, NamedResources, Word, named_resources, numbers_of
from edfi_api.core.security.models import ApiClient, Application, Vendor
from edfi_api.core.served import current_surface
from edfi_api.model.surface.resource import ResourceName
from edfi_api.site.admin_site import navigation, overview
from edfi_api.site.admin_site.navigation import SEES_CLIENTS
from edfi_api.web.admin_kit import key_search
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.search import Group, GroupOrder, Item, Search, rows_named
from edfi_api.web.admin_kit.store_choice import shown_in, store_number, with_choice
from edfi_api.web.admin_kit.tables import filtered
from edfi_api.web.admin_kit.titles import DocumentKey, resource_of, titles
from references.identity import as_uuid

_DOCUMENT = "admin:edfi_api_document_change"
_DOCUMENTS = "admin:edfi_api_document_changelist"
_LONGEST = 200
_MOST = 20
_MOST_CLIENTS = 10
_TOO_MANY = "{}: more begin like this than can be listed. Another letter or name finds fewer."
_HEADINGS = {
    GroupOrder.PEOPLE: "People",
    GroupOrder.ORGANIZATIONS: "Organizations",
    GroupOrder.OTHER_NAMES: "Others of this name",
    GroupOrder.DOCUMENTS: "Documents",
}
# Names that are those of many things, such as a first name, have more; their refusals and findings are not looked for.
_MOST_IDENTIFIED = 5


def search_page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Show what is found for `?q=`. Raises PermissionDenied for users who may see nothing of it."""
    if not navigation.may_search(request.user):
        raise PermissionDenied
    if navigation.sees_a_database(request.user):
        return with_choice(request, lambda: _answer(site, request, shown_in(request).using, store_number(request)))
    return _answer(site, request, DEFAULT_DB_ALIAS, None)


def _answer(site: AdminSite, request: HttpRequest, using: str, data_store: int | None) -> TemplateResponse:
    text = " ".join(request.GET.get("q", "").replace("\0", " ").split())[:_LONGEST]
    groups = _found(request, text, using, data_store) if text else []
    context = {
        **site.each_context(request),
        "title": f"Search for {text}" if text else "Search",
        "searched_text": text,
        "groups": groups,
        "answers": [group.answer for group in groups if group.answer],
        "names_are_missing": bool(text) and _sees_documents(request) and not _has_names(using),
    }
    return TemplateResponse(request, "edfi_api/search.html", context)


def _found(request: HttpRequest, text: str, using: str, data_store: int | None) -> list[Group]:
    words = name_index.words_of(text, DEFAULT_DB_ALIAS)
    names = _names(text, words, using) if _sees_documents(request) else {}
    named = {order: _documents(found.rows, using) for order, found in names.items()}
    identified = [*named.get(GroupOrder.PEOPLE, ()), *named.get(GroupOrder.ORGANIZATIONS, ())]
    search = Search(request, text, words, identified[:_MOST_IDENTIFIED], using, data_store)
    found = [_group(order, _HEADINGS[order], rows, text) for order, rows in named.items()]
    found += [_too_many(order) for order, each in names.items() if each.are_too_many]
    found += clients(search)
    if _sees_documents(request):
        others = _other_documents(text, {each.pk for rows in named.values() for each in rows}, using)
        found.append(_group(GroupOrder.DOCUMENTS, _HEADINGS[GroupOrder.DOCUMENTS], others, text))
    for contributed in contributions("search_groups"):
        found += contributed(search)
    return sorted((group for group in found if group.items or group.answer), key=lambda group: group.order)


def _sees_documents(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(navigation.SEES_DATA))


def _has_names(using: str) -> bool:
    return named_resources().index(using).is_usable(using)


def _names(text: str, words: Sequence[Word], using: str) -> dict[GroupOrder, FoundNames]:
    """Return what has these words in its name, or beginnings of them."""
    index = named_resources().index(using)
    if "=" in text or "#" in text or not index.is_usable(using):
        return {}
    return {
        order: name_index.find(index, words, numbers_of(names, using), _MOST + 1, using)
        for order, names in _by_order(named_resources()).items()
    }


def _too_many(order: GroupOrder) -> Group:
    heading = _HEADINGS[order]
    return Group(f"too-many-{order}", heading, order, [], answer=_TOO_MANY.format(heading))


def _by_order(named: NamedResources) -> dict[GroupOrder, Sequence[ResourceName]]:
    return {
        GroupOrder.PEOPLE: named.people,
        GroupOrder.ORGANIZATIONS: named.organizations,
        GroupOrder.OTHER_NAMES: named.others,
    }


def _other_documents(text: str, known: Collection[int], using: str) -> list[Document]:
    """Return what has the text in its key, or as its id, and is not known already."""
    if id_ := as_uuid(text):
        found = list(Document.objects.using(using).filter(document_uuid=id_).values_list("pk", flat=True))
    else:
        numbers = overview.resources_with_documents(using).values_list("pk", flat=True)
        found = key_search.find_keys(text, current_surface(), list(numbers), _MOST + 1, using)
    return _ranked([row for row in found if row not in known], using)


def _documents(rows: Sequence[int], using: str) -> list[Document]:
    """The documents in the order of these rows, without their bodies."""
    found = {each.pk: each for each in _without_bodies(using).filter(pk__in=rows)}
    return [found[row] for row in rows if row in found]


def _ranked(rows: Sequence[int], using: str) -> list[Document]:
    """Return what is identified by fewest values first: it comes before what refers to it."""
    ranked = _without_bodies(using).annotate(search_rank=key_search.rank(current_surface(), using))
    return list(ranked.filter(pk__in=rows).order_by("search_rank", "-id")[: _MOST + 1])


def _without_bodies(using: str) -> QuerySet[Document]:
    return Document.objects.using(using).select_related("resource_type").defer("body")


def _group(order: GroupOrder, heading: str, rows: Sequence[Document], text: str) -> Group:
    using = str(rows[0]._state.db) if rows else DEFAULT_DB_ALIAS
    shown = rows[:_MOST]
    keys = [DocumentKey(resource_of(each.resource_type), each.natural_key) for each in shown]
    items = [
        Item(kind_in_words(each.resource_type.name).singular, title, reverse(_DOCUMENT, args=[each.pk]))
        for each, title in zip(shown, titles(keys, using), strict=True)
    ]
    rest = filtered(_DOCUMENTS, {"q": text}) if len(rows) > _MOST else ""
    return Group(order.name.lower().replace("_", "-"), heading, order, items, rest=rest)


def clients(search: Search) -> Iterator[Group]:
    """Yield the vendors, applications and API clients of such a name that the user may view."""
    models = [
        model for model, each in zip((Vendor, Application, ApiClient), SEES_CLIENTS, strict=True) if search.may(each)
    ]
    items = [item for model in models for item in _items(model, search)]
    yield Group("clients", "Vendors, applications and clients", GroupOrder.CLIENTS, items)


def _items(model: Any, search: Search) -> Iterator[Item]:
    for row in model.objects.filter(pk__in=rows_named(model, search.words, _MOST_CLIENTS)).order_by("name", "pk"):
        address = reverse(f"admin:security_{model._meta.model_name}_change", args=[row.pk])
        yield Item(model._meta.verbose_name, row.name, address)
