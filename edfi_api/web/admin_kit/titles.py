"""Titles of documents: the names of persons and organizations in place of their ids, and key values without paths.

    Mae Ortiz · 604822                          a student
    Mae Ortiz · Lakeside High · 2025-08-18      an enrollment
    ENG-00-1 · ENG-00 · Fall 2026 · Lakeside High · 2026

A title is made from a natural key and the model, so documents that were refused or deleted have one too. The names are
those of the documents that the values of the key identify; one query finds them for all titles of a page.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from unicodedata import bidirectional
from uuid import UUID

import orjson
from django.contrib.admin import ModelAdmin
from django.db import DatabaseError, InterfaceError, connections
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.core.documents.extraction import MISSING, id_of_key
from edfi_api.core.models import Document
from edfi_api.core.queries.name_index import name_members
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.web.admin_kit import natural_keys
from edfi_api.web.admin_kit.key_search import find_names
from edfi_api.web.admin_kit.natural_keys import KeyElement, abridged

_MOST_NAMESAKES = 50
_SEPARATOR = " · "
_ISOLATED = "<bdi>{}</bdi>"
_DAY_FORM = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR_FORM = re.compile(r".*[yY]ear")
_NAMESPACE = re.compile(r"uri://")
# The parts of a title, in their order.
_PERSON, _OWN, _REFERRED_TO, _ORGANIZATION, _YEAR, _DAY = range(6)
_NAMES = """
SELECT a.referential_id,
       (SELECT string_agg(d.body ->> member.name, ' ' ORDER BY member.place)
          FROM jsonb_array_elements_text(%(members)s::jsonb -> d.resource_type_id::text)
               WITH ORDINALITY AS member (name, place))
  FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = ANY(%(ids)s)
