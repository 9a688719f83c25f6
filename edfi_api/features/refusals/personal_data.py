"""What of a document and of messages is kept, by the setting `REFUSAL_KEYS`: `full` or `hashed`.

With `hashed`, entries of one document still belong together, but do not reveal which document it is.
"""

import hmac
import re
from collections.abc import Mapping
from uuid import UUID

from django.conf import settings

from edfi_api.common.conf import api_settings
from references.identity import uuid_of

MOST_PATHS = 50
MOST_ERRORS = 10
MOST_HINTS = 3
_MOST_QUOTED = 60
# URIs of descriptors end with what tells them apart, and name no person.
_URI, _LONGEST_URI = "uri://", 320
_PUBLIC_KEY = "meadowlark"
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_NOT_JSON = "The request body is not a valid JSON object"
_POSITION = re.compile(r"line \d+ column \d+")
# Problems of the body itself, unless something is missing to which it refers.
_OF_VALUES = "bad-request"
# Problems whose errors name identities without quotes.
_WITH_IDENTITIES = frozenset({"identity-conflict", "bad-request:data-validation-failed"})


def is_hashed() -> bool:
    return bool(api_settings.REFUSAL_KEYS == "hashed")


def kept_id(id_: UUID) -> UUID:
    """The id itself; with `hashed` a keyed hash of it."""
    if not is_hashed():
        return id_
    return digest("id", id_.bytes)


def digest(kind: str, *parts: bytes | str) -> UUID:
    """A hash of the parts; with `hashed` by the secret key, so that hashing a list of students does not find it."""
    texts = (part if isinstance(part, bytes) else part.encode(errors="replace") for part in (kind, *parts))
    key = settings.SECRET_KEY if is_hashed() else _PUBLIC_KEY
    found = hmac.digest(key.encode(), b"\0".join(texts), "sha256")
    return uuid_of(int.from_bytes(found[:16], "big"))


def kept_paths(validation_errors: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The first messages by path."""
    first = list(validation_errors.items())[:MOST_PATHS]
    return {path: [kept_message(text) for text in texts] for path, texts in first}


def kept_errors(errors: list[str], problem: str) -> list[str]:
    """The first errors."""
    if is_hashed() and problem in _WITH_IDENTITIES:
        return []
    return [kept_message(text) for text in errors[:MOST_ERRORS]]


def kept_hints(hints: list[str], problem: str, *, is_of_target: bool) -> list[str]:
    """The first hints, with quoted values left out that are no URIs. None about values of members, which tell what was
    sent; of these the model knows what a member takes. `is_of_target`: something is missing to which the document
    refers."""
    if is_hashed() or (problem.startswith(_OF_VALUES) and not is_of_target):
        return []
    return [_QUOTED.sub(_without_value, text).replace("\0", "\ufffd") for text in hints[:MOST_HINTS]]


def kept_message(text: str) -> str:
    """The message with long quoted values cut; with `hashed` without any. PostgreSQL's text has no NUL."""
    if text.startswith(_NOT_JSON):
        place = _POSITION.search(text)
        return f"{_NOT_JSON}{f': {place[0]}' if place else '.'}"
    return _QUOTED.sub(_shortened, text).replace("\0", "\ufffd")


def without_quoted(text: str) -> str:
    """The message without quoted values, as messages of one cause are compared."""
    return _QUOTED.sub("'…'", text if not text.startswith(_NOT_JSON) else kept_message(text))


def _shortened(found: "re.Match[str]") -> str:
    quote = found[0][0]
    value = found[1] if found[1] is not None else found[2]
    if is_hashed():
        return f"{quote}…{quote}"
    longest = _LONGEST_URI if value.startswith(_URI) else _MOST_QUOTED
    return found[0] if len(value) <= longest else f"{quote}{value[:longest]}…{quote}"


def _without_value(found: "re.Match[str]") -> str:
    value = found[1] if found[1] is not None else found[2]
    return found[0] if value.startswith(_URI) else f"{found[0][0]}…{found[0][0]}"
