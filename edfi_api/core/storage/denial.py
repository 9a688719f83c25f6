"""Explains why a policy denied a request. The queries only describe the denial; the denied statement has decided.

Checked in this order: the stored document, errors of the values themselves (descriptors that do not exist, a key that
cannot change), the new values. See meadowlark/docs/reference/contract.md#order-of-checks.
"""

from dataclasses import dataclass

from edfi_api.core.documents.incoming import IncomingDocument
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.prepared import Row
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.driver.sql_files import statements_beside
from edfi_api.core.storage.exceptions import KeyChangeNotSupported
from edfi_api.core.storage.requests import Terms, Values
from edfi_api.core.storage.row_policy import Clause, Explanation, RowPolicy
from edfi_api.model.surface.resource import JsonPath
from references import resolution
from references.exceptions import UnresolvedReference

_statement = statements_beside(__file__)

# Statements that select the document of a request, with a slot for a policy's tests of it.
TESTS_BY_ALIAS = _statement("tests_by_alias")
TESTS_BY_UUID = _statement("tests_by_uuid")
TESTS_OF_STORED = _statement("tests_of_stored")
_TESTS_OF_VALUES = _statement("tests_of_values")


@dataclass(frozen=True, slots=True)
class DeniedRequest:
    """A request for one document that its policy denies, or may deny. `find` is the `TESTS_...` statement that selects
    the document by the `values` of the request."""

    policy: RowPolicy
    find: Sql
    values: Values
    using: str

    def explain_using(self) -> bool | None:
        """Raise the refusal for the stored document, if there is one. Returns whether the document keeps its identity;
        None if it does not exist."""
        explanation = self.policy.explanation(Clause.USING)
        rows = self._test(self.find, explanation)
        if not rows:
            return None
        is_same_identity, *results = rows[0]
        if refusal := explanation.refuse(results, frozenset()):
            raise refusal
        return bool(is_same_identity)

    def explain(self, incoming: IncomingDocument, unresolved: UnresolvedReference | None) -> None:
        """Raise the refusal for a write, if there is one; `unresolved` has its references that do not resolve."""
        is_same_identity = self.explain_using()
        if is_same_identity is None and self.find is TESTS_BY_UUID:
            return  # The document does not exist.
        if unresolved and unresolved.descriptors:
            raise unresolved
        if is_same_identity is False and not incoming.resource.allows_identity_updates:
            raise KeyChangeNotSupported(incoming.resource)
        explanation = self.policy.explanation(Clause.WITH_CHECK_NEW if is_same_identity is None else Clause.WITH_CHECK)
        ((_, *results),) = self._test(_TESTS_OF_VALUES, explanation)
        if refusal := explanation.refuse(results, _unresolved_paths(incoming, self.using)):
            raise refusal

    def _test(self, statement: Sql, explanation: Explanation) -> list[Row]:
        tests = Sql.join("", (", " + test for test in explanation.tests))
        return execute(statement.fill(tests=tests).bound_to(self.values), self.using)


def refuse_unreadable_version(terms: Terms, find: Sql, values: Values) -> None:
    """Raise the refusal to read the document of a request whose condition names versions, before the condition tells
    which one it has. `find` and `values` are as in `DeniedRequest`."""
    policy, read_policy = terms.policy, terms.read_policy
    # Where the policies are equal, that of the write refuses.
    if read_policy is not None and (policy is None or policy.using != read_policy.using):
        DeniedRequest(read_policy, find, values, terms.using).explain_using()


def _unresolved_paths(incoming: IncomingDocument, using: str) -> frozenset[JsonPath]:
    """The paths of references whose targets do not exist; a document may refer to itself."""
    missing = resolution.missing(incoming.targets, using) - set(incoming.identity.aliases)
    return frozenset(JsonPath(each.steps) for each in incoming.references if each.referential_id in missing)
