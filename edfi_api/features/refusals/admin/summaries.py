"""What pages say of a refusal: the problem in words, why it was refused, what became of it, and what to do; and its
summary with links to the client, what is missing, and the document that was accepted later."""

import re
import threading
from typing import Any
from uuid import UUID

from cachetools import TTLCache
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError
from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.models import Document
from edfi_api.core.served import current_surface
from edfi_api.features.refusals.later_writes import DEFAULT_STORE
from edfi_api.features.refusals.models import SENT, Refusal
from edfi_api.model.surface.resource import Resource
from edfi_api.web.admin_kit.authorship import name_of
from edfi_api.web.admin_kit.kinds import kind_at, kind_in_words
from edfi_api.web.admin_kit.natural_keys import abridged, elements, without_prefix
from edfi_api.web.admin_kit.read_only import ROWS_COUNTED
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.store_choice import PARAMETER
from edfi_api.web.admin_kit.tables import filtered
from edfi_api.web.admin_kit.titles import DocumentKey, titles
from edfi_api.web.problem_details.problem import HINT
from edfi_api.web.write_recorder import ACCEPTED_WITH_WARNINGS
from references.models import Alias

_DOCUMENT = "admin:edfi_api_document_change"
_SEARCH = "admin:search"
_REFUSAL = "admin:refusals_refusal_change"
_MANY, _SECONDS_KEPT = 10_000, 60
_earlier_entries: TTLCache[int, UUID | None] = TTLCache(4, _SECONDS_KEPT)
_lock = threading.Lock()
# Reasons by the beginning of a problem type, the longest first, for problems whose messages do not say it by
# themselves.
_REASONS = {
    "identity-conflict": "Another document has these key values.",
    "not-found": "There was no document at the address.",
    "method-not-allowed": "The resource does not allow this operation.",
    "optimistic-lock-failed": "The document had been changed since the client read it.",
    "precondition-failed": "The document existed already, and the client wanted a new one.",
    "data-policy-enforced": "The profile of the client does not allow it.",
    "profile:": "The client named a profile that does not fit the request.",
    "unsupported-media-type": "The content type of the request is not one that the resource reads.",
    "content-too-large": "The request was too large.",
    "too-many-requests": "The client had sent too many requests.",
    "service-unavailable": "The server could not answer at that time.",
    "system": "The server failed; its log tells why under the correlation id.",
}
# Advice by the beginning of a problem type.
_ADVICE = {
    "security:": "The rights of the client do not cover these documents. It gets them (by its claim set, organizations "
    "or the namespaces of its vendor), or the vendor does not send them here.",
    "bad-request": "The vendor corrects these values in its system, and sends the documents again.",
    "data-conflict:dependent": "Other documents refer to these. The client deletes those first.",
    "accepted-with-warnings": "The documents were accepted. The vendor corrects what the rule warns of.",
    "data-policy-enforced": "The profile of the client does not allow it. Either it or what the client sends changes.",
    "identity-conflict": "Another document has these key values. The vendor finds out which of both is right.",
    "optimistic-lock-failed": "The client reads the documents again, and then changes them.",
}
_DENIED = "security:"
# The type of a problem, alone or followed by names of elements.
_PROBLEM = re.compile(r"[a-z]+(?:[-:][a-z]+)*(?:: |$)")
# The name of the resource of which something is missing.
_MISSING = re.compile(r"\A[A-Z]\w+(?= .*is missing\Z)", re.DOTALL)
_KEY = re.compile(r"NK#.+?(?= is missing$|$)")


def why(entry: Any) -> str:
    """The cause as a sentence, without URNs and paths of keys."""
    if entry.awaited_resource:
        return f"{_missing(entry)} does not exist."
    if entry.problem.startswith(_DENIED):
        return _denied(entry)
    if entry.paths:
        return _first_message(entry)
    found = next((text for start, text in _REASONS.items() if entry.problem.startswith(start)), None)
    return found or next(iter(entry.errors), f"{entry.title}.")


