"""Consistency check of the stored data.

Compares every body with its natural key, securables, aliases, references and links, and the derived tables (the closure
of the hierarchy of education organizations, and which of them reach the documents of people) with the documents.
Foreign keys only guarantee that rows refer to existing rows; that they correspond to the bodies is up to the store.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connections, transaction
from django.db.models import OuterRef, QuerySet, TextField
from django.db.models.functions import Cast

from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidator, DocumentValidators, ValidatedDocument
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.extraction import DESCRIPTOR_KEY, DocumentReference, normalize_case
from edfi_api.core.documents.securables import COLUMNS, Securables
from edfi_api.core.models import Document
from edfi_api.core.storage import cascade, resource_types
from edfi_api.core.storage.descriptor_uri_cache import read_uris
from edfi_api.model.surface.resource import ResourceName
from references.models import Alias, Reference

# Before 1.1, a descriptor that was written again in another case got the new spelling, while documents kept the old
# one, in which no filter and no SQL view looked for them any longer. The spelling that most documents have is right;
# of two that equally many have, that of the oldest document.

_BATCH = 1000


@dataclass(slots=True)
class _UrisOfDescriptors:
    """The URIs of the stored descriptors of one database, each read once."""

    using: str
    _known: dict[UUID, str] = field(default_factory=dict)

    def of(self, ids: Iterable[UUID]) -> Mapping[UUID, str]:
        """Return the URIs, by referential id, of at least the stored descriptors among these ids."""
        if unknown := {id_ for id_ in ids if id_ not in self._known}:
            self._known |= read_uris(list(unknown), self.using)
        return self._known

    def spelt_otherwise(self, document: ValidatedDocument) -> Iterator[tuple[DocumentReference, str]]:
        """The descriptors that a document spells otherwise than they are stored, and how these are."""
        found = _descriptors_of(document)
        uris = self.of(reference.referential_id for reference in found)
        for reference in found:
            uri = uris.get(reference.referential_id, reference.value)
            if uri is not None and uri != reference.value:
                yield reference, uri


class _Repaired(NamedTuple):
    """How many descriptors, and how many documents that refer to descriptors, have got another spelling."""

    descriptors: int
    documents: int


def repair_spelling(validators: DocumentValidators, using: str) -> _Repaired:
    """Give descriptors the spelling that documents have, and these that of the descriptors. Reads everything twice if
    something is to be repaired."""
    right = _right_spellings(validators, using)
    if not right:
        return _Repaired(0, 0)
    descriptors = _spell_descriptors(right, validators, using)
    documents = 0
    for batch in _batches(using):
        documents += _spell_documents(batch, right, validators, using)
    return _Repaired(descriptors, documents)


def _descriptors_of(document: ValidatedDocument) -> list[DocumentReference]:
    """The descriptors that occur in a document."""
    return [reference for reference in document.sent_references if reference.value is not None]


def _right_spellings(validators: DocumentValidators, using: str) -> dict[UUID, str]:
    """Return the right spelling, by referential id, of the descriptors that are not spelt alike everywhere."""
    spellings: dict[UUID, Counter[str]] = {}
    for batch in _batches(using):
        for _, document in _understood(batch, validators, using):
            for reference in _descriptors_of(document):
                spellings.setdefault(reference.referential_id, Counter())[reference.value or ""] += 1
    stored = _UrisOfDescriptors(using).of(spellings)
    # The first of equal numbers is that of the oldest document.
    return {
        id_: counted.most_common(1)[0][0]
        for id_, counted in spellings.items()
        if id_ in stored and counted.keys() != {stored[id_]}
    }


def _spell_descriptors(right: Mapping[UUID, str], validators: DocumentValidators, using: str) -> int:
    with transaction.atomic(using):
        aliases = dict(Alias.objects.using(using).filter(pk__in=list(right)).values_list("document_id", "pk"))
        rewritten = []
        for row, document in _understood(_locked(aliases, using), validators, using):
            key = dict(zip(DESCRIPTOR_KEY, right[aliases[row]].split("#", 1), strict=True))
            spelt = document.spelt_as(key)
            if spelt is not document:
                rewritten.append((row, spelt))
        cascade.rewrite(rewritten, using)
    return len(rewritten)


def _spell_documents(
    batch: list["_Referrer"], right: Mapping[UUID, str], validators: DocumentValidators, using: str
) -> int:
    rows = [row for row, document in _understood(batch, validators, using) if _differs(document, right)]
    if not rows:
        return 0
    with transaction.atomic(using):
        rewritten = []
        for row, document in _understood(_locked(rows, using), validators, using):
            if _differs(document, right):
                normalize_case(document.body, document.sent_references, lambda _: right)
                rewritten.append((row, validators[document.resource.name].understand(document.body)))
        cascade.rewrite(rewritten, using)
    return len(rewritten)


def _differs(document: ValidatedDocument, right: Mapping[UUID, str]) -> bool:
    return any(right.get(each.referential_id, each.value) != each.value for each in _descriptors_of(document))


class _Referrer(NamedTuple):
    row: int
    resource_type: int
    body: str


def _batches(using: str) -> Iterator[list[_Referrer]]:
    """All documents in the order of their rows."""
    last_row = 0
    while batch := _referrers(Document.objects.using(using).filter(id__gt=last_row).order_by("id")[:_BATCH]):
        yield batch
        last_row = batch[-1].row


def _locked(rows: Iterable[int], using: str) -> list[_Referrer]:
    chosen = Document.objects.using(using).filter(id__in=list(rows)).order_by("id")
    return _referrers(chosen.select_for_update())


def _referrers(documents: QuerySet[Document]) -> list[_Referrer]:
    columns = documents.values_list("id", "resource_type_id", Cast("body", TextField()))
    return [_Referrer(*values) for values in columns]


def _understood(
    rows: Iterable[_Referrer], validators: DocumentValidators, using: str
) -> Iterator[tuple[int, ValidatedDocument]]:
    """The documents that can be read, each with its row."""
    names: Mapping[int, ResourceName] = resource_types.names(using)
    for row, resource_type, body in rows:
        name = names[resource_type]
        if name not in validators:
            continue
        try:
            yield row, validators[name].understand(json_text.loads(body.encode()))
        except DataValidationFailed:
            continue


_OTHER_ANCESTORS = """
WITH computed AS (
    SELECT * FROM organization_ancestors(ARRAY(SELECT hierarchy[1] FROM document WHERE hierarchy IS NOT NULL))
)
SELECT descendant_id FROM ((TABLE computed EXCEPT TABLE organization_closure) UNION
                           (TABLE organization_closure EXCEPT TABLE computed)) difference
 GROUP BY descendant_id ORDER BY descendant_id
