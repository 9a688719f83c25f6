"""Request → JSON object: checks media type and length. See
meadowlark/docs/reference/contract.md#requests-and-answers."""

from typing import Any

from django.http import HttpRequest
from rest_framework.parsers import BaseParser

from edfi_api.conf import api_settings
from edfi_api.documents import json_object
from edfi_api.documents.exceptions import MalformedJson
from edfi_api.problem_details.http_exceptions import BodyTooLarge, UnsupportedMediaType
from edfi_api.profiles.media_types import is_of_a_profile
from edfi_api.request_body import BodyIncomplete, BodyTooLong, read_body

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MEDIA_TYPES = ("", "application/json", "text/json")


class EdFiJsonParser(BaseParser):
    """Reads Django's request instead of DRF's stream, which is empty without Content-Type or Content-Length."""

    media_type = "application/json"

    def parse(  # type: ignore[override]  # The whole request in place of its stream.
        self, stream: HttpRequest, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, Any]:
        """The body as a JSON object. Raises UnsupportedMediaType, BodyTooLarge, and what `json_object.parse` raises."""
        declared = stream.META.get("CONTENT_TYPE", "").partition(";")[0].strip()
        if declared.lower() not in _MEDIA_TYPES and not is_of_a_profile(declared):
            raise UnsupportedMediaType
        return json_object.parse(_read(stream).removeprefix(_BYTE_ORDER_MARK))


def _read(request: HttpRequest) -> bytes:
    limit = api_settings.MAX_BODY_BYTES
    try:
        return read_body(request, limit)
    except BodyTooLong as error:
        raise BodyTooLarge(limit) from error
    except BodyIncomplete as error:
        raise MalformedJson("the body did not come as announced") from error
