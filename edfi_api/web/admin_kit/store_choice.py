"""The data store that the pages of documents show: it is in their address, `?store=7`, and kept in the session.

Without data stores there is nothing to choose, and nothing of this is seen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.models import State
from edfi_api.core.data_stores.routing import described
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.storage.driver.execution import is_outage

PARAMETER = "store"
_MAIN = "main"
_PER_PAGE = 50
# The length of the column of Django's log.
_LONGEST_DESCRIPTION = 200


@dataclass(frozen=True, slots=True)
class Shown:
    """A database whose documents a page shows. `choice` is the value of the parameter; `text` names the data store, and
    is empty where there is only the admin database."""

    using: str
    choice: str
    text: str

    @property
    def number(self) -> int:
        """The number of the data store in the ledger of refusals, 0 for the admin database."""
        return 0 if self.choice == _MAIN else int(self.choice)


_THE_ONLY_ONE = Shown(DEFAULT_DB_ALIAS, _MAIN, "")


def shown_in(request: HttpRequest) -> Shown:
    """Return what a view of `OfDataStoreAdmin` shows."""
    return getattr(request, "shown_data_store", _THE_ONLY_ONE)


def store_number(request: HttpRequest) -> int:
    """The number of the shown data store in the ledger of refusals, 0 for the admin database."""
    return shown_in(request).number


def address_with_store(request: HttpRequest) -> str:
    """The address of the page without other parameters, for a form: it names the shown data store, if there are any."""
    shown = shown_in(request)
    return f"{request.path}?{PARAMETER}={shown.choice}" if shown.text else request.path


def chosen(request: HttpRequest) -> Shown | None:
    """The choice in the address, else that in the session, else the only one; None if there is none.

    Raises ConnectionUnusable. The parameter is moved from `request.GET` to the session.
    """
    stores = routing_cache().table_after_miss().stores
    if not stores:
        return _THE_ONLY_ONE
    parameters = request.GET.copy()
    given = str(parameters.pop(PARAMETER, [""])[-1] or request.session.get(PARAMETER, ""))
    request.GET = parameters  # type: ignore[assignment]  # Django's pages refuse unknown parameters.
    choices = [*([_MAIN] if api_settings.has_main_store else []), *map(str, stores)]
    if given not in choices:
        given = choices[0] if len(choices) == 1 else ""
    if not given:
        return None
    request.session[PARAMETER] = given
    if given == _MAIN:
        return Shown(DEFAULT_DB_ALIAS, _MAIN, "admin database")
    store = stores[int(given)]
    return Shown(alias_of(store.primary), given, described(store))


class OfDataStoreAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Pages of rows that every data store has. Their titles name the data store."""

    change_list_template = "edfi_api/of_data_store/change_list.html"
    change_form_template = "edfi_api/of_data_store/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).using(shown_in(request).using)

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return with_choice(request, lambda: super(OfDataStoreAdmin, self).changelist_view(request, *args, **kwargs))

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return with_choice(request, lambda: super(OfDataStoreAdmin, self).changeform_view(request, *args, **kwargs))

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return with_choice(request, lambda: super(OfDataStoreAdmin, self).delete_view(request, *args, **kwargs))

    def history_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return with_choice(request, lambda: super(OfDataStoreAdmin, self).history_view(request, *args, **kwargs))

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        shown = shown_in(request)
        if not shown.text:
            return super().log_deletions(request, queryset)
        return [_write_log_entry(request, row, DELETION, "", shown) for row in queryset]

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        shown = shown_in(request)
        if not shown.text:
            return super().log_addition(request, obj, message)
        return _write_log_entry(request, obj, ADDITION, message, shown)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        shown = shown_in(request)
        return (
            _write_log_entry(request, obj, CHANGE, message, shown)
            if shown.text
            else super().log_change(request, obj, message)
        )


