"""The admin site: its index page, which is Today, its navigation and its search.

Each deletion has a log entry of its own, also on Django's pages for users and groups.
"""

from functools import partial, wraps
from typing import Any, cast

from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.core.validators import ProhibitNullCharactersValidator
from django.db import DatabaseError, InterfaceError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.text import capfirst

from edfi_api.common.contributions import contributions
from edfi_api.common.logs import audit
from edfi_api.common.logs.remote_address import remote_address
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.site.admin_site import navigation, status
from edfi_api.site.admin_site.search import search_page
from edfi_api.site.sign_in.site import SignInSite
from edfi_api.web.admin_kit.readable_values import is_time, shown_time
from edfi_api.web.admin_kit.store_choice import PARAMETER, Shown, choice_url, choose_view, chosen


class AdministrationPages(ModelAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Names lists by their rows; shows times with their ISO form on hover; logs deletions one by one, since Django
    inserts the entries of several rows without signals, which the audit log needs; validates the selected primary keys,
    which Django takes from the request unchecked."""

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        found = super().get_changelist_instance(request)
        found.title = capfirst(str(self.opts.verbose_name_plural))
        return found

    def get_list_display(self, request: HttpRequest) -> Any:
        return self._with_times(super().get_list_display(request))

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> Any:
        found = super().get_list_display_links(request, list_display)
        return None if found is None else self._with_times(found)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self._with_times(super().get_readonly_fields(request, obj))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Django shows all fields read-only to those who may not change the row."""
        found = super().get_fieldsets(request, obj)
        if obj is not None and not self.has_change_permission(request, obj):
            return self._with_shown_times(found, flatten_fieldsets(found))
        return self._with_shown_times(found, super().get_readonly_fields(request, obj))

    def _with_shown_times(self, fieldsets: Any, read_only: Any) -> Any:
        def shown(field: Any) -> Any:
            if isinstance(field, list | tuple):
                return [shown(each) for each in field]
            return self._with_times([field])[0] if field in read_only else field

        return [
            (name, {**options, "fields": [shown(each) for each in options["fields"]]}) for name, options in fieldsets
        ]

    def _with_times(self, names: Any) -> list[Any]:
        return [
            shown_time(cast("type[Model]", self.model), name) if is_time(self.model, name) else name for name in names
        ]

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Log the deletions one by one, and return nothing: Django uses no result."""
        for each in queryset:
            super().log_deletions(request, cast("QuerySet[Model]", [each]))

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Model], *args: Any, **kwargs: Any
    ) -> HttpResponse | None:
        try:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.clean(key, None)
                ProhibitNullCharactersValidator()(key)
        except ValidationError as error:
            raise BadRequest("A selected row cannot exist.") from error
        return super().response_action(request, queryset, *args, **kwargs)


class AdministrationSite(SignInSite):
    """Django's admin site with Today as its index page, NUL checks and audit log."""

    site_header = "Meadowlark"
    site_title = "Meadowlark"
    index_title = "Today"
    index_template = "admin/today/today.html"
    enable_nav_sidebar = False

    def register(
        self,
        model_or_iterable: Any,
        admin_class: "type[ModelAdmin[Any]] | None" = None,
        **options: Any,
    ) -> None:
        pages = admin_class or ModelAdmin
        super().register(model_or_iterable, type(pages.__name__, (AdministrationPages, pages), {}), **options)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Refuse URLs with NUL, which PostgreSQL does not accept in text, and log denied requests to the audit log."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if "%00" in request.META.get("QUERY_STRING", "") or "\0" in request.path_info:
                raise BadRequest("The address has a NUL in it.")
            try:
                return inner(request, *args, **kwargs)
            except PermissionDenied:
                audit.log_denial(
                    status=403,
                    user=request.user.get_username(),
                    method=request.method,
                    path=request.path,
                    address=remote_address(request),
                )
                raise

        return checked

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return what every page has: the areas in the header, and whether there is anything to search."""
        context = super().each_context(request)
        if context["has_permission"]:
            context["areas"] = navigation.areas(context["available_apps"], request)
            context["may_search"] = navigation.may_search(request.user)
        return context

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Log out; Django makes the context of the page for the user before."""
        return super().logout(request, {"areas": (), "may_search": False} | (extra_context or {}))

    def app_index(self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None) -> Any:
        """Lead to the front page: the areas of the header are the only navigation."""
        return HttpResponseRedirect(reverse("admin:index"))

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Return Today for the chosen data store, and the state of the server."""
        context = _of_data_store(request)
        context["status"] = [*status.lines(request.user), *context.get("status", ())]
        return super().index(request, context | (extra_context or {}))

    def get_urls(self) -> list[Any]:
        choose = self.admin_view(partial(choose_view, self))
        found = self.admin_view(partial(search_page, self))
        contributed = (route for routes in contributions("admin_pages") for route in routes(self))
        return [
            path("choose-data-store/", choose, name="choose_data_store"),
            path("search/", found, name="search"),
            *contributed,
            *super().get_urls(),
        ]


def _of_data_store(request: HttpRequest) -> dict[str, Any]:
    """Return what the user may see of the chosen data store; without an answer from it, what there is without one."""
    named: dict[str, Any] = {"choice_url": choice_url(request)}
    if not status.may_see_a_database(request.user):
        return _front_page(request, None)
    try:
        shown = chosen(request)
        if shown is None:
            return _front_page(request, None) | named | {"data_store": "none"}
        state = {"data_store": shown.text, "status": status.lines_of(shown.using, request.user)}
        return _front_page(request, shown) | named | state
    except ConnectionUnusable:
        return _front_page(request, None) | named | {"data_store": "none"}
    except (DatabaseError, InterfaceError):
        if PARAMETER not in request.session:
            raise
        return _front_page(request, None) | named | {"data_store": "one that cannot be reached"}


def _front_page(request: HttpRequest, shown: Shown | None) -> dict[str, Any]:
    return {name: value for each in contributions("front_page") for name, value in each(request, shown).items()}
