"""What a bulk write is given, and what it answers."""

from dataclasses import dataclass
from typing import Any, get_args

from edfi_api.documents.exceptions import (
    ClientAssignedId,
    DataValidationFailed,
    IdentityConflict,
    TooMuchContention,
)
from edfi_api.documents.store import Outcome
from edfi_api.surface.resource import Resource
from references.exceptions import UnresolvedReference

Refusal = DataValidationFailed | ClientAssignedId | IdentityConflict | UnresolvedReference | TooMuchContention
REFUSALS = get_args(Refusal)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A body that wants to become a document of this resource; `origin` tells people where it stands."""

    resource: Resource
    body: dict[str, Any]
    origin: str


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a candidate: an outcome, or the refusal. Candidates for one document have one referential id,
    invalid ones none."""

    candidate: Candidate
    result: Outcome | Refusal
    referential_id: bytes | None
