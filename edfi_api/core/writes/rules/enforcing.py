"""Runs the rules of a resource on one write.

Rules that read the document only run when it is valid and the claim set lets the client write such documents, before
anything is read. The others run in the transaction of the write, when the stored document has been read; a document
that someone else writes at the same time makes the write, and so the rules, start over (`storage.merges`).

Rules in Python are the operator's code, which may fail in every way: what they raise, `SystemExit` too, is a failure of
the rule, and ends neither the request nor the process. Documents are personal data, which the texts of exceptions may
contain: the log has their types and places.
"""

import logging
import re
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from prometheus_client import Counter, Histogram

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.document_validator import PendingDocument, ValidatedDocument
from edfi_api.core.documents.exceptions import ContradictsHidden
from edfi_api.core.documents.violations import MOST_REPORTED, Violation, as_many_as_reported
from edfi_api.core.storage.driver.execution import StatementAborted, TooMuchContention, is_outage
from edfi_api.core.storage.exceptions import NotChecked
from edfi_api.core.storage.merges import Check, MergeRequest
from edfi_api.core.writes.rules.configured import RulesOfResource
from edfi_api.core.writes.rules.look_ups import NOTHING, Budget, Known, LookUps, NoLookUps
from edfi_api.core.writes.rules.ruled_write import (
    NOBODY,
    BudgetExceeded,
    Finding,
    FindingSeverity,
    RefusedByRules,
    RuledWrite,
    WriteRule,
    WritingClient,
)

_log = logging.getLogger(__name__)

# What neither UTF-8 nor PostgreSQL can have.
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")

Stored = dict[str, Any] | None

