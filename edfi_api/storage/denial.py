"""Explains the denial of a guard. The queries only describe the error; the decision was made by the denied statement.

Checked in this order: the stored document, errors of the values themselves (descriptors that do not exist, a key that
cannot change), the proposed values. See meadowlark/docs/contract.md#order-of-checks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.documents.incoming import IncomingDocument
from edfi_api.model.surface.resource import JsonPath
from edfi_api.storage import statements
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.prepared import Row
from edfi_api.storage.exceptions import KeyChangeNotSupported
from edfi_api.storage.guards import NEW, PROPOSED, STORED, Guard
from references import resolution
from references.exceptions import UnresolvedReference


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A denied request for one document. `find` is the `QUESTIONS_BY_...` statement that selects it, `parameters` are
    those of the request and of the guard."""

    guard: Guard
    find: str
    parameters: Mapping[str, Any]
    using: str

    def raise_if_stored_is_denied(self) -> bool | None:
        """Raise the refusal for the stored document, if there is one. Returns whether the document keeps its identity;
        None if it does not exist."""
        rows = self._ask(self.find, self.guard.questions(STORED))
        if not rows:
            return None
        is_same_identity, *answers = rows[0]
        if refusal := self.guard.refusal(answers, STORED, frozenset()):
            raise refusal
        return bool(is_same_identity)

    def raise_if_denied(self, incoming: IncomingDocument, unresolved: UnresolvedReference | None) -> None:
        """Raise the refusal for a write; `unresolved` has its references that do not resolve."""
        is_same_identity = self.raise_if_stored_is_denied()
        if is_same_identity is None and self.find == statements.QUESTIONS_BY_UUID:
            return  # The document does not exist.
        if unresolved and unresolved.descriptors:
            raise unresolved
        if is_same_identity is False and not incoming.resource.allows_identity_updates:
            raise KeyChangeNotSupported(incoming.resource)
        values = NEW if is_same_identity is None else PROPOSED
        ((_, *answers),) = self._ask(statements.QUESTIONS_ABOUT_VALUES, self.guard.questions(values))
        if refusal := self.guard.refusal(answers, values, _places(incoming, self.using)):
            raise refusal

    def _ask(self, statement: str, questions: list[str]) -> list[Row]:
        return execute(
            statement.format(questions="".join(f", {each}" for each in questions)), self.parameters, self.using
        )


def _places(incoming: IncomingDocument, using: str) -> frozenset[JsonPath]:
    """The paths of references whose targets do not exist; a document may refer to itself."""
    missing = resolution.missing(incoming.targets, using) - set(incoming.identity.aliases)
    return frozenset(JsonPath(each.steps) for each in incoming.references if each.referential_id in missing)
