"""Exceptions about the bodies of documents. They carry facts; status and texts for clients are in
`problem_details.catalog`."""

from dataclasses import dataclass, field

from edfi_api.core.documents.violations import Violation


class EmptyBody(Exception):
    """The request needs a body and has none."""


@dataclass
class MalformedJson(Exception):
    """The body is not a JSON object; `reason` is the parser's message.

    `beginning` is how the body begins; `before` and `after` are the texts around the place where it stops being JSON.
    `is_complete` says that there is a whole object before it.
    """

    reason: str
    beginning: str = ""
    before: str = ""
    after: str = ""
    is_complete: bool = False


class UnreadableText(MalformedJson):
    """The bytes of the body are not the text that its headers declare; `reason` says what to do."""


@dataclass
class DocumentTooLarge(Exception):
    """The body has more than `most` of what is `counted`: "values" or "references"."""

    counted: str
    most: int


@dataclass
class DuplicateProperty(Exception):
    """An object of the body has a property twice; `paths` of all repeated properties."""

    paths: list[str]


@dataclass
class DataValidationFailed(Exception):
    """The body breaks rules of its resource; `violations` in body order, limited to one more than are reported."""

    violations: list[Violation]


@dataclass
class ClientAssignedId(Exception):
    """A new document has an `id`, which only the server assigns; `violations` are what else its body breaks."""

    violations: list[Violation] = field(default_factory=list)


class IdMismatch(Exception):
    """The `id` in the body differs from the one in the URL."""


@dataclass
class HiddenItemsSent(Exception):
    """The body has items that a filter of the client's view hides; their concrete `paths`."""

    paths: list[str]


class CannotBeCreated(Exception):
    """Something that is new lacks required members which the client's view hides."""


class ContradictsHidden(Exception):
    """What the client's view hides of the stored body does not go together with what was sent."""