def _write_log_entry(request: HttpRequest, row: Model, action: int, message: str, shown: Shown) -> LogEntry:
    """Write an entry of the log of actions, and of the audit log, that names the data store: rows of several have the
    same primary keys."""
    entry = LogEntry(
        user_id=int(request.user.pk or 0),
        content_type=ContentType.objects.get_for_model(row, for_concrete_model=False),
        object_id=str(row.pk),
        object_repr=f"{shown.text}: {row}"[:_LONGEST_DESCRIPTION],
        action_flag=action,
        change_message=message,
    )
    facts = getattr(row, "audit_facts", {"row": row.pk})
    entry.audit_facts = {**facts, "data_store": shown.choice}  # type: ignore[attr-defined]  # Read by the audit log.
    entry.save()
    return entry


def with_choice(request: HttpRequest, view: Callable[[], HttpResponse]) -> HttpResponse:
    """The answer of a view about the chosen data store, or a redirection to the page with the choice."""
    is_in_address = PARAMETER in request.GET
    try:
        shown = chosen(request)
        if shown is None:
            return HttpResponseRedirect(choice_url(request))
        if shown.text and not is_in_address:
            return _redirect_to_address_with(request, shown)
        request.shown_data_store = shown  # type: ignore[attr-defined]  # Read by `shown_in`.
        response = view()
        if isinstance(response, TemplateResponse):
            _name_data_store(response, request, shown)
            response.render()
        return response
    except (ConnectionUnusable, DatabaseError, InterfaceError) as error:
        if not shown_in(request).text and not isinstance(error, ConnectionUnusable):
            raise
        if not isinstance(error, ConnectionUnusable) and not is_outage(error):
            raise
        request.session.pop(PARAMETER, None)
        messages.error(request, "The data store cannot be reached, or is not provisioned.")
        return HttpResponseRedirect(choice_url(request))


def _name_data_store(response: TemplateResponse, request: HttpRequest, shown: Shown) -> None:
    if shown.text and response.context_data is not None:
        title = response.context_data.get("title") or ""
        response.context_data |= {
            "title": f"{title} | {shown.text}",
            "data_store": shown.text,
            "choice_url": choice_url(request),
        }


def _redirect_to_address_with(request: HttpRequest, shown: Shown) -> HttpResponse:
    """Redirect to the page at an address that shows others the same data store. Forms are sent to the address of their
    page, so one without it was not made here: it could be about a row of another data store.
    """
    if request.method != "GET":
        raise BadRequest("The address of the form names no data store.")
    parameters = request.GET.copy()
    parameters[PARAMETER] = shown.choice
    return HttpResponseRedirect(f"{request.path}?{parameters.urlencode()}")


def choice_url(request: HttpRequest) -> str:
    """The page with the choice, which leads back to this one."""
    query = request.GET.copy()
    query.pop(PARAMETER, None)
    address = f"{request.path}?{query.urlencode()}" if query else request.path
    return f"{reverse('admin:choose_data_store')}?{urlencode({'next': address})}"


def choose_view(site: admin.AdminSite, request: HttpRequest) -> HttpResponse:
    """The page with the choice: all data stores, or those whose name or context has the text of `?q=`.

    Raises PermissionDenied for users without a page that shows a data store.
    """
    pages = [page for page in site._registry.values() if isinstance(page, OfDataStoreAdmin)]
    if not any(page.has_view_permission(request) for page in pages):
        raise PermissionDenied
    table = routing_cache().table_after_miss()
    text = request.GET.get("q", "").strip().casefold()
    stores = sorted(table.stores.values(), key=lambda store: store.id)
    found = [
        {"value": str(store.id), "text": described(store), "state": store.state}
        for store in stores
        if text in described(store).casefold()
    ]
    if api_settings.has_main_store and text in "admin database":
        found.insert(0, {"value": _MAIN, "text": "admin database", "state": State.ONLINE})
    page = Paginator(found, _PER_PAGE).get_page(request.GET.get("p"))
    target = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        target = reverse("admin:index")
    context = {
        **site.each_context(request),
        "title": "Choose a data store",
        "page": page,
        "q": request.GET.get("q", ""),
        "next": target,
        "joint": "&" if "?" in target else "?",
    }
    return TemplateResponse(request, "edfi_api/choose_data_store.html", context)
