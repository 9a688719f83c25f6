"""Admin pages of tenants and data stores, and what pages of rows that belong to tenants have in common.

A connection string is entered and never shown: only its hosts, database and user are.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model
from django.http import HttpRequest

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.connection_strings import LONGEST, MAIN, encrypt
from edfi_api.core.data_stores.databases import alias_of, allowed_destination
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.models import DataStore, DataStoreContext, DataStoreDerivative, State, Tenant
from edfi_api.core.data_stores.routing import Database
from edfi_api.core.data_stores.routing_cache import primary_of
from edfi_api.core.data_stores.stores import check_qualifiers, check_segment, refuse_shared_database
from edfi_api.web.admin_kit.authorship import RecordedAdmin


class TenantOwnedAdmin(RecordedAdmin):
    """Shows the tenant of a row, which is chosen when it is made; on a server without tenants nothing about them."""

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        fields = [field for field in super().get_fields(request, obj) if field != "tenant"]
        return ["tenant", *fields] if api_settings.MULTI_TENANCY else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if obj is None else [*fields, "tenant"]

    def get_list_display(self, request: HttpRequest) -> Any:
        shown = super().get_list_display(request)
        return [*shown, "tenant"] if api_settings.MULTI_TENANCY else shown

    def get_list_filter(self, request: HttpRequest) -> Any:
        filters = super().get_list_filter(request)
        return [*filters, "tenant"] if api_settings.MULTI_TENANCY else filters


@admin.register(Tenant)
class TenantAdmin(RecordedAdmin):
    """A tenant is deleted only while nothing belongs to it."""

    list_display = ["name"]
    search_fields = ["name"]
    ordering = ["name"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, form=TenantForm, **kwargs)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {}


class TenantForm(forms.ModelForm):  # type: ignore[type-arg]
    """The name is a segment of addresses."""

    def clean_name(self) -> str:
        return check_segment(self.cleaned_data["name"])


class ConnectionForm(forms.ModelForm):  # type: ignore[type-arg]
    """Encrypts the connection string that is entered; an empty one leaves what is stored."""

    connection_string = forms.CharField(
        required=False,
        max_length=LONGEST,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "class": "vTextField"}),
        help_text="postgresql://user:password@host/database, or env: and the name of a variable. It is not shown "
        "again; empty leaves it as it is.",
    )

    def clean_connection_string(self) -> str:
        given: str = self.cleaned_data["connection_string"]
        if not given:
            return given
        try:
            if given != MAIN:
                allowed_destination(given)
            refuse_shared_database(given, self._tenant_id())
            self.instance.connection = encrypt(given)
        except ConnectionUnusable as error:
            raise ValidationError(f"It cannot be used: {error.reason}.") from None
        except NoStoreKey:
            raise ValidationError("Set MEADOWLARK_SECRET_KEY or MEADOWLARK_STORE_KEY first.") from None
        return given

    def _tenant_id(self) -> int | None:
        """Return the id of the tenant of the data store, or of that of the derivative; the one that is chosen for a new
        one.
        """
        chosen = self.cleaned_data.get("tenant")
        if chosen is not None:
            return int(chosen.pk)
        store = self.instance if isinstance(self.instance, DataStore) else self.instance.data_store
        return store.tenant_id


class ContextForm(forms.ModelForm):  # type: ignore[type-arg]
    """A qualifier of the server, and a value that an address can have."""

    def clean_key(self) -> str:
        key: str = self.cleaned_data["key"]
        check_qualifiers([key], api_settings.ROUTE_QUALIFIERS)
        return key

    def clean_value(self) -> str:
        return check_segment(self.cleaned_data["value"])


class ContextInline(admin.TabularInline):  # type: ignore[type-arg]
    """The context of a data store."""

    model = DataStoreContext
    form = ContextForm
    extra = 0


class DerivativeInline(admin.TabularInline):  # type: ignore[type-arg]
    """The replicas and snapshots of a data store."""

    model = DataStoreDerivative
    form = ConnectionForm
    fields = ["type", "connection_string", "leads_to"]
    readonly_fields = ["leads_to"]
    extra = 0

    @admin.display(description="leads to")
    def leads_to(self, derivative: DataStoreDerivative) -> str:
        if not derivative.pk:
            return "-"
        number, revision = derivative.data_store_id, derivative.revision
        return where(Database(f"store_{number}_{revision}_r{derivative.pk}", number, derivative.connection))


@admin.register(DataStore)
class DataStoreAdmin(TenantOwnedAdmin):
    """A data store. Its database is made by `provision_data_store --id`, which puts it online."""

    form = ConnectionForm
    list_display = ["id", "name", "type", "context", "state", "leads_to"]
    list_display_links = ["id", "name"]
    list_filter = ["state", "type"]
    search_fields = ["name", "contexts__value"]
    search_help_text = "A name, or a value of the context"
    ordering = ["id"]
    fields = ["name", "type", "state", "connection_string", "leads_to"]
    readonly_fields = ["leads_to"]
    inlines = [ContextInline, DerivativeInline]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("contexts")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {}

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse lookups by the connection string, also an encrypted one: a filter would reveal it."""
        return not lookup.startswith("connection") and super().lookup_allowed(lookup, value, request)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        can_enter = self.has_add_permission(request) if obj is None else self.has_change_permission(request, obj)
        return [field for field in fields if can_enter or field != "connection_string"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A data store that is being prepared is put online by the command that prepares it."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "state"] if obj is None or obj.state == State.PREPARING else fields

    def formfield_for_choice_field(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        if db_field.name == "state":
            kwargs["choices"] = [(each.value, each.value) for each in State if each is not State.PREPARING]
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    @admin.display
    def context(self, store: DataStore) -> str:
        return ", ".join(map(str, store.contexts.all())) or "-"

    @admin.display(description="leads to")
    def leads_to(self, store: DataStore) -> str:
        if not store.pk:
            return "-"
        return where(primary_of(store))


def where(database: Database) -> str:
    """User, hosts and database of a connection string, or why it cannot be used."""
    try:
        using = alias_of(database)
    except ConnectionUnusable as error:
        return f"cannot be used: {error.reason}"
    if using == DEFAULT_DB_ALIAS:
        return "the admin database"
    settings = connections.settings[using]
    return f"{settings['USER'] or 'the default user'} at {settings['HOST'] or 'a local socket'}/{settings['NAME']}"
