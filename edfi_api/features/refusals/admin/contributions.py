"""What is said of refused writes outside of the pages of the ledger: by the search of the admin, on the page of a
document, on the front page, and in the weekly mail. `apps.py` names these functions."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from django.db.models import Q, Sum
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.core.security.organizations import names_in
from edfi_api.features.refusals.admin.refusal_admin import VIEW_KEYS
from edfi_api.features.refusals.admin.summaries import (
    database_of,
    kind_of_cause,
    latest,
    outcome,
    own_element,
    related_refusals,
    resource_of_entry,
    searched_part,
    summary,
    why,
    with_element,
)
from edfi_api.features.refusals.models import OpenRefusals, Refusal, of_data_store
from edfi_api.features.refusals.overview import open_by_vendor, top_causes
from edfi_api.features.refusals.personal_data import is_hashed, kept_id
from edfi_api.model.surface.resource import ResourceName
from edfi_api.web.admin_kit.authorship import name_of
from edfi_api.web.admin_kit.document_panels import Panel, PanelOrder, Place, Problems, ShownDocument
from edfi_api.web.admin_kit.follow_up import is_dismissed, state_in_words
from edfi_api.web.admin_kit.kinds import kind_at, kind_in_words
from edfi_api.web.admin_kit.lines import MailSection, StatusLine, path_of, shown_with
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.related_links import as_list
from edfi_api.web.admin_kit.search import Group, GroupOrder, Item, Search, clients_named, in_time
from edfi_api.web.admin_kit.tables import filtered
from edfi_api.web.admin_kit.titles import DocumentKey, identities_of, titles
from references.identity import as_uuid
from references.models import Alias

_REFUSAL = "admin:refusals_refusal_change"
_REFUSALS = "admin:refusals_refusal_changelist"
_MOST_FOUND = 10
_MOST_CLIENTS = 10
_MOST_ON_A_PAGE = 10
_UNKNOWN = "Unknown resource"
# Among so many of the latest entries the keys are read one by one.
_LATEST = 10_000


def search_groups(search: Search) -> Iterator[Group]:
    """Yield the writes that name what is searched for, stored or not, if the user may view their keys, and how many are
    open of clients with such a name."""
    if not search.may("refusals.view_refusal"):
        return
    yield Group("refused-of-clients", "Refused writes by client", GroupOrder.REFUSED, list(_open_by_client(search)))
    shows_keys = search.may(VIEW_KEYS)
    identities = {kept_id(id_): name for id_, name in identities_of(search.text).items()} if search.is_one_word else {}
    found = _entries(search, identities if shows_keys else {}, search.own_values if shows_keys else [])
    if found and shows_keys:
        audit.log_change("refusals searched", by=search.request.user.get_username())
    items = list(_items(found[:_MOST_FOUND], shows_keys=shows_keys))
    rest = filtered(_REFUSALS, {"q": search.text}) if len(found) > _MOST_FOUND else ""
    answer = _answer(search, found, identities) if shows_keys and found else ""
    yield Group("refused", "Refused writes", GroupOrder.REFUSED + 1, items, answer, rest)


def _open_by_client(search: Search) -> Iterator[Item]:
    clients = {client.pk: client for client in clients_named(search.words, _MOST_CLIENTS)}
    entries = of_data_store(OpenRefusals.objects.filter(client__in=clients), search.data_store).values("client")
    for client, number in entries.annotate(number=Sum("entries")).order_by("-number").values_list("client", "number"):
        address = filtered(_REFUSALS, {"client": client})
        yield Item("Client", clients[client].name, address, f"{counted(number, 'refused write')} open")


def _entries(search: Search, identities: Mapping[UUID, ResourceName], values: Sequence[str]) -> list[Refusal]:
    """The entries that are open, then others, the latest first: those that wait for a document with one of the
    identities, those about one, and among the latest those with a value in their key, or with the text as their
    correlation id."""
    everything = of_data_store(Refusal.objects.all(), search.data_store)
    is_open = everything.filter(resolved_at=None)
    queries = []
    if identities:
        clients = list(OpenRefusals.objects.values_list("client", flat=True).distinct())
        queries.append(is_open.filter(awaited__in=identities, cause_gone=False))
        queries.append(is_open.filter(client__in=clients, subject__in=identities))
    about = Q(correlation_id=search.text)
    for value in values:
        about |= with_element(f"={value}")
    queries.append(latest(everything, _LATEST).filter(about))
    if id_ := as_uuid(search.text):
        queries.append(everything.filter(pk=id_))
    found = {entry.pk: entry for query in queries for entry in in_time(query.order_by("-id")[: _MOST_FOUND + 1])}
    return sorted(found.values(), key=lambda entry: (entry.resolved_at is None, entry.pk), reverse=True)


def _items(entries: Sequence[Refusal], *, shows_keys: bool) -> Iterator[Item]:
    for entry in entries:
        kind = kind_at(entry.resource).singular or _UNKNOWN
        address = reverse(_REFUSAL, args=[entry.pk])
        if not shows_keys or is_hashed():
            yield Item(kind, entry.title, address, _state_of(entry))
            continue
        [title] = titles([DocumentKey(resource_of_entry(entry), entry.natural_key or "")], database_of(entry))
        yield Item(kind, title or entry.title, address, format_html("{} {}", why(entry), _state_of(entry)))


def _state_of(entry: Refusal) -> SafeString:
    by = name_of(entry.client) or f"client {entry.client}"
    return format_html("Sent by {}, {}, {}", by, outcome(entry), timestamp(entry.last_at))


def _answer(search: Search, found: Sequence[Refusal], identities: Mapping[UUID, ResourceName]) -> SafeString | str:
    """`No student 91002 here. One refused write names it: enrolment at Lark Meadow High School, sent by Finch Rosters,
    open.` Empty if it is stored, or the entries were found by something else."""
    named = next((name for entry in found if (name := _named_by(entry, identities))), None)
    if named is None or _is_stored(search):
        return ""
    of = [entry for entry in found if _named_by(entry, identities) or f"={search.text}#" in f"{entry.natural_key}#"]
    kind = kind_in_words(named.resource).in_a_sentence
    missing = format_html("No {} {} here. ", kind, search.text) if search.may("edfi_api.view_document") else ""
    it = "it" if missing else f"{kind} {search.text}"
    if len(of) == 1:
        return format_html("{}One refused write names {}: {}.", missing, it, _in_a_sentence(of[0]))
    number = f"More than {_MOST_FOUND}" if len(of) > _MOST_FOUND else len(of)
    return format_html("{}{} refused writes name {}.", missing, number, it)


def _named_by(entry: Refusal, identities: Mapping[UUID, ResourceName]) -> ResourceName | None:
    return identities.get(entry.subject) or (identities.get(entry.awaited) if entry.awaited else None)


def _is_stored(search: Search) -> bool:
    ids = list(identities_of(search.text))
    return Alias.objects.using(search.using).filter(referential_id__in=ids).exists()


def _in_a_sentence(entry: Refusal) -> SafeString:
    organization = entry.organization and names_in([entry.organization], database_of(entry)).get(entry.organization)
    return format_html(
        '<a href="{}">{}{}</a>, sent by {}, {}',
        reverse(_REFUSAL, args=[entry.pk]),
        kind_at(entry.resource).in_a_sentence or _UNKNOWN.lower(),
        format_html(" at {}", organization) if organization else "",
        name_of(entry.client) or f"client {entry.client}",
        outcome(entry),
    )


def document_panels(shown: ShownDocument) -> Iterator[Panel | Problems]:
    """Yield what is open, and what became of the rest. Warnings are no problems, since their writes were accepted."""
    if not shown.may(VIEW_KEYS):
        return
    found = related_refusals(shown.document, shown.data_store, _MOST_ON_A_PAGE + 1)
    are_open = [each for each in found if each.resolved_at is None and not each.is_warning]
    past = [each for each in found if each not in are_open]
    sentences = [summary(each, with_title=True) for each in are_open[:_MOST_ON_A_PAGE]]
    more = _list_of(shown) if len(are_open) > _MOST_ON_A_PAGE else ""
    yield Problems(sentences, "" if sentences else _nothing_open(), more)
    if past:
        content = as_list([summary(each, with_title=True) for each in past[:_MOST_ON_A_PAGE]])
        yield Panel("refusals", "Writes that were refused before", content, Place.FOLDED, PanelOrder.REFUSED)


def _nothing_open() -> str:
    """Return what was looked for without finding anything open."""
    if not api_settings.WRITE_RECORDER:
        return "Refused writes are not recorded."
    if is_hashed():
        return "The ledger has no keys of documents: no open refusal is one of a write to the address of this one."
    return f"No open refusal{searched_part()} names it."


def _list_of(shown: ShownDocument) -> SafeString:
    """A link to the list of refusals, searched for the document."""
    searched = own_element(shown.document) or shown.document.natural_key
    return format_html('<a href="{}">and more: list them all</a>', filtered(_REFUSALS, {"q": searched}))


@shown_with("refusals.view_refusal")
def status_lines() -> Iterator[StatusLine]:
    """Yield how many refusals are open."""
    entries = sum(number for _, number in open_by_vendor())
    yield StatusLine("Open refusals", f"{entries:,}", address=reverse("admin:refusals_overview"))


def mail_section() -> MailSection:
    """Return the most frequent causes of open refusals that are not dismissed: the kind of each, without keys."""
    found = [each for each in top_causes() if not is_dismissed(each.until)]
    lines = [
        (
            f"{each.client_name or f'client {each.client}'}: {kind_of_cause(each.problem, each.awaited_resource)}, "
            f"{counted(each.entries, 'document')}, {state_in_words(each.state, each.until, each.since)}",
            path_of("admin:cause", each.latest),
        )
        for each in found
    ]
    return MailSection("Causes of refused writes", counted(len(lines), "open cause"), lines)
