"""Strict and lenient handling: the preference `handling` of RFC 7240, and the header that lists what was tolerated.

`Lenient-Handling: "$.colour";reason=unknown-member, "$.birthDate";reason=ambiguous-date` is a list of RFC 9651. Paths
with characters beyond ASCII are its display strings. The header has at most 20 paths and about 1,000 characters; `more`
at its end says that others are left out.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from edfi_api.conf import api_settings
from edfi_api.documents.leniency import Leniency, Tolerated

LENIENT_HANDLING = "Lenient-Handling"
_MOST_PATHS = 20
_MOST_CHARACTERS = 1_000
_MORE = "more"

_PREFER = "HTTP_PREFER"
_PREFERENCE = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+')
_HANDLING = re.compile(r'\s*handling\s*=\s*(?P<quote>"?)(?P<value>strict|lenient)(?P=quote)\s*(;.*)?', re.IGNORECASE)
_NAME = re.compile(r"\s*([^\s=;]*)")


def requested_leniency(request: HttpRequest) -> Leniency:
    """How a request is to be handled: strictly if the client prefers so, or by the setting STRICT, which clients cannot
    turn off."""
    is_strict = api_settings.STRICT or (_PREFER in request.META and _preferred(request) == "strict")
    return Leniency(is_strict)


def add_handling(response: HttpResponseBase, request: HttpRequest, leniency: Leniency) -> None:
    """Add what was tolerated to an answer, and the preference if it was applied."""
    if leniency.tolerated and not leniency.is_strict:
        response.headers[LENIENT_HANDLING] = _listed(leniency.tolerated)
    if _PREFER in request.META:
        applied = "strict" if leniency.is_strict else "lenient"
        if _preferred(request) == applied:
            response.headers["Preference-Applied"] = f"handling={applied}"


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


_DISPLAYED = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in '%"')
