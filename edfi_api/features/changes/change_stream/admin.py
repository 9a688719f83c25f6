"""Consumers and dead letters in the admin, and what its front page says of them."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.common.conf import api_settings
from edfi_api.core.served import current_surface
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.changes.change_stream.delivery import deliver_again
from edfi_api.features.changes.change_stream.exceptions import UnknownHandler
from edfi_api.features.changes.change_stream.handlers import handlers_in
from edfi_api.features.changes.change_stream.log import lags
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.web.admin_kit.lines import StatusLine, shown_with, span
from edfi_api.web.admin_kit.read_only import ReadOnlyAdmin
from edfi_api.web.admin_kit.store_choice import OfDataStoreAdmin
from edfi_api.web.admin_kit.titles import DocumentKey, TitledAdmin, titled

# Consumers are expected to be minutes behind, not hours.
_LONGEST_LAG = timedelta(hours=1)
_MOST_LETTERS = 1_000

# An error quotes the values that a handler could not process.
_FIELDS_OF_DOCUMENTS = {"what", "natural_key", "change", "error", "last_line", "traceback"}


class RemovableAdmin(OfDataStoreAdmin, ReadOnlyAdmin):
    """Rows that can be deleted but not changed."""

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perm(f"{self.opts.app_label}.delete_{self.opts.model_name}")


@admin.register(ChangeConsumer)
class ChangeConsumerAdmin(RemovableAdmin):
    """A deleted consumer no longer prevents purging; if it connects again, it starts from the beginning."""

    list_display = ["name", "log", "change_version"]
    list_filter = ["log"]


@admin.register(DeadLetter)
class DeadLetterAdmin(TitledAdmin, RemovableAdmin):
    """Dead letters can be delivered again after the error is fixed, or deleted.

    What they have of a document is shown to users who may view documents.
    """

    empty_text = "Every change was handled. What a handler or a sink refuses for good is listed here."
    list_display = ["handler", "resource", "what", "failed_at", "attempts", "last_line"]
    list_filter = ["handler"]
    ordering = ["-id"]
    fields = ["handler", "resource", "what", "change_version", "failed_at", "attempts", "traceback", "change"]
    readonly_fields = ["what", "traceback"]
    actions = ["deliver_again"]

    def get_list_display(self, request: HttpRequest) -> Any:
        return _shown_to(request, super().get_list_display(request))

    def get_fields(self, request: HttpRequest, obj: DeadLetter | None = None) -> Any:
        return _shown_to(request, super().get_fields(request, obj))

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse filters that would reveal a document character by character."""
        return bool(_shown_to(request, [lookup.partition("__")[0]])) and super().lookup_allowed(lookup, value, request)

    def document_key(self, row: DeadLetter) -> DocumentKey:
        return DocumentKey(current_surface().resource_at(row.resource), row.natural_key)

    def heading(self, request: HttpRequest, row: Any) -> str:
        """The title of the document, for users who may see it."""
        return super().heading(request, row) if _shown_to(request, ["what"]) else ""

    @admin.display(description="document")
    def what(self, letter: Any) -> SafeString:
        return titled(letter.document_title, letter.natural_key)

    @admin.display(description="error")
    def last_line(self, letter: DeadLetter) -> str:
        return letter.error.strip().rpartition("\n")[2]

    @admin.display(description="error")
    def traceback(self, letter: DeadLetter) -> SafeString:
        return format_html("<pre>{}</pre>", letter.error)

    @admin.action(description="Deliver again", permissions=["delete"])
    def deliver_again(self, request: HttpRequest, letters: QuerySet[DeadLetter]) -> None:
        """Delivers the selected dead letters in the order of their changes."""
        handlers = handlers_in(api_settings.CHANGE_HANDLERS)
        chosen, delivered = list(letters.order_by("change_version")), 0
        for letter in chosen:
            try:
                delivered += deliver_again(letter, handlers)
            except UnknownHandler as error:
                self.message_user(request, str(error), messages.ERROR)
        failed = len(chosen) - delivered
        self.message_user(
            request, f"{delivered} delivered, {failed} failed again.", messages.WARNING if failed else messages.SUCCESS
        )


def _shown_to(request: HttpRequest, fields: Iterable[Any]) -> list[Any]:
    may_view = request.user.has_perm("edfi_api.view_document")
    return [field for field in fields if may_view or field not in _FIELDS_OF_DOCUMENTS]


@shown_with("change_queries.view_changeconsumer")
def consumers(using: str) -> Iterator[StatusLine]:
    """Yield how far each consumer of changes in a database is."""
    page = reverse("admin:change_queries_changeconsumer_changelist")
    found = lags(using)
    for lag in found:
        behind = timedelta(seconds=lag.seconds)
        text = f"{span(behind)} behind" if lag.seconds else "up to date"
        yield StatusLine(f"Consumer {lag.consumer}", text, behind > _LONGEST_LAG, page)
    if not found:
        yield StatusLine("Consumers of changes", "none", address=page)


@shown_with("change_stream.view_deadletter")
def dead_letters(using: str) -> Iterator[StatusLine]:
    """Yield the number of dead letters in a database."""
    number = DeadLetter.objects.using(using)[: _MOST_LETTERS + 1].count()
    text = f"{number:,}" if number <= _MOST_LETTERS else f"more than {_MOST_LETTERS:,}"
    yield StatusLine("Dead letters", text, number > 0, reverse("admin:change_stream_deadletter_changelist"))
