"""`manage.py validate_documents`: the rules of writes over what is stored.

Rules of writes say what they would find if each document were written again now. Documents are read in the order of
their rows, some hundred at a time, each time in a transaction of its own: rules see what clients write in the meantime,
and hold nothing up. `stored` is the document itself.
"""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from django.core.management.base import CommandError
from django.db import transaction

from edfi_api.common.commands import add_database, name, path, text
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.routing import Store
from edfi_api.core.documents import json_text
from edfi_api.core.queries import collection
from edfi_api.core.queries.selection import LAST_ROW, all_documents
from edfi_api.core.storage.exceptions import NotChecked
from edfi_api.core.storage.stored import StoredDocument
from edfi_api.core.writes.rules.configured import RulesOfResource, valid_rules
from edfi_api.core.writes.rules.enforcing import WriteCheck
from edfi_api.core.writes.rules.ruled_write import Finding, InvalidRules
from edfi_api.features.loading.load_options import with_report_of_its_own

_SHOWN = 20

_AT_ONCE = 200


class FoundInDocument(NamedTuple):
    """The findings in a stored document; without findings, a rule could not check it."""

    document_uuid: str
    natural_key: str
    findings: list[Finding]
    unchecked_by: str = ""


def checked_documents(rules: RulesOfResource, using: str) -> Iterator[FoundInDocument]:
    """All documents of a resource, each with what its rules find."""
    after = -1
    while True:
        with transaction.atomic(using):
            selection = all_documents(rules.resource, using).between(after + 1, LAST_ROW)
            documents = list(collection.page(selection, _AT_ONCE, 0))
            found = [_found(each, rules, using) for each in documents]
        yield from found
        if not documents:
            return
        after = documents[-1].row


def _found(document: StoredDocument, rules: RulesOfResource, using: str) -> FoundInDocument:
    body = json_text.loads(document.text)
    validated = rules.resources.validators[rules.resource.name].understand(body)
    found = FoundInDocument(document.document_uuid, validated.identity.natural_key, [])
    try:
        return found._replace(findings=WriteCheck(rules, is_timed=False).run_on_stored(validated, using))
    except NotChecked as error:
        return found._replace(unchecked_by=error.rule)


class Command(DataStoreCommand):
    """See the module."""

    error_texts = {InvalidRules: str}
    help = (
        "Runs the rules of MEADOWLARK_WRITE_RULES over what is stored, as if each document were written again, and "
        "counts what they find. Nothing is changed. The status is 1 if a rule would refuse a document, or could not "
        "check one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rule", type=name, action="append", metavar="NAME", help="only this; repeatable")
        parser.add_argument(
            "--resource", type=text, action="append", metavar="PATH", help="only of ed-fi/students; repeatable"
        )
        parser.add_argument("--report", type=path, metavar="FILE", help="write each finding as a line of JSON")
        add_database(parser, "the database with the documents")

    def options_for(self, store: Store, options: dict[str, Any]) -> dict[str, Any]:
        return with_report_of_its_own(options, store)

    def handle(self, *args: Any, report: Path | None, database: str, **options: Any) -> None:
        counts: Counter[tuple[str, str, str]] = Counter()
        documents = shown = 0
        with report.open("wb") if report else nullcontext() as file:
            for rules in _chosen(options["rule"] or [], options["resource"] or []):
                for found in checked_documents(rules, database):
                    documents += 1
                    for facts in _facts(rules, found):
                        counts[facts["resource"], facts["rule"], facts["severity"]] += 1
                        shown += 1
                        if file:
                            file.write(orjson.dumps(facts) + b"\n")
                        elif shown <= _SHOWN:
                            self.stderr.write(_line(facts))
        for (resource, rule, severity), count in sorted(counts.items()):
            self.stdout.write(f"{resource}: {rule}: {severity}: {count:,}")
        self.stdout.write(f"{counted(documents, 'document')} checked, {counted(counts.total(), 'finding')}")
        if any(severity != "warn" for _, _, severity in counts):
            raise CommandError("There are documents that rules would refuse, or could not check.")


def _chosen(names: list[str], resources: list[str]) -> Iterator[RulesOfResource]:
    """The rules by resource. Raises CommandError."""
    found = valid_rules()
    if unknown := sorted(set(names) - {rule.name for rule in found.rules}):
        raise CommandError(f"There is no rule {', '.join(unknown)}.")
    paths = {each.strip("/").lower() for each in resources}
    for rules in found.by_resource.values():
        own = rules.only(names) if names else rules
        if (own.document_only or own.others) and (not paths or rules.resource.url_path.strip("/").lower() in paths):
            yield own


def _facts(rules: RulesOfResource, found: FoundInDocument) -> Iterator[dict[str, Any]]:
    of_document = {
        "resource": rules.resource.url_path.strip("/"),
        "id": found.document_uuid,
        "naturalKey": found.natural_key,
    }
    if found.unchecked_by:
        yield of_document | {"rule": found.unchecked_by, "severity": "not checked", "path": "$", "text": ""}
    for each in found.findings:
        yield of_document | {"rule": each.rule, "severity": each.severity, "path": each.path, "text": each.text}


def _line(facts: dict[str, Any]) -> str:
    return printable("{resource} {naturalKey}: {rule}: {severity}: {path}: {text}".format(**facts))
