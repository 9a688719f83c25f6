"""JSON texts → rows for COPY, without the database, so that it can run in any process.

Arguments and results are a few large values instead of many small ones, because they are passed between processes.
Descriptors keep the case in which they were sent, except those whose stored URIs the work contains.

Candidates are divided into batches, one per transaction: of one resource, bounded in number and bytes. With one
resource per batch, all targets except those of the same resource are in the database when a batch is written;
descriptors refer to nothing and may be mixed. Batches are written one after the other if one refers to a resource of
which the other has documents, or if both have the same document; the write sets say so.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any
from uuid import UUID

from uuid_utils import uuid7

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidator, ValidatedDocument
from edfi_api.core.documents.paths import Path
from edfi_api.core.documents.violations import Leniency, Tolerated
from edfi_api.core.storage.exceptions import NotChecked
from edfi_api.core.storage.sets import REFUSALS, Refusal
from edfi_api.core.storage.sets.staging import copy_line
from edfi_api.core.writes.rules.configured import rules_of
from edfi_api.core.writes.rules.enforcing import WriteCheck
from edfi_api.core.writes.rules.ruled_write import NOBODY, Finding, RefusedByRules, WritingClient
from edfi_api.features.loading.bulk.candidates import Candidate, PreservedFields, pop_imported
from edfi_api.model.surface.resource import Resource, ResourceName

# The stored URIs of descriptors, by referential id.
UrisById = Mapping[UUID, str]

Batch = list[Candidate[Any]]

MOST_DOCUMENTS = 2_000
_MOST_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Part:
    """Bodies of one resource; `number` is its resource type in the database."""

    resource: Resource
    number: int
    texts: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Work:
    """A batch to prepare; `stored_uris` has descriptors of which the load has seen another case than the stored one.
    `preserved` says what bodies bring with them. With `skips_rules` custom rules are not run; `writing_client` is
    for them."""

    parts: Sequence[Part]
    stored_uris: UrisById = field(default_factory=dict)
    preserved: PreservedFields = PreservedFields.NOTHING
    skips_rules: bool = False
    writing_client: WritingClient = NOBODY

    def texts(self) -> Iterator[tuple[Part, bytes]]:
        """Each text with its part, in order."""
        return ((part, text) for part in self.parts for text in part.texts)


@dataclass(slots=True)
class Prepared:
    """The result of preparing a batch.

    `lines` is the input of COPY, `aliases` has the referential ids of each valid document by its position (the
    superclass's last), and `refusals` the errors of the others. `tolerated` has what was tolerated in a body, such as
    unknown members, by its position, `warnings` what custom rules warn of. `descriptors` has the referential id
    and the URI of each descriptor that occurs.
    """

    lines: bytes = b""
    aliases: dict[int, tuple[bytes, ...]] = field(default_factory=dict)
    refusals: dict[int, Refusal] = field(default_factory=dict)
    tolerated: dict[int, list[Tolerated]] = field(default_factory=dict)
    warnings: dict[int, tuple[Finding, ...]] = field(default_factory=dict)
    descriptors: set[tuple[UUID, str]] = field(default_factory=set)

    def add_warnings(self, found: Mapping[int, tuple[Finding, ...]]) -> None:
        """Add the warnings of rules that look up other documents."""
        for position, warnings in found.items():
            if warnings:
                self.warnings[position] = self.warnings.get(position, ()) + warnings

    def without(self, refused: Mapping[int, Refusal]) -> "Prepared":
        """Return what is prepared without documents that are refused, by position."""
        lines = [line for line in self.lines.split(b"\n") if line and int(line.partition(b"\t")[0]) not in refused]
        return replace(
            self,
            lines=b"".join(line + b"\n" for line in lines),
            aliases={position: ids for position, ids in self.aliases.items() if position not in refused},
            refusals={**self.refusals, **refused},
        )


class DocumentValidatorsOnDemand:
    """The validators of resources, each compiled at the first body of its resource."""

    def __init__(self) -> None:
        self._compiled: dict[ResourceName, DocumentValidator] = {}

    def of(self, resource: Resource) -> DocumentValidator:
        if resource.name not in self._compiled:
            self._compiled[resource.name] = DocumentValidator(resource)
        return self._compiled[resource.name]


class Preparation:
    """Prepares batches."""

    def __init__(self) -> None:
        self._validators = DocumentValidatorsOnDemand()

    def prepare(self, work: Work) -> Prepared:
        prepared = Prepared()
        lines = []
        found: dict[tuple[Path, str], UUID] = {}
        for position, (part, text) in enumerate(work.texts()):
            validator = self._validators.of(part.resource)
            leniency = Leniency(api_settings.STRICT, any_case=api_settings.MEMBERS_IN_ANY_CASE)
            try:
                body = json_text.parse_object(text)
                imported = pop_imported(body, work.preserved)
                validated = validator.validate_new(body, lambda _: work.stored_uris, leniency)
            except REFUSALS as refusal:
                prepared.refusals[position] = refusal
                continue
            # References of what rules refuse are looked up, too: in the stored case they may accept it.
            for reference in (*validated.references, *validated.key_descriptors):
                if reference.value is not None:
                    found[reference.steps, reference.value] = reference.referential_id
            if api_settings.WRITE_RULES and not _is_accepted(position, validated, work, prepared):
                continue
            if leniency.tolerated:
                prepared.tolerated[position] = leniency.tolerated
            new_id = imported.document_uuid or uuid7().hex
            lines.append(copy_line(position, validated, part.number, new_id, imported.envelope))
            prepared.aliases[position] = tuple([alias.bytes for alias in validated.identity.aliases])
        prepared.descriptors = {(id_, work.stored_uris.get(id_, value)) for (_, value), id_ in found.items()}
        prepared.lines = "".join(lines).encode()
        return prepared


def _is_accepted(position: int, validated: ValidatedDocument, work: Work, prepared: Prepared) -> bool:
    """Return whether custom rules that read the document only accept it; adds their refusal, or what they warn of."""
    rules = None if work.skips_rules else rules_of(validated.resource)
    if rules is None:
        return True
    check = WriteCheck(rules, work.writing_client, is_timed=False)
    try:
        check.check_document(validated)
    except (RefusedByRules, NotChecked) as refusal:
        prepared.refusals[position] = refusal
        return False
    prepared.add_warnings({position: check.warnings})
    return True


_of_this_process = Preparation()


def prepare(work: Work) -> Prepared:
    """Prepare the work in a worker process, in which the compiled resources are kept for all work."""
    return _of_this_process.prepare(work)


def batches(
    candidates: Iterable[Candidate[Any]], goes_alone: Callable[[Resource], bool] = lambda _: False
) -> Iterator[Batch]:
    """All candidates in their order, in batches. A document of a resource that `goes_alone` is a batch of its own."""
    batch: Batch = []
    size = 0
    for candidate in candidates:
        if batch and (
            len(batch) >= MOST_DOCUMENTS
            or size >= _MOST_BYTES
            or not _may_stand_together(batch[0].resource, candidate.resource)
            or goes_alone(candidate.resource)
            or goes_alone(batch[0].resource)
        ):
            yield batch
            batch, size = [], 0
        batch.append(candidate)
        size += len(candidate.text)
    if batch:
        yield batch


def _may_stand_together(one: Resource, other: Resource) -> bool:
    return one is other or one.name == other.name or (one.is_descriptor and other.is_descriptor)


def are_descriptors(batch: Batch) -> bool:
    """Return whether a batch is one of descriptors."""
    return batch[0].resource.is_descriptor


@dataclass(frozen=True, slots=True)
class WriteSet:
    """The resource names under which a batch's documents can be referenced, those they refer to, and their ids."""

    provided: frozenset[ResourceName]
    referred: frozenset[ResourceName]
    ids: frozenset[bytes]

    def is_independent_of(self, other: "WriteSet") -> bool:
        return (
            self.referred.isdisjoint(other.provided)
            and self.provided.isdisjoint(other.referred)
            and self.ids.isdisjoint(other.ids)
        )


def write_set(resources: Sequence[Resource], aliases: Iterable[Iterable[bytes]]) -> WriteSet:
    """The write set of a batch with documents of these resources and these referential ids."""
    return WriteSet(
        provided=frozenset(chain.from_iterable(_names(resource) for resource in resources)),
        referred=frozenset(chain.from_iterable(_targets(resource) for resource in resources)),
        ids=frozenset(chain.from_iterable(aliases)),
    )


def _names(resource: Resource) -> Iterable[ResourceName]:
    return (resource.name, resource.superclass.name) if resource.superclass else (resource.name,)


def _targets(resource: Resource) -> Iterable[ResourceName]:
    yield from (reference.target for reference in resource.references)
    yield from (descriptor.target for descriptor in resource.descriptors)