def what_to_do(entry: Refusal) -> str:
    """Return the advice on the page of a cause."""
    if entry.rules:
        return f"A rule of this server refuses or warns of it ({', '.join(entry.rules)}): the vendor corrects the data."
    if entry.awaited_resource and entry.cause_gone:
        return "What was missing is here now. The client sends the documents again."
    if entry.awaited_resource:
        awaited = kind_in_words(entry.awaited_resource).in_a_sentence
        return (
            f"The documents refer to an item ({awaited}) that is not here. It is sent first, by this "
            "client or another one, or the vendor corrects the reference; then the client sends the documents again."
        )
    found = next((text for start, text in _ADVICE.items() if entry.problem.startswith(start)), None)
    return found or "The vendor finds out from the examples what its system has to send instead."


def cause_in_words(text: str) -> str:
    """`School NK#schoolId=7 is missing` with the values of the key in place of the key; the type of a problem, which is
    the cause of refusals that have no other, in words."""
    if _PROBLEM.match(text):
        problem, _, subject = text.partition(": ")
        return f"{problem_in_words(problem)}: {subject}" if subject else problem_in_words(problem)
    in_words = _MISSING.sub(lambda name: kind_in_words(name[0]).singular, text)
    return _KEY.sub(lambda key: abridged(key[0]), in_words)


def problem_in_words(problem: str) -> str:
    """`Data validation failed` for `bad-request:data-validation-failed`; `Not authorized` for all of authorization."""
    if problem.startswith(_DENIED):
        return "Not authorized"
    return problem.rpartition(":")[2].replace("-", " ").capitalize()


def kind_of_cause(problem: str, awaited_resource: str) -> str:
    """Return what a cause is for those who see no keys: `Unresolved reference: School`."""
    awaited = kind_in_words(awaited_resource).singular if awaited_resource else ""
    return ": ".join(filter(None, (problem_in_words(problem), awaited)))


def outcome(entry: Any) -> str:
    """`open`, `open, cause gone`, `accepted`, `deleted` or `dismissed`; a warning is `accepted, with a warning`."""
    if entry.resolved_at is not None:
        return "accepted" if entry.resolution == "succeeded" else str(entry.resolution)
    if entry.is_warning:
        return "accepted, with a warning"
    return "open, cause gone" if entry.cause_gone else "open"


def times(count: int) -> str:
    """`once`, `twice`, `12 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def missing_key(entry: Any) -> str:
    """The natural key, or the URI of a descriptor, of what was missing; empty if it was not kept."""
    return str(entry.cause_text).removeprefix(entry.awaited_resource).removesuffix("is missing").strip()


def _missing(entry: Any) -> str:
    key = abridged(missing_key(entry)).rpartition("#")[2]
    values = ", ".join(part.rpartition("=")[2] for part in key.split(", ")) if key else ""
    return f"{kind_in_words(entry.awaited_resource).singular} {values}".strip()


def _denied(entry: Any) -> str:
    subject = entry.cause_text.partition(": ")[2].replace(", ", " or ") or "document"
    hints = (text.removeprefix(HINT) for text in entry.errors if text.startswith(HINT))
    return " ".join([f"The client is not authorized for this {subject}.", *hints])


def _first_message(entry: Any) -> str:
    path, messages = next(iter(entry.paths.items()))
    more = sum(len(texts) for texts in entry.paths.values()) - 1
    member = path.rpartition(".")[2]
    text = messages[0] if member and member.lower() in messages[0].lower() else f"{member}: {messages[0]}"
    return f"{text} (and {more} more)" if more else text


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
            "{}, which is there now",
            _link(document, entry, f"{kind_in_words(entry.awaited_resource).singular} {abridged(key)}"),
        )
    values = elements(key)
    searched = values[0].value if len(values) == 1 else without_prefix(key)
    return format_html('<a href="{}">Search for it</a>', _address(filtered(_SEARCH, {"q": searched}), entry))


def stored(entry: Any) -> SafeString | str:
    """The document with the key that was sent, or at the address to which it was sent."""
    document = _identified_by(entry.subject, entry) or _with_id(entry.document_uuid, entry)
    if document is None:
        return "There is none."
    return format_html("{}", _link(document, entry, "The document as it is stored"))


def database_of(entry: Any) -> str:
    """The alias of the database of the entry's data store; that of the admin database if it cannot be used."""
    store = routing_cache().table_after_miss().stores.get(entry.data_store)
    if entry.data_store == DEFAULT_STORE or store is None:
        return DEFAULT_DB_ALIAS
    try:
        return alias_of(store.primary)
    except ConnectionUnusable:
        return DEFAULT_DB_ALIAS


