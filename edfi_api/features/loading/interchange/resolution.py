"""Fragment → body: resolves references to other elements of the file and to documents in the database.

Runs just before the document is written. Whether a look-up matches one document depends on what is stored, so
`loading` resolves look-ups only when everything is written that can be without them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from edfi_api.core.documents.coercion import Coercion, compile_coercion
from edfi_api.core.documents.extraction import Extractor
from edfi_api.core.documents.paths import as_text
from edfi_api.core.documents.violations import Leniency
from edfi_api.core.models import Document
from edfi_api.core.storage import resource_types
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments
from edfi_api.features.loading.exceptions import NeedsLookUp, UnreadableDocument
from edfi_api.features.loading.interchange.disk_queue import (
    Fragment,
    IdReference,
    InterchangeQueue,
    LookUp,
    Named,
    OpenReference,
    Place,
)
from edfi_api.features.loading.interchange.entities import Entities, identity_value_path
from edfi_api.model.surface.resource import KeyPair, ResourceName

_NO_LOOK_UPS = "a look-up cannot find what is stored in terms of another standard; refer by key or by id"


@dataclass
class Resolver:
    """Resolves the references of fragments against one queue and one database."""

    entities: Entities
    queue: InterchangeQueue
    using: str
    dry_run: AcceptedDocuments | None = None
    has_look_ups: bool = True
    _coercions: dict[ResourceName, Coercion] = field(default_factory=dict)
    _is_looking_up: bool = True

    def body(self, fragment: Fragment, file: int) -> dict[str, Any]:
        """The fragment's body with all references. Raises UnreadableDocument if one cannot be resolved."""
        return self._resolved(fragment, file, frozenset()).body

    def body_without_look_ups(self, fragment: Fragment, file: int) -> dict[str, Any]:
        """Return what `body` returns. Raises NeedsLookUp if a reference is a look-up."""
        self._is_looking_up = False
        try:
            return self.body(fragment, file)
        finally:
            self._is_looking_up = True

    def _resolved(self, fragment: Fragment, file: int, passed: frozenset[str]) -> Fragment:
        for reference in fragment.open_references:
            target = self._target(reference.named, reference, file, passed)
            members = reference_object(self.entities, reference.target, reference.identity, target, reference.line)
            _object_at(fragment.body, reference.place).update(members)
        return fragment

    def _target(self, named: Named, reference: OpenReference, file: int, passed: frozenset[str]) -> Fragment:
        match named:
            case Fragment():
                return self._resolved(named, file, passed)
            case IdReference():
                return self._with_id(named.id, reference, file, passed)
            case LookUp():
                return self._looked_up(named, reference, file, passed)

    def _with_id(self, id_: str, reference: OpenReference, file: int, passed: frozenset[str]) -> Fragment:
        named = self.queue.named(file, id_) if id_ not in passed else None
        if named is None:
            raise UnreadableDocument(reference.line, f"nothing in the file has the id {id_!r}")
        target = self._target(named, reference, file, passed | {id_})
        if reference.target not in self._names_of(target.name):
            raise UnreadableDocument(
                reference.line,
                f"the id {id_!r} is not of a {reference.target.resource} but of a {target.name.resource}",
            )
        return target

    def _names_of(self, name: ResourceName) -> set[ResourceName]:
        resource = self.entities.resource(name)
        superclass = resource.superclass if resource is not None else None
        return {name} if superclass is None else {name, superclass.name}

    def _looked_up(self, look_up: LookUp, reference: OpenReference, file: int, passed: frozenset[str]) -> Fragment:
        if not self.has_look_ups:
            raise UnreadableDocument(reference.line, _NO_LOOK_UPS)
        if not self._is_looking_up:
            raise NeedsLookUp
        examples = [self._resolved(example, file, passed) for example in look_up.examples]
        found = [match for example in examples for match in self._matches(example)]
        if len(found) != 1:
            count = "several documents" if found else "no document"
            raise UnreadableDocument(reference.line, f"the {reference.target.resource} look-up matches {count}")
        return found[0]

    def _matches(self, example: Fragment) -> list[Fragment]:
        """Return up to two documents that contain the example: enough to detect an ambiguous look-up."""
        number, coerced = resource_types.numbers(self.using)[example.name], self._coerced(example)
        documents = Document.objects.using(self.using).filter(resource_type_id=number, body__contains=coerced)
        found: Iterable[dict[str, Any]] = documents.values_list("body", flat=True)[:2]
        if self.dry_run is not None:
            found = self._after_dry_run(self.dry_run, documents.values_list("body", flat=True), number, coerced)
        return [Fragment(example.name, body) for body in islice(found, 2)]

    def _after_dry_run(
        self, dry_run: AcceptedDocuments, stored: Iterable[dict[str, Any]], number: int, example: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """The matching documents as if those that were accepted had been written."""
        yield from dry_run.containing(number, example)
        name = next(name for name, each in resource_types.numbers(self.using).items() if each == number)
        extractor = Extractor(self.entities.surface.by_name[name])
        for body in stored:
            if dry_run.body(extractor.identity(body).referential_id.bytes) is None:
                yield body

    def _coerced(self, example: Fragment) -> dict[str, Any]:
        """The example with coerced values; coercions are compiled on first use, as few resources have look-ups."""
        if example.name not in self._coercions:
            schema = self.entities.surface.by_name[example.name].json_schema
            self._coercions[example.name] = compile_coercion(schema)
        coerced: dict[str, Any] = self._coercions[example.name](example.body, Leniency())
        return coerced


def _object_at(body: Any, place: Place) -> Any:
    for key in place:
        body = body[key]
    return body


def reference_object(
    entities: Entities, asked_as: ResourceName, identity: tuple[KeyPair, ...], target: Fragment, line: int
) -> dict[str, Any]:
    """The members of a reference to `target`.

    Where the model merges several values of the target into one member, the XML can repeat the value: a section's
    school is in its course offering and again in the session of that. UnreadableDocument if they differ; missing values
    are left to the validation.
    """
    members: dict[str, Any] = {}
    for pair in identity:
        there = identity_value_path(entities, target.name, asked_as, pair.there)
        value = _value_at(target.body, there.steps)
        if value is not None:
            member = pair.here.steps[-1]
            known = members.setdefault(member, value)
            if known != value and as_text(known) != as_text(value):
                raise UnreadableDocument(
                    line, f"the {asked_as.resource} has two values for {member}: {as_text(known)!r}, {as_text(value)!r}"
                )
    return members


def _value_at(body: Any, steps: tuple[str, ...]) -> Any:
    """The value, or None; paths of identity values contain no arrays."""
    for step in steps:
        body = body.get(step) if isinstance(body, dict) else None
    return body
