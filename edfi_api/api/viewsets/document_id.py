"""Parses document ids in paths. See meadowlark/docs/reference/contract.md#paths-and-ids."""

import re
from uuid import UUID

from edfi_api.problem_details.http_exceptions import InvalidDocumentId
from references.identity import uuid_of

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def document_uuid(segment: str) -> UUID:
    """The id; only the form with hyphens is accepted. Raises InvalidDocumentId."""
    if not _UUID.fullmatch(segment):
        raise InvalidDocumentId(segment)
    return uuid_of(int(segment.replace("-", ""), 16))