def resource_of_entry(entry: Any) -> Resource | None:
    """The served resource to which the document was sent."""
    return current_surface().resource_at(entry.resource)


def kind_of_entry(entry: Any) -> str:
    """Return what was sent, in words: `Enrolment`."""
    return kind_at(entry.resource).singular or "Unknown resource"


def _title(entry: Any) -> SafeString:
    return format_html("{} {}" if entry.document_title else "{}{}", kind_of_entry(entry), entry.document_title)


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


def latest(queryset: QuerySet[Refusal], most: int | None = None) -> QuerySet[Refusal]:
    """Return the refusals among the latest entries of all, so that a search takes the same time however many there are:
    among so many, or ROWS_COUNTED.

    The condition is on a range of ids: for `IN` with the latest ones PostgreSQL would read the whole table.
    """
    earlier = _first_earlier_entry(most or ROWS_COUNTED)
    return queryset.filter(id__gt=earlier) if earlier else queryset


def searched_part() -> str:
    """The entries that `latest` has, in words: ` among the latest 100,000`; empty if these are all."""
    return f" among the latest {ROWS_COUNTED:,}" if _first_earlier_entry(ROWS_COUNTED) else ""


def _first_earlier_entry(most: int) -> UUID | None:
    """Return the id of the entry before so many latest ones; of many that of the last minute, since counting them takes
    as long as what is searched for among them."""
    with _lock:
        if most in _earlier_entries:
            return _earlier_entries[most]
    latest_first = Refusal.objects.order_by("-id").values_list("id", flat=True)
    earlier = next(iter(latest_first[most : most + 1]), None)
    if most >= _MANY:
        with _lock:
            _earlier_entries[most] = earlier
    return earlier


def with_element(element: str) -> Q:
    """Entries whose natural key has `studentUniqueId=604822`, at any path."""
    return Q(natural_key__endswith=element) | Q(natural_key__contains=f"{element}#")


def related_refusals(document: Document, data_store: int, most: int) -> list[Refusal]:
    """Return refusals about the document, those that are open before warnings and what is resolved, the latest first.
    Each has a title."""
    about = Q(document_uuid=document.document_uuid) | Q(natural_key=document.natural_key)
    if element := own_element(document):
        about |= with_element(element)
    found = latest(Refusal.objects.all()).filter(about, data_store=data_store)
    is_warning = ExpressionWrapper(Q(problem=ACCEPTED_WITH_WARNINGS), BooleanField())
    entries = list(found.order_by(F("resolved_at").desc(nulls_first=True), is_warning, "-id")[:most])
    keys = [DocumentKey(resource_of_entry(each), each.natural_key or "") for each in entries]
    for entry, title in zip(entries, titles(keys, str(document._state.db)), strict=True):
        entry.document_title = title  # type: ignore[attr-defined]  # Read by `summary`.
    return entries


def own_element(document: Document) -> str:
    """`studentUniqueId=604822` of a document that is identified by one value, which others refer to; else empty."""
    key = elements(document.natural_key)
    is_alone = len(key) == 1 and key[0].name and "." not in key[0].name
    return f"{key[0].name}={key[0].value}" if is_alone else ""