SECONDS = Histogram(
    "meadowlark_write_rule_seconds",
    "How long rules of writes took, for each document.",
    ["rule"],
    buckets=(0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
)
FINDINGS = Counter("meadowlark_write_rule_findings", "What rules of writes found.", ["rule", "severity"])
FAILURES = Counter(
    "meadowlark_write_rule_failures",
    "Documents that a rule could not check: it raised an error, or exceeded its look-ups or its time.",
    ["rule", "reason"],
)


class WriteCheck:
    """The rules of a resource, for one write of a client; `warnings` are the findings that do not refuse it.

    `shows` says whether the client may see the member at a path. What is found at others is hidden: the write is then
    refused as one that does not agree with what is hidden. Without `is_timed`, rules may take as long as they like: no
    client waits for a command.
    """

    def __init__(self, rules: RulesOfResource, client: WritingClient = NOBODY, *, is_timed: bool = True) -> None:
        self.shows: Callable[[str], bool] = lambda _: True
        self._is_timed = is_timed
        self._rules = rules
        self._client = client
        self._of_document: tuple[Finding, ...] = ()
        self._others: tuple[Finding, ...] = ()

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return self._of_document + self._others

    @property
    def looks_up(self) -> bool:
        """Whether there are rules that may look at the stored document or at others."""
        return bool(self._rules.others)

    @property
    def looks_at_own(self) -> bool:
        """Whether they may look at other documents of the resource itself."""
        return self._rules.look_at_own

    @property
    def followed(self) -> frozenset[tuple[str, ...]]:
        """The steps of references that they are known to follow."""
        return self._rules.followed

    def check_document(self, document: ValidatedDocument) -> None:
        """Run the rules that read the document only. Raises RefusedByRules and NotChecked."""
        self._of_document = self._refuse_or_warn(self._run_all(self._rules.document_only, document, None, NoLookUps()))

    def others(self, using: str, referred: Known = NOTHING) -> Check:
        """Return the check that runs the other rules, in the transaction of the write. `referred` has documents that
        need not be read.

        It raises RefusedByRules and NotChecked.
        """
        return partial(self._check_with_look_ups, self._rules.others, using, referred)

    def all(self, using: str) -> Check:
        """Return the check that runs all rules, likewise. It raises also ContradictsHidden."""
        return partial(self._check_with_look_ups, (*self._rules.document_only, *self._rules.others), using, NOTHING)

    def _check_with_look_ups(
        self, rules: Iterable[WriteRule], using: str, referred: Known, document: ValidatedDocument, stored: Stored
    ) -> None:
        look_ups = LookUps(self._rules.resources, document, using, referred, is_timed=self._is_timed)
        self._others = self._refuse_or_warn(self._run_and_end(rules, document, stored, look_ups))

    def run_on_stored(self, document: ValidatedDocument, using: str) -> list[Finding]:
        """Return what all rules find in a stored document, whatever their severity. Raises NotChecked."""
        look_ups = LookUps(self._rules.resources, document, using, is_timed=self._is_timed)
        return self._run_and_end((*self._rules.document_only, *self._rules.others), document, document.body, look_ups)

    def _run_and_end(
        self, rules: Iterable[WriteRule], document: ValidatedDocument, stored: Stored, look_ups: LookUps
    ) -> list[Finding]:
        try:
            return self._run_all(rules, document, stored, look_ups)
        finally:
            look_ups.restore_timeout()

    def _run_all(
        self, rules: Iterable[WriteRule], document: ValidatedDocument, stored: Stored, reader: LookUps | NoLookUps
    ) -> list[Finding]:
        path = self._rules.resource.url_path.strip("/")
        write = RuledWrite(path, document.body, stored, reader, *self._client)
        return [finding for rule in rules for finding in _run_rule(rule, write, reader, is_timed=self._is_timed)]

    def _refuse_or_warn(self, found: list[Finding]) -> tuple[Finding, ...]:
        """Return the warnings. Raises what refuses the document."""
        shown = [each for each in found if self.shows(each.path)]
        refusing = [each for each in shown if each.severity is FindingSeverity.REFUSE]
        if refusing:
            violations = as_many_as_reported(Violation(each.path, each.text) for each in refusing)
            raise RefusedByRules(violations, tuple(dict.fromkeys(each.rule for each in refusing)))
        if any(each.severity is FindingSeverity.REFUSE for each in found):
            raise ContradictsHidden
        return tuple(shown)


def checked_write(document: ValidatedDocument, check: WriteCheck, *, using: str, **terms: Any) -> MergeRequest:
    """The request to write a whole document, on which the other rules are run together with the stored one."""
    pending = PendingDocument(document.resource, document.identity, lambda _: document)
    return MergeRequest(pending, check=check.others(using), using=using, **terms)


def _run_rule(rule: WriteRule, write: RuledWrite, reader: LookUps | NoLookUps, *, is_timed: bool) -> list[Finding]:
    """Run a rule within its budget. Raises NotChecked if it fails and the setting says so."""
    began = time.perf_counter()
    try:
        found = _find(rule, write, reader, Budget(is_timed=is_timed))
    except (StatementAborted, TooMuchContention, KeyboardInterrupt):
        raise  # The write is repeated, or the command ends.
    except BaseException as error:
        if is_outage(error):
            raise
        found = [_report_failure(rule, error)]
    finally:
        SECONDS.labels(rule.name).observe(time.perf_counter() - began)
    for each in found:
        FINDINGS.labels(rule.name, each.severity).inc()
    return found


def _find(rule: WriteRule, write: RuledWrite, reader: LookUps | NoLookUps, budget: Budget) -> list[Finding]:
    reader.budget = budget
    found = [_checked(each, rule) for each in islice(rule.find(write) or (), MOST_REPORTED + 1)]
    budget.check_time()
    if budget.exceeded:
        raise budget.exceeded
    return found


def _checked(found: Finding, rule: WriteRule) -> Finding:
    """The finding as it can be sent and stored. Raises TypeError and ValueError for what is none."""
    if not (isinstance(found, Finding) and isinstance(found.path, str) and isinstance(found.text, str)):
        raise TypeError("a rule finds instances of Finding, whose path and text are texts")
    path, text = (_UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", each) for each in (found.path, found.text))
    return replace(found, path=path, text=text, severity=FindingSeverity(found.severity), rule=rule.name)


def _report_failure(rule: WriteRule, error: BaseException) -> Finding:
    """Count and log a failure of a rule, and return it as a finding, if the document is accepted nevertheless.
    Otherwise raises NotChecked."""
    reason = error.what if isinstance(error, BudgetExceeded) else "error"
    FAILURES.labels(rule.name, reason).inc()
    if isinstance(error, BudgetExceeded):
        _log.error("the rule %s exceeded its budget: %s", rule.name, error.what)
    else:
        _log.error("the rule %s failed: %s", rule.name, _without_values(error))
    if api_settings.WRITE_RULE_FAILURE == "closed":
        raise NotChecked(rule.name) from error
    return Finding("$", f"The rule {rule.name} could not be checked.", FindingSeverity.WARN, rule.name)


def _without_values(error: BaseException) -> str:
    """`KeyError at rules.py:12 in one_enrollment, …`: the type of an exception, and the calls that led to it, without
    its text."""
    calls = [each for each in traceback.extract_tb(error.__traceback__) if each.filename != __file__]
    places = ", ".join(f"{each.filename}:{each.lineno} in {each.name}" for each in calls)
    return f"{type(error).__name__} at {places}" if places else type(error).__name__
