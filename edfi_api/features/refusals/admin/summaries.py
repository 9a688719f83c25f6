"""The summary of a refusal with links: the client, what is missing, the document that was accepted later."""

from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.routes import routes
from edfi_api.core.models import Document
from edfi_api.core.startup import current_surface
from edfi_api.features.refusals.admin.messages import missing_key, times, why
from edfi_api.features.refusals.later_writes import DEFAULT_STORE
from edfi_api.features.refusals.models import SENT
from edfi_api.model.surface.resource import Resource
from edfi_api.web.admin_kit.client_names import name_of
from edfi_api.web.admin_kit.natural_keys import abridged, without_prefix
from edfi_api.web.admin_kit.store_choice import PARAMETER
from edfi_api.web.admin_kit.tables import filtered
from edfi_api.web.admin_kit.timestamps import timestamp
from references.models import Alias

_DOCUMENT = "admin:edfi_api_document_change"
_DOCUMENTS = "admin:edfi_api_document_changelist"
_REFUSAL = "admin:refusals_refusal_change"


def summary(entry: Any, *, with_title: bool = False) -> SafeString:
    """`Refused once to Lakeside SIS, at 23:39. Student 91001 does not exist. Accepted at 23:41.`"""
    title = (
        format_html('<a href="{}">{}</a>: ', reverse(_REFUSAL, args=[entry.pk]), _title(entry)) if with_title else ""
    )
    return format_html(
        "{}{} {} {} {}, {}. {} {}",
        title,
        "warned of" if entry.is_warning else "refused",
        times(entry.count),
        "by the remote API of" if entry.direction == SENT else "to",
        name_of(entry.client) or f"client {entry.client}",
        format_html("at {}", timestamp(entry.last_at)),
        why(entry),
        _outcome(entry),
    )


def missing(entry: Any) -> SafeString | str:
    """The document that was missing, if it is there now; else the search for it."""
    if not entry.awaited_resource:
        return "-"
    key = missing_key(entry)
    if (document := _identified_by(entry.awaited, entry)) is not None:
        return format_html(
            "{}, which is there now", _link(document, entry, f"{entry.awaited_resource} {abridged(key)}")
        )
    return format_html(
        '<a href="{}">Search for it</a>', _address(filtered(_DOCUMENTS, {"q": without_prefix(key)}), entry)
    )


def stored(entry: Any) -> SafeString | str:
    """The document with the key that was sent, or at the address to which it was sent."""
    document = _identified_by(entry.subject, entry) or _with_id(entry.document_uuid, entry)
    if document is None:
        return "There is none."
    return format_html("{}", _link(document, entry, "The document as it is stored"))


def database_of(entry: Any) -> str:
    """The alias of the database of the entry's data store; that of the admin database if it cannot be used."""
    store = routes().after_a_miss().stores.get(entry.data_store)
    if entry.data_store == DEFAULT_STORE or store is None:
        return DEFAULT_DB_ALIAS
    try:
        return alias_of(store.primary)
    except ConnectionUnusable:
        return DEFAULT_DB_ALIAS


def resource_of_entry(entry: Any) -> Resource | None:
    """The served resource to which the document was sent."""
    return current_surface().resource_at(entry.resource)


def _title(entry: Any) -> SafeString:
    resource = entry.resource.rpartition("/")[2]
    return format_html("{} {}" if resource and entry.document_title else "{}{}", resource, entry.document_title)


def _outcome(entry: Any) -> SafeString | str:
    if entry.resolved_at is None and entry.is_warning:
        return "It was accepted."
    if entry.resolved_at is None and entry.cause_gone:
        return "It is there now, so the client can send the document again."
    if entry.resolved_at is None:
        return "It is open."
    if entry.resolution != "succeeded":
        return format_html("The refusal was resolved at {}: {}.", timestamp(entry.resolved_at), entry.resolution)
    document = _identified_by(entry.subject, entry) or _with_id(entry.document_uuid, entry)
    text = "Accepted" if document is None else _link(document, entry, "Accepted")
    return format_html("{} at {}.", text, timestamp(entry.resolved_at))


def _identified_by(referential_id: UUID | None, entry: Any) -> int | None:
    """The primary key of the document with this identity; hashed ones find none."""
    if referential_id is None:
        return None
    found = Alias.objects.using(database_of(entry)).filter(referential_id=referential_id)
    return _first(found.values_list("document_id", flat=True))


def _with_id(document_uuid: UUID | None, entry: Any) -> int | None:
    if document_uuid is None:
        return None
    found = Document.objects.using(database_of(entry)).filter(document_uuid=document_uuid)
    return _first(found.values_list("pk", flat=True))


def _first(rows: Any) -> int | None:
    """Return the first, or None, also if the data store does not answer: the refusal itself lies elsewhere."""
    try:
        found: int | None = rows.first()
    except (DatabaseError, InterfaceError):
        return None
    return found


def _link(document: int, entry: Any, text: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', _address(reverse(_DOCUMENT, args=[document]), entry), text)


def _address(address: str, entry: Any) -> str:
    """Return the address with the data store of the entry, where there are several."""
    if entry.data_store == DEFAULT_STORE:
        return address
    return f"{address}{'&' if '?' in address else '?'}{PARAMETER}={entry.data_store}"
