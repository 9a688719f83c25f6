"""Deletion in the admin: of documents through the store, where a refusal lists the referrers, and of other rows one by
one, with a check of each.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.forms import SimpleArrayField
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Field, QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html

from edfi_api.core.models import Document
from edfi_api.core.served import current_surface
from edfi_api.core.storage import store
from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.core.storage.write_requests import DeleteRequest
from edfi_api.model.surface.resource import ResourceName
from edfi_api.web.admin_kit import related_links
from edfi_api.web.admin_kit.authorship import RecordedAdmin
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.natural_keys import abridged
from edfi_api.web.admin_kit.titles import resource_of, title_of
from references.exceptions import DependentItemExists

# Bounds the rows that one transaction locks and one page lists; larger deletions go through the API.
MOST_AT_ONCE = 500


class NotServed(Exception):
    """The document's resource is not in the configured data standard, so its rules are unknown."""


_REFUSALS = (DependentItemExists, NotServed, TooMuchContention)


class DeletionThroughStore(ModelAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Django's deletion pages and action, with deletion by the store.

    The confirmation page looks up referrers only to show them; the foreign keys decide at the time of the deletion.
    """

    def get_deleted_objects(
        self, objs: Sequence[Document] | QuerySet[Document], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        documents = list(objs[: MOST_AT_ONCE + 1])
        if len(documents) > MOST_AT_ONCE:
            return [], {}, set(), [format_html("More than {} documents at once: use the API.", MOST_AT_ONCE)]
        prefetch_related_objects(documents, "resource_type")
        counts = {str(self.opts.verbose_name_plural): len(documents)}
        return related_links.links(documents), counts, set(), related_links.referrers(documents)

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        _delete([obj], request.user.get_username())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        _delete(list(queryset), request.user.get_username())

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except _REFUSALS as refusal:
            return self._redirect_with_reason(request, refusal)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Document], *args: Any, **kwargs: Any
    ) -> HttpResponse | None:
        try:
            with transaction.atomic():
                return super().response_action(request, queryset, *args, **kwargs)
        except _REFUSALS as refusal:
            return self._redirect_with_reason(request, refusal)

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        """Render the confirmation page, which calls the document by its kind and its title."""
        document = context["object"]
        type_ = document.resource_type
        title = title_of(resource_of(type_), document.natural_key, document._state.db or DEFAULT_DB_ALIAS)
        in_words = {"title": f"Delete this {kind_in_words(type_.name).in_a_sentence}?", "document_title": title}
        return super().render_delete_form(request, context | in_words)

    def _redirect_with_reason(self, request: HttpRequest, refusal: Exception) -> HttpResponse:
        """Redirect to the previous page with the reason; nothing was deleted."""
        self.message_user(request, _reason(refusal), messages.ERROR)
        return HttpResponseRedirect(request.get_full_path().replace("/delete/", "/change/"))


def _reason(refusal: Exception) -> str:
    match refusal:
        case DependentItemExists():
            named = ", ".join(
                f"{kind_in_words(each.resource).in_a_sentence} {abridged(each.natural_key)}"
                for each in refusal.referrers
            )
            return f"Nothing was deleted: {named} refer to it."
        case NotServed():
            return f"Nothing was deleted: {refusal} is not part of the standard that is served."
    return "Nothing was deleted, because of concurrent writes. Try again."


def _delete(documents: list[Document], user: str) -> None:
    """Delete all or none. They may refer to each other, so passes repeat over those that still have referrers."""
    remaining = documents
    with transaction.atomic(documents[0]._state.db if documents else None):
        while remaining:
            refused = [(document, refusal) for document in remaining if (refusal := _delete_one(document, user))]
            if len(refused) == len(remaining):
                raise refused[0][1]
            remaining = [document for document, _ in refused]


def _delete_one(document: Document, user: str) -> DependentItemExists | None:
    type_ = document.resource_type
    resource = current_surface().by_name.get(ResourceName(type_.project, type_.name))
    if resource is None:
        raise NotServed(type_)
    try:
        store.delete(
            DeleteRequest(resource, document.document_uuid, user=user, using=document._state.db or DEFAULT_DB_ALIAS)
        )
    except DependentItemExists as refusal:
        return refusal
    return None


class CheckedItems:
    """Forms check the items of arrays with the validators of the model: of an error that only the model finds, Django's
    form loses the text."""

    def formfield_for_dbfield(self, db_field: "Field[Any, Any]", request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]  # of the admin class
        if isinstance(field, SimpleArrayField) and isinstance(db_field, ArrayField):
            known = field.base_field.validators
            known.extend(each for each in db_field.base_field.validators if each not in known)
        return field


class OneByOneAdmin(CheckedItems, RecordedAdmin):
    """No bulk deletion: each row is deleted on a page that lists its dependent rows, and each deletion is logged."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}