"""

# The view takes long to plan and to read, so it is read once.
_OTHERWISE_REACHED = """
WITH path AS MATERIALIZED (TABLE authorization_path)
SELECT t.name, d.natural_key
  FROM (
    (TABLE path EXCEPT TABLE reached_document) UNION
    (TABLE reached_document EXCEPT TABLE path)
  ) difference LEFT JOIN document d ON d.id = document_id LEFT JOIN resource_type t ON t.id = d.resource_type_id
 GROUP BY document_id, t.name, d.natural_key ORDER BY document_id
"""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A document whose rows do not correspond to its body; `what` is a text for operators."""

    resource: str
    natural_key: str
    what: str

    def __str__(self) -> str:
        return f"{self.resource} {self.natural_key}: {self.what}"


class _Row(NamedTuple):
    """The stored columns, aliases, references and links of one document."""

    row: int
    resource_type: int
    natural_key: str
    text: str
    aliases: list[UUID]
    references: list[UUID]
    linked_types: list[int] | None
    linked_ids: list[UUID] | None
    securables: Securables


# Resource type and id of a document.
_Link = tuple[int, UUID]


def disagreements(validators: DocumentValidators, using: str) -> Iterator[Disagreement]:
    """All disagreements in the order of the documents' rows; memory is bounded by a batch.

    Documents of a resource that the surface does not have cannot be checked; one is reported per resource.
    """
    last_row = 0
    not_served: dict[ResourceName, str] = {}
    uris = _UrisOfDescriptors(using)
    while batch := list(_batch(last_row, using)):
        links = _links(batch, using)
        for stored in batch:
            name = resource_types.names(using)[stored.resource_type]
            if name not in validators:
                not_served.setdefault(name, stored.natural_key)
                continue
            for what in _compare(validators[name], stored, links, uris):
                yield Disagreement(name.resource, stored.natural_key, what)
        if len(batch) < _BATCH:
            break
        last_row = batch[-1].row
    for name, natural_key in not_served.items():
        yield Disagreement(name.resource, natural_key, "the standard that is served has no such resource")
    for (organization,) in _rows(_OTHER_ANCESTORS, using):
        yield Disagreement("EducationOrganization", str(organization), "organization_closure has other ancestors")
    for resource, natural_key in _rows(_OTHERWISE_REACHED, using):
        what = "reached_document has other organizations or associations"
        yield Disagreement(resource or "Document", natural_key or "that is gone", what)


