"""Finds and mends descriptors whose keys are spelt otherwise than in the documents that refer to them.

Before 1.1, a descriptor that was written again in another case got the new spelling, while documents kept the old one,
in which no filter and no SQL view looked for them any longer. The spelling that most documents have is right; of two
that equally many have, that of the oldest document.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from edfi_api.core.documents import json_text
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.extraction import DESCRIPTOR_KEY, DocumentReference, normalise_case
from edfi_api.core.documents.incoming import IncomingDocument, Preparers
from edfi_api.core.models import Document
from edfi_api.core.storage import cascade, resource_types
from edfi_api.core.storage.descriptor_uri_cache import read_uris
from edfi_api.model.surface.resource import ResourceName
from references.models import Alias

_BATCH = 1000


@dataclass(slots=True)
class UrisOfDescriptors:
    """The URIs of the stored descriptors of one database, each read once."""

    using: str
    _known: dict[UUID, str] = field(default_factory=dict)

    def of(self, ids: Iterable[UUID]) -> Mapping[UUID, str]:
        """Return the URIs, by referential id, of at least the stored descriptors among these ids."""
        if unknown := {id_ for id_ in ids if id_ not in self._known}:
            self._known |= read_uris(list(unknown), self.using)
        return self._known

    def spelt_otherwise(self, document: IncomingDocument) -> Iterator[tuple[DocumentReference, str]]:
        """The descriptors that a document spells otherwise than they are stored, and how these are."""
        found = descriptors_of(document)
        uris = self.of(reference.referential_id for reference in found)
        for reference in found:
            uri = uris.get(reference.referential_id, reference.value)
            if uri is not None and uri != reference.value:
                yield reference, uri


class Mended(NamedTuple):
    """How many descriptors, and how many documents that refer to descriptors, have got another spelling."""

    descriptors: int
    documents: int


def mend(preparers: Preparers, using: str) -> Mended:
    """Give descriptors the spelling that documents have, and these that of the descriptors. Reads everything twice if
    something is to be mended."""
    right = _right_spellings(preparers, using)
    if not right:
        return Mended(0, 0)
    descriptors = _spell_descriptors(right, preparers, using)
    documents = 0
    for batch in _batches(using):
        documents += _spell_documents(batch, right, preparers, using)
    return Mended(descriptors, documents)


def descriptors_of(document: IncomingDocument) -> list[DocumentReference]:
    """The descriptors that occur in a document."""
    return [reference for reference in document.sent_references if reference.value is not None]


def _right_spellings(preparers: Preparers, using: str) -> dict[UUID, str]:
    """Return the right spelling, by referential id, of the descriptors that are not spelt alike everywhere."""
    spellings: dict[UUID, Counter[str]] = {}
    for batch in _batches(using):
        for _, document in _understood(batch, preparers, using):
            for reference in descriptors_of(document):
                spellings.setdefault(reference.referential_id, Counter())[reference.value or ""] += 1
    stored = UrisOfDescriptors(using).of(spellings)
    # The first of equal numbers is that of the oldest document.
    return {
        id_: counted.most_common(1)[0][0]
        for id_, counted in spellings.items()
        if id_ in stored and counted.keys() != {stored[id_]}
    }


def _spell_descriptors(right: Mapping[UUID, str], preparers: Preparers, using: str) -> int:
    with transaction.atomic(using):
        aliases = dict(Alias.objects.using(using).filter(pk__in=list(right)).values_list("document_id", "pk"))
        rewritten = []
        for row, document in _understood(_locked(aliases, using), preparers, using):
            key = dict(zip(DESCRIPTOR_KEY, right[aliases[row]].split("#", 1), strict=True))
            spelt = document.spelt_as(key)
            if spelt is not document:
                rewritten.append((row, spelt))
        cascade.rewrite(rewritten, using)
    return len(rewritten)


def _spell_documents(batch: list["_Row"], right: Mapping[UUID, str], preparers: Preparers, using: str) -> int:
    rows = [row for row, document in _understood(batch, preparers, using) if _differs(document, right)]
    if not rows:
        return 0
    with transaction.atomic(using):
        rewritten = []
        for row, document in _understood(_locked(rows, using), preparers, using):
            if _differs(document, right):
                normalise_case(document.body, document.sent_references, lambda _: right)
                rewritten.append((row, preparers[document.resource.name].understand(document.body)))
        cascade.rewrite(rewritten, using)
    return len(rewritten)


def _differs(document: IncomingDocument, right: Mapping[UUID, str]) -> bool:
    return any(right.get(each.referential_id, each.value) != each.value for each in descriptors_of(document))


class _Row(NamedTuple):
    row: int
    resource_type: int
    body: str


def _batches(using: str) -> Iterator[list[_Row]]:
    """All documents in the order of their rows."""
    last_row = 0
    while batch := _rows(Document.objects.using(using).filter(id__gt=last_row).order_by("id")[:_BATCH]):
        yield batch
        last_row = batch[-1].row


def _locked(rows: Iterable[int], using: str) -> list[_Row]:
    chosen = Document.objects.using(using).filter(id__in=list(rows)).order_by("id")
    return _rows(chosen.select_for_update())


def _rows(documents: QuerySet[Document]) -> list[_Row]:
    columns = documents.values_list("id", "resource_type_id", Cast("body", TextField()))
    return [_Row(*values) for values in columns]


def _understood(rows: Iterable[_Row], preparers: Preparers, using: str) -> Iterator[tuple[int, IncomingDocument]]:
    """The documents that can be read, each with its row."""
    names: Mapping[int, ResourceName] = resource_types.names(using)
    for row, resource_type, body in rows:
        name = names[resource_type]
        if name not in preparers:
            continue
        try:
            yield row, preparers[name].understand(json_text.loads(body.encode()))
        except DataValidationFailed:
            continue
