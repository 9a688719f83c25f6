"""Runs rules of writes over what is stored: what they would find if each document were written again now.

Documents are read in the order of their rows, some hundred at a time, each time in a transaction of its own: rules see
what clients write meanwhile, and hold nothing up. `stored` is the document itself.
"""

from collections.abc import Iterator
from typing import NamedTuple

from django.db import transaction

from edfi_api.core.documents import json_text
from edfi_api.core.queries import collection
from edfi_api.core.queries.selection import LAST_ROW, all_documents
from edfi_api.core.storage.exceptions import NotChecked
from edfi_api.core.storage.stored import StoredDocument
from edfi_api.core.writes.rules.configured import RulesOfResource
from edfi_api.core.writes.rules.enforcing import WriteCheck
from edfi_api.core.writes.rules.ruled_write import Finding

_AT_ONCE = 200


class FoundInDocument(NamedTuple):
    """What is found in a stored document; without findings, a rule could not check it."""

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
    incoming = rules.resources.preparers[rules.resource.name].understand(body)
    found = FoundInDocument(document.document_uuid, incoming.identity.natural_key, [])
    try:
        return found._replace(findings=WriteCheck(rules, is_timed=False).found_in_stored(incoming, using))
    except NotChecked as error:
        return found._replace(unchecked_by=error.rule)