"""


class DocumentKey(NamedTuple):
    """The facts from which a title is made: the resource, None if the standard does not have it, the natural key, and
    the body of a document that is no longer stored, which has its name."""

    resource: Resource | None
    natural_key: str
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _NamedTarget:
    """A resource whose documents have names and are identified by one value, which `member` is called."""

    name: ResourceName
    path: str
    is_organization: bool

    @property
    def member(self) -> str:
        return self.path.rpartition(".")[2]

    def id_of(self, value: str) -> UUID:
        return id_of_key(self.name, [(self.path, value)])


class Title(str):
    """A title; in HTML its parts that are written right to left are isolated, since they would turn numbers around."""

    __slots__ = ()

    def __html__(self) -> SafeString:
        parts = ((_ISOLATED if _is_right_to_left(part) else "{}", part) for part in str(self).split(_SEPARATOR))
        return SafeString(_SEPARATOR.join(format_html(form, part) for form, part in parts))

    @property
    def first(self) -> "Title":
        """The first part of the title: the name of a person or an organization."""
        return Title(self.partition(_SEPARATOR)[0])

    def without(self, part: str) -> "Title":
        """Return the other parts of the title, where one is known; the title itself if there are none."""
        return Title(_SEPARATOR.join(each for each in self.split(_SEPARATOR) if each != part) or self)


def _is_right_to_left(text: str) -> bool:
    return any(bidirectional(character) in {"R", "AL"} for character in text)


def titles(keys: Sequence[DocumentKey], using: str) -> list[Title]:
    """The titles of documents, with one query whatever their number."""
    read = [_Key(*key) for key in keys]
    names = _names({id_ for key in read for id_ in key.ids()}, using)
    return [key.title(names) for key in read]


def title_of(resource: Resource | None, natural_key: str, using: str) -> Title:
    """The title of one document."""
    [title] = titles([DocumentKey(resource, natural_key)], using)
    return title


def key_elements_of(name: str, using: str) -> list[str]:
    """`studentUniqueId=604822` for each stored document that is identified by one value and has this name."""
    numbers = resource_types.numbers(using)
    of = {numbers[target.name]: target for target in _targets() if target.name in numbers}
    found = find_names(name, of, _MOST_NAMESAKES, using)
    documents = Document.objects.using(using).filter(pk__in=found).values_list("resource_type_id", "natural_key")
    elements = [natural_keys.elements(key)[0] for number, key in documents if number in of]
    return [f"{element.name}={element.value}" for element in elements]


def id_called(name: str, member: str, using: str) -> str | list[str] | None:
    """The id of the stored organization of this name, for a member that identifies one, such as `schoolId`; several
    that are called alike, or begin so, with their ids; None for other members."""
    target = _target(KeyElement(member, ""))
    if target is None or not target.is_organization:
        return None
    abstract = next((each for each in current_surface().abstract_resources if each.name == target.name), None)
    wanted = abstract.subclasses if abstract else (target.name,)
    numbers = resource_types.numbers(using)
    of = [number for each, number in numbers.items() if each in wanted]
    found = find_names(name, of, _MOST_NAMESAKES, using)
    documents = Document.objects.using(using).filter(pk__in=found).select_related("resource_type")
    ids = {natural_keys.elements(each.natural_key)[0].value: each for each in documents}
    keys = [DocumentKey(resource_of(each.resource_type), each.natural_key) for each in ids.values()]
    names = dict(zip(ids, (str(title.first) for title in titles(keys, using)), strict=True))
    called = [id_ for id_, text in names.items() if text.casefold() == " ".join(name.split()).casefold()]
    if len(called) == 1:
        return called[0]
    return [f"{names[id_]} ({id_})" for id_ in called or names]


def identities_of(value: str) -> dict[UUID, ResourceName]:
    """The referential ids that documents have which are identified by this value alone, and what they would be."""
    surface = current_surface()
    keys = [(each.name, each.identity) for each in surface.resources]
    keys += [(each.name, each.identity) for each in surface.abstract_resources]
    alone = [(name, identity[0].without_root()) for name, identity in keys if len(identity) == 1]
    return {id_of_key(name, [(path, value)]): name for name, path in alone}


def resource_of(resource_type: Any) -> Resource | None:
    """The served resource of a row of `ResourceType`."""
    return current_surface().by_name.get(ResourceName(resource_type.project, resource_type.name))


class TitledAdmin(ModelAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Gives each row of a list, and that of a page, the attribute `document_title`."""

    def document_key(self, row: Any) -> DocumentKey:
        """Override for rows that are no documents; an empty natural key makes an empty title."""
        return DocumentKey(resource_of(row.resource_type), row.natural_key)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        found = super().get_changelist_instance(request)
        found.result_list = list(found.result_list)
        self._give_titles(found.result_list)
        return found

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found: Any = super().get_object(request, object_id, from_field)
        if found is not None:
            self._give_titles([found])
        return found

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        if (row := options.get("obj")) is not None:
            context["subtitle"] = self.heading(request, row)
        return super().render_change_form(request, context, *args, **options)

    def heading(self, request: HttpRequest, row: Any) -> str:
        """Return what the page of a row has beneath its title."""
        return str(row.document_title)

    def _give_titles(self, rows: Sequence[Any]) -> None:
        """Documents lie in the database of the rows, or, for the ledger, where the row says."""
        by_database: dict[str, list[Any]] = {}
        for row in rows:
            by_database.setdefault(self.database_of(row), []).append(row)
        for using, those in by_database.items():
            keys = [self.document_key(each) for each in those]
            try:
                found = titles(keys, using)
            except (DatabaseError, InterfaceError):
                if using == str(those[0]._state.db):
                    raise
                # The rows are there, even if the data store with the names does not answer.
                found = [_Key(*key).title({}) for key in keys]
            for row, title in zip(those, found, strict=True):
                row.document_title = title

    def database_of(self, row: Any) -> str:
        """The alias of the database that has the document of the row."""
        return str(row._state.db)


def titled(title: str, natural_key: str) -> SafeString:
    """A title with the key beneath."""
    key = abridged(natural_key)
    if not title or title == key:
        return format_html('<span class="title">{}</span>', key or "-")
    return format_html('<span class="title">{}</span> <small class="key">{}</small>', title, key)


