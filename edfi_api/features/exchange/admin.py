"""Connections to other APIs in the admin, with what they do. A secret is entered and never shown."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from edfi_api.common.logs import audit
from edfi_api.core.data_stores.exceptions import NoStoreKey
from edfi_api.features.exchange.models import Connection, ConnectionState, ExchangeDirection
from edfi_api.features.exchange.stored_connections import current_phase
from edfi_api.web.admin_kit.authorship import RecordedAdmin, admin_user
from edfi_api.web.admin_kit.readable_values import timestamp

_STATE = ("phase", "failure", "position", "lag", "accepted", "refused", "rate", "reported")


class RemoteConnectionForm(forms.ModelForm):  # type: ignore[type-arg]
    """Encrypts the secret that is entered; an empty one leaves what is stored."""

    secret_text = forms.CharField(
        label="secret",
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "class": "vTextField"}),
        help_text="Of our client there. It is not shown again; empty leaves it as it is.",
    )

    def clean_secret_text(self) -> str:
        given: str = self.cleaned_data["secret_text"]
        if not given and not self.instance.secret:
            raise ValidationError("A connection needs one.")
        try:
            if given:
                self.instance.set_secret(given)
        except NoStoreKey:
            raise ValidationError("Set MEADOWLARK_SECRET_KEY or MEADOWLARK_STORE_KEY first.") from None
        return given


@admin.register(Connection)
class ConnectionAdmin(RecordedAdmin):
    """The connections between other APIs and data stores. Whether one is followed is decided here; by whom, by the
    operator, who runs `run_exchange`."""

    form = RemoteConnectionForm
    list_display = ["name", "direction", "address", "is_enabled", "phase", "position", "lag", "accepted", "refused"]
    list_filter = ["direction", "is_enabled"]
    search_fields = ["name", "address"]
    ordering = ["name"]
    actions = ["follow", "stop_following"]
    raw_id_fields = ["api_client"]
    list_select_related = ["state"]
    fieldsets = [
        (None, {"fields": ["name", "direction", "is_enabled"]}),
        (
            "The remote API",
            {
                "fields": [
                    "address",
                    "token_address",
                    "key",
                    "secret_text",
                    "scope",
                    "school_year",
                    "requests_per_second",
                ]
            },
        ),
        ("This side", {"fields": ["api_client", "data_store"]}),
        (
            "What passes",
            {
                "fields": [
                    "selection",
                    "resources",
                    "with_descriptors",
                    "education_organization_ids",
                    "descriptor_mapping",
                    "read_profile",
                    "write_profile",
                ]
            },
        ),
        ("State", {"fields": _STATE}),
    ]
    readonly_fields = _STATE

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """A new connection has no state; a secret is entered only where it can be saved."""
        can_enter = self.has_add_permission(request) if obj is None else self.has_change_permission(request, obj)
        shown = [each for each in super().get_fieldsets(request, obj) if obj is not None or each[0] != "State"]
        return [
            (title, {"fields": [name for name in options["fields"] if can_enter or name != "secret_text"]})
            for title, options in shown
        ]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse lookups by the secret, also an encrypted one: a filter would reveal it."""
        return not lookup.startswith("secret") and super().lookup_allowed(lookup, value, request)

    def save_model(self, request: HttpRequest, obj: Connection, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        event = "connection changed" if change else "connection created"
        audit.log_change(event, **obj.audit_facts, by=admin_user(request))

    @admin.display(description="state")
    def phase(self, connection: Connection) -> str:
        state = _state(connection)
        phase = current_phase(connection, state)
        return f"{phase} since {timestamp(state.since)}" if state and phase == state.phase else str(phase)

    @admin.display
    def failure(self, connection: Connection) -> str:
        return getattr(_state(connection), "failure", "") or "-"

    @admin.display
    def position(self, connection: Connection) -> str:
        return _number(getattr(_state(connection), "position", None))

    @admin.display(description="behind")
    def lag(self, connection: Connection) -> str:
        state = _state(connection)
        if state is None or state.position is None or state.newest is None:
            return "-"
        changes = max(state.newest - state.position, 0)
        if not changes or state.caught_up_at is None:
            return f"{changes:,} changes"
        minutes = (timezone.now() - state.caught_up_at).total_seconds() / 60
        return f"{changes:,} changes, {minutes:,.0f} minutes"

    @admin.display
    def accepted(self, connection: Connection) -> str:
        return _number(getattr(_state(connection), "accepted", 0))

    @admin.display
    def refused(self, connection: Connection) -> SafeString:
        address = reverse("admin:refusals_refusal_changelist")
        shown = _number(getattr(_state(connection), "refused", 0))
        direction = "sent" if connection.direction == ExchangeDirection.PUSH else "received"
        query = urlencode({"client": str(connection.api_client_id), "direction": direction})
        return format_html('<a href="{}?{}">{}</a>', address, query, shown)

    @admin.display(description="documents a second, last time")
    def rate(self, connection: Connection) -> str:
        rate = getattr(_state(connection), "rate", None)
        return "-" if rate is None else f"{rate:,.0f}"

    @admin.display
    def reported(self, connection: Connection) -> SafeString | str:
        return timestamp(getattr(_state(connection), "reported_at", None))

    @admin.action(description="Follow", permissions=["change"])
    def follow(self, request: HttpRequest, chosen: QuerySet[Connection]) -> None:
        self._enable(request, chosen, enabled=True)

    @admin.action(description="Stop following", permissions=["change"])
    def stop_following(self, request: HttpRequest, chosen: QuerySet[Connection]) -> None:
        self._enable(request, chosen, enabled=False)

    def _enable(self, request: HttpRequest, chosen: QuerySet[Connection], *, enabled: bool) -> None:
        for connection in chosen:
            connection.is_enabled = enabled
            connection.save(update_fields=["is_enabled"])
            self.log_change(request, connection, "Followed." if enabled else "No longer followed.")
        self.message_user(request, "A running run_exchange notices it within seconds.", messages.SUCCESS)


def _state(connection: Connection) -> ConnectionState | None:
    return getattr(connection, "state", None)


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
