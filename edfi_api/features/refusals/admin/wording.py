"""What pages say of a refusal: the problem in words, why it was refused, what became of it, and what to do."""

import re
from typing import Any

from edfi_api.features.refusals.models import Refusal
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.natural_keys import abridged
from edfi_api.web.problem_details.problem import HINT

# Reasons by the beginning of a problem type, the longest first, for problems whose messages do not say it by
# themselves.
_REASONS = {
    "identity-conflict": "Another document has these key values.",
    "not-found": "There was no document at the address.",
    "method-not-allowed": "The resource does not allow this operation.",
    "optimistic-lock-failed": "The document had been changed since the client read it.",
    "precondition-failed": "The document existed already, and the client wanted a new one.",
    "data-policy-enforced": "The profile of the client does not allow it.",
    "profile:": "The client named a profile that does not fit the request.",
    "unsupported-media-type": "The content type of the request is not one that the resource reads.",
    "content-too-large": "The request was too large.",
    "too-many-requests": "The client had sent too many requests.",
    "service-unavailable": "The server could not answer at that time.",
    "system": "The server failed; its log tells why under the correlation id.",
}
# What to do, by the beginning of a problem type.
_ADVICE = {
    "security:": "The rights of the client do not cover these documents. It gets them (by its claim set, organizations "
    "or the namespaces of its vendor), or the vendor does not send them here.",
    "bad-request": "The vendor corrects these values in its system, and sends the documents again.",
    "data-conflict:dependent": "Other documents refer to these. The client deletes those first.",
    "accepted-with-warnings": "The documents were accepted. The vendor corrects what the rule warns of.",
    "data-policy-enforced": "The profile of the client does not allow it. Either it or what the client sends changes.",
    "identity-conflict": "Another document has these key values. The vendor finds out which of both is right.",
    "optimistic-lock-failed": "The client reads the documents again, and then changes them.",
}
_DENIED = "security:"
# The type of a problem, alone or with names of elements behind it.
_PROBLEM = re.compile(r"[a-z]+(?:[-:][a-z]+)*(?:: |$)")
# The name of the resource of which something is missing.
_MISSING = re.compile(r"\A[A-Z]\w+(?= .*is missing\Z)", re.DOTALL)
_KEY = re.compile(r"NK#.+?(?= is missing$|$)")


def why(entry: Any) -> str:
    """The cause as a sentence, without URNs and paths of keys."""
    if entry.awaited_resource:
        return f"{_missing(entry)} does not exist."
    if entry.problem.startswith(_DENIED):
        return _denied(entry)
    if entry.paths:
        return _first_message(entry)
    found = next((text for start, text in _REASONS.items() if entry.problem.startswith(start)), None)
    return found or next(iter(entry.errors), f"{entry.title}.")


def what_to_do(entry: Refusal) -> str:
    """Return the advice on the page of a cause."""
    if entry.rules:
        return f"A rule of this server refuses or warns of it ({', '.join(entry.rules)}): the vendor corrects the data."
    if entry.awaited_resource and entry.cause_gone:
        return "What was missing is here now. The client sends the documents again."
    if entry.awaited_resource:
        awaited = kind_in_words(entry.awaited_resource).in_a_sentence
        return (
            f"The documents refer to an item ({awaited}) that is not here. It is sent first, by this "
            "client or another one, or the vendor corrects the reference; then the client sends the documents again."
        )
    found = next((text for start, text in _ADVICE.items() if entry.problem.startswith(start)), None)
    return found or "The vendor finds out from the examples what its system has to send instead."


def cause_in_words(text: str) -> str:
    """`School NK#schoolId=7 is missing` with the values of the key in place of the key; the type of a problem, which is
    the cause of refusals that have no other, in words."""
    if _PROBLEM.match(text):
        problem, _, subject = text.partition(": ")
        return f"{problem_in_words(problem)}: {subject}" if subject else problem_in_words(problem)
    in_words = _MISSING.sub(lambda name: kind_in_words(name[0]).singular, text)
    return _KEY.sub(lambda key: abridged(key[0]), in_words)


def problem_in_words(problem: str) -> str:
    """`Data validation failed` for `bad-request:data-validation-failed`; `Not authorized` for all of authorization."""
    if problem.startswith(_DENIED):
        return "Not authorized"
    return problem.rpartition(":")[2].replace("-", " ").capitalize()


def kind_of_cause(problem: str, awaited_resource: str) -> str:
    """What a cause is for those who see no keys: `Unresolved reference: School`."""
    awaited = kind_in_words(awaited_resource).singular if awaited_resource else ""
    return ": ".join(filter(None, (problem_in_words(problem), awaited)))


def outcome(entry: Any) -> str:
    """`open`, `open, cause gone`, `accepted`, `deleted` or `dismissed`; a warning is `accepted, with a warning`."""
    if entry.resolved_at is not None:
        return "accepted" if entry.resolution == "succeeded" else str(entry.resolution)
    if entry.is_warning:
        return "accepted, with a warning"
    return "open, cause gone" if entry.cause_gone else "open"


def times(count: int) -> str:
    """`once`, `twice`, `12 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def missing_key(entry: Any) -> str:
    """The natural key, or the URI of a descriptor, of what was missing; empty if it was not kept."""
    return str(entry.cause_text).removeprefix(entry.awaited_resource).removesuffix("is missing").strip()


def _missing(entry: Any) -> str:
    key = abridged(missing_key(entry)).rpartition("#")[2]
    values = ", ".join(part.rpartition("=")[2] for part in key.split(", ")) if key else ""
    return f"{kind_in_words(entry.awaited_resource).singular} {values}".strip()


def _denied(entry: Any) -> str:
    subject = entry.cause_text.partition(": ")[2].replace(", ", " or ") or "document"
    hints = (text.removeprefix(HINT) for text in entry.errors if text.startswith(HINT))
    return " ".join([f"The client is not authorized for this {subject}.", *hints])


def _first_message(entry: Any) -> str:
    path, messages = next(iter(entry.paths.items()))
    more = sum(len(texts) for texts in entry.paths.values()) - 1
    member = path.rpartition(".")[2]
    text = messages[0] if member and member.lower() in messages[0].lower() else f"{member}: {messages[0]}"
    return f"{text} (and {more} more)" if more else text