class _Key:
    def __init__(self, resource: Resource | None, natural_key: str, body: Mapping[str, Any] | None = None) -> None:
        self._resource = resource
        self._body = body or {}
        self._elements = [each for each in natural_keys.elements(natural_key) if each.value and each.value != MISSING]
        self._targets = [_target(each) for each in self._elements]
        self._own = self._own_id(natural_key)

    def ids(self) -> Iterable[UUID]:
        """The referential ids of the documents that may have a name to show."""
        if self._own is not None:
            yield self._own
        for element, target in zip(self._elements, self._targets, strict=True):
            if target is not None:
                yield target.id_of(element.value)

    def title(self, names: dict[UUID, str]) -> Title:
        own_name = (names.get(self._own) if self._own else None) or self._name_in_body()
        parts = [(_PERSON, own_name)] if own_name else []
        for element, target in zip(self._elements, self._targets, strict=True):
            id_ = target.id_of(element.value) if target else None
            name = names.get(id_) if id_ and id_ != self._own else None
            if target and name:
                parts.append((_ORGANIZATION if target.is_organization else _PERSON, name))
            else:
                parts.append((_rank(element), _text(element)))
        superfluous = {_YEAR} if any(rank == _DAY for rank, _ in parts) else set()
        shown = [(rank, text) for rank, text in parts if rank not in superfluous and not _NAMESPACE.match(text)]
        shown = shown or parts
        return Title(_SEPARATOR.join(dict.fromkeys(text for _, text in sorted(shown, key=lambda part: part[0]))))

    def _name_in_body(self) -> str | None:
        members = _members().get(self._resource.name, ()) if self._resource else ()
        return " ".join(str(self._body[name]) for name in members if name in self._body) or None

    def _own_id(self, natural_key: str) -> UUID | None:
        if self._resource is None or self._resource.name not in _members() or MISSING in natural_key:
            return None
        return id_of_key(self._resource.name, [(each.name or "", each.value) for each in self._elements])


def _target(element: KeyElement) -> _NamedTarget | None:
    """Return what the value identifies, by the name of its member: `schoolId`, or `feederSchoolId` in a role."""
    last = (element.name or "").rpartition(".")[2]
    return next((target for target in _targets() if _is_named(last, target.member)), None)


def _is_named(member: str, target: str) -> bool:
    return member == target or member.endswith(target[0].upper() + target[1:])


def _rank(element: KeyElement) -> int:
    if _DAY_FORM.fullmatch(element.value):
        return _DAY
    if _YEAR_FORM.fullmatch(element.name or ""):
        return _YEAR
    return _OWN if element.name is None or "." not in element.name else _REFERRED_TO


def _text(element: KeyElement) -> str:
    is_descriptor = element.name is None or is_descriptor_name(element.name.rpartition(".")[2])
    return element.value.rpartition("#")[2] if is_descriptor else element.value


@cache
def _members() -> dict[ResourceName, list[str]]:
    """The members that are the name of a document: those that every document has, and that are no part of the key."""
    found = {resource.name: _required_names(resource) for resource in current_surface().resources}
    return {name: members for name, members in found.items() if members}


def _required_names(resource: Resource) -> list[str]:
    required, key = resource.json_schema.get("required", ()), {path.steps[0] for path in resource.identity}
    return [name for name in name_members(resource) if name in required and name not in key]


@cache
def _targets() -> list[_NamedTarget]:
    """The longest member first, since one may be the end of another."""
    surface = current_surface()
    named = _members()
    concrete = [
        _NamedTarget(each.name, each.identity[0].without_root(), each.organization is not None)
        for each in surface.resources
        if each.name in named and len(each.identity) == 1
    ]
    abstract = [
        _NamedTarget(each.name, each.identity[0].without_root(), is_organization=True)
        for each in surface.abstract_resources
        if len(each.identity) == 1 and named.keys() & set(each.subclasses)
    ]
    return sorted([*concrete, *abstract], key=lambda target: -len(target.member))


def _names(ids: set[UUID], using: str) -> dict[UUID, str]:
    if not ids:
        return {}
    numbers = resource_types.numbers(using)
    members = {str(numbers[name]): names for name, names in _members().items() if name in numbers}
    with connections[using].cursor() as cursor:
        cursor.execute(_NAMES, {"members": orjson.dumps(members).decode(), "ids": list(ids)})
        return {id_: name for id_, name in cursor if name}