def _batch(after: int, using: str) -> Iterator[_Row]:
    """Aliases and references by document: joined, they would be read from the first one for each batch."""
    rows = Document.objects.using(using).filter(id__gt=after).order_by("id")
    columns = rows.values_list(
        "id",
        "resource_type_id",
        "natural_key",
        Cast("body", TextField()),
        ArraySubquery(Alias.objects.filter(document=OuterRef("pk")).values("pk")),
        ArraySubquery(Reference.objects.filter(document=OuterRef("pk")).values("alias_id")),
        "linked_types",
        "linked_ids",
        *COLUMNS,
    )
    width = len(_Row._fields) - 1
    return (_Row._make([*row[:width], Securables._make(row[width:])]) for row in columns[:_BATCH])


def _links(batch: list[_Row], using: str) -> dict[UUID, _Link]:
    """Referential id → target, for the references of these documents."""
    wanted = {alias for stored in batch for alias in stored.references}
    targets = Alias.objects.using(using).filter(pk__in=wanted)
    found = targets.values_list("referential_id", "document__resource_type_id", "document__document_uuid")
    return {alias: (type_, id_) for alias, type_, id_ in found}


def _rows(query: str, using: str) -> list[tuple[Any, ...]]:
    with connections[using].cursor() as cursor:
        cursor.execute(query)
        return list(cursor)


def _compare(
    validator: DocumentValidator, stored: _Row, links: dict[UUID, _Link], uris: _UrisOfDescriptors
) -> Iterator[str]:
    try:
        understood = validator.understand(json_text.loads(stored.text.encode()))
    except DataValidationFailed as failed:
        yield f"its identity cannot be read: {failed.violations[0].message}"
        return
    if understood.identity.natural_key != stored.natural_key:
        yield f"the body's natural key is {understood.identity.natural_key}; migrate stores the paths of keys"
    for name, expected, column in zip(COLUMNS, understood.securables, stored.securables, strict=True):
        if expected != column:
            yield f"the column {name} is {column} instead of the body's {expected}"
    if set(understood.identity.aliases) != set(stored.aliases):
        yield "its aliases are not those of its identity"
    targets, references = set(understood.targets), set(stored.references)
    if missing := targets - references:
        yield f"{len(missing)} reference(s) of the body have no row"
    if surplus := references - targets:
        yield f"{len(surplus)} row(s) of references are not in the body"
    referenced = [links.get(alias) for alias in understood.linked]
    if not missing and referenced != list(zip(stored.linked_types or [], stored.linked_ids or [], strict=True)):
        yield "its links do not lead to the targets of its references"
    for reference, uri in uris.spelt_otherwise(understood):
        yield f"{reference.place} is {reference.value}, the key of the descriptor is spelt {uri}"
