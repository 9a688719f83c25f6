"""What a data request says: its document, the id in its path, the conditions If-Match and If-None-Match, and strict or
lenient handling; and the lists of RFC 9651 that an answer has about its document.

Handling is the preference `handling` of RFC 7240; an answer lists what was tolerated.
`Lenient-Handling: "$.colour";reason=unknown-member, "$.birthDate";reason=ambiguous-date` is such a list. Paths
with characters beyond ASCII are its display strings. The header has at most 20 paths and about 1,000 characters; `more`
at its end says that others are left out. What custom rules warn of is listed likewise:
`Rule-Warnings: "$.entryDate";rule="district/E-1";text="The entry date is a Sunday."`
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.parsers import BaseParser

from edfi_api.common.conf import api_settings
from edfi_api.common.request_body import BodyIncomplete, BodyTooLong, BodyUnreadable, read_body
from edfi_api.core.documents import json_text
from edfi_api.core.documents.exceptions import MalformedJson, UnreadableText
from edfi_api.core.documents.violations import Leniency, Tolerated
from edfi_api.core.security.profiles.catalog import ProfilePart
from edfi_api.core.security.profiles.negotiation import is_of_a_profile
from edfi_api.core.storage.stored import StoredDocument
from edfi_api.core.storage.write_requests import UNCONDITIONAL, AnyVersion, NamedVersion, Versions, WriteCondition
from edfi_api.core.writes.rules.ruled_write import Finding
from edfi_api.web.problem_details.http_exceptions import BodyTooLarge, InvalidDocumentId, UnsupportedMediaType
from edfi_api.web.viewsets.responses import etag
from references.identity import as_uuid

_MEDIA_TYPES = ("", "application/json", "text/json")


_TAG = re.compile(r'(?P<weak>W/)?(?P<quote>"?)(?P<value>[^",\s]*)(?P=quote)')

LENIENT_HANDLING = "Lenient-Handling"
RULE_WARNINGS = "Rule-Warnings"
_MOST_PATHS = 20
_MOST_CHARACTERS = 1_000
_MORE = "more"

_PREFER = "HTTP_PREFER"
_PREFERENCE = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+')
_HANDLING = re.compile(r'\s*handling\s*=\s*(?P<quote>"?)(?P<value>strict|lenient)(?P=quote)\s*(;.*)?', re.IGNORECASE)
_NAME = re.compile(r"\s*([^\s=;]*)")
_DISPLAYED = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in '%"')


class EdFiJsonParser(BaseParser):
    """Reads Django's request instead of DRF's stream, which is empty without Content-Type or Content-Length."""

    media_type = "application/json"

    def parse(  # type: ignore[override]  # The whole request in place of its stream.
        self, stream: HttpRequest, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, Any]:
        """The body as a JSON object. Raises UnsupportedMediaType, BodyTooLarge, and what `read_body` and
        `json_object.parse_object` raise."""
        declared = stream.META.get("CONTENT_TYPE", "").partition(";")[0].strip()
        if declared.lower() not in _MEDIA_TYPES and not is_of_a_profile(declared):
            raise UnsupportedMediaType
        limit = api_settings.MAX_BODY_BYTES
        try:
            body = read_body(stream, limit)
        except BodyTooLong as error:
            raise BodyTooLarge(limit) from error
        except BodyIncomplete as error:
            raise MalformedJson("the body did not come as announced") from error
        except BodyUnreadable as error:
            raise UnreadableText(error.reason) from error
        return json_text.parse_object(body)


def document_uuid(segment: str) -> UUID:
    """The id, with hyphens or as 32 digits. Raises InvalidDocumentId."""
    found = as_uuid(segment)
    if found is None:
        raise InvalidDocumentId(segment)
    return found


def write_condition(if_match: str | None, if_none_match: str | None) -> WriteCondition:
    """The condition in these headers. In `If-Match` a weak tag never matches (RFC 9110 §13.1.1)."""
    if if_match is None and if_none_match is None:
        return UNCONDITIONAL
    return WriteCondition(
        must_match=_versions(if_match, weak_counts=False), must_not_match=_versions(if_none_match, weak_counts=True)
    )


def is_not_modified(request: HttpRequest, document: StoredDocument, part: ProfilePart | None) -> bool:
    """Return whether `If-None-Match` has the tag of what would be served (RFC 9110 §13.1.2).

    The whole tag counts: what was served with links, or through a profile, is another representation.
    """
    header = request.META.get("HTTP_IF_NONE_MATCH")
    if header is None:
        return False
    if header.strip() == "*":
        return True
    served = etag(document, part)
    return any(tag["value"] == served for tag in _tags(header))


def _versions(header: str | None, weak_counts: bool) -> Versions | None:
    """The versions in a list of tags; None without the header. Foreign tags match no version."""
    if header is None:
        return None
    if header.strip() == "*":
        return AnyVersion.ANY
    return frozenset(_version(tag["value"]) for tag in _tags(header) if weak_counts or not tag["weak"])


def _tags(header: str) -> list[re.Match[str]]:
    """The well-formed tags of a list; others match no document."""
    return [tag for part in header.split(",") if (tag := _TAG.fullmatch(part.strip()))]


def _version(tag: str) -> NamedVersion:
    """The version in a tag as `etag` makes it; the letter distinguishes representations of a version."""
    version, _, form = tag.partition("-")
    part = form.partition(".")[2]
    return NamedVersion(int(version) if version.isascii() and version.isdigit() and len(version) < 20 else -1, part)


def requested_leniency(request: HttpRequest) -> Leniency:
    """Return how a request is to be handled: strictly if the client prefers so, or by the setting STRICT, which clients
    cannot turn off."""
    is_strict = api_settings.STRICT or (_PREFER in request.META and _preferred(request) == "strict")
    return Leniency(is_strict, any_case=api_settings.MEMBERS_IN_ANY_CASE)


def add_handling(response: HttpResponseBase, request: HttpRequest, leniency: Leniency) -> None:
    """Add what was tolerated to an answer, and the preference if it was applied."""
    if leniency.tolerated and not leniency.is_strict:
        response.headers[LENIENT_HANDLING] = _listed(leniency.tolerated)
    if _PREFER in request.META:
        applied = "strict" if leniency.is_strict else "lenient"
        if _preferred(request) == applied:
            response.headers["Preference-Applied"] = f"handling={applied}"


def listed_warnings(warnings: Iterable[Finding]) -> str:
    """The value of `Rule-Warnings`."""
    listed = (f"{_string(each.path)};rule={_string(each.rule)};text={_string(each.text)}" for each in warnings)
    return ", ".join(_bounded(listed))


def _preferred(request: HttpRequest) -> str | None:
    """`strict` or `lenient`; None without such a preference. The first one counts; unknown values are ignored."""
    for preference in _PREFERENCE.findall(request.META[_PREFER]):
        if _name(preference) == "handling":
            found = _HANDLING.fullmatch(preference)
            return found["value"].lower() if found else None
    return None


def _name(preference: str) -> str:
    found: Any = _NAME.match(preference)
    return str(found[1]).lower()


def _listed(tolerated: Iterable[Tolerated]) -> str:
    return ", ".join(_bounded(f"{_string(each.path)};reason={each.reason}" for each in tolerated))


def _bounded(members: Iterable[str]) -> Iterator[str]:
    length = 0
    for number, member in enumerate(members):
        length += len(member) + 2
        if number == _MOST_PATHS or length > _MOST_CHARACTERS:
            yield _MORE
            return
        yield member


def _string(text: str) -> str:
    if text.isascii() and text.isprintable():
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    encoded = re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quote(text, safe=_DISPLAYED, errors="replace"))
    return f'%"{encoded}"'
