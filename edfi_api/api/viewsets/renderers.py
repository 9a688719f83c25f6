"""Renders responses other than documents, whose JSON text needs no renderer. JSON is the only format."""

from typing import Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer


class EdFiJsonRenderer(BaseRenderer):
    """`application/json`, by orjson."""

    media_type = "application/json"
    format = "json"
    charset = "utf-8"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return b"" if data is None else orjson.dumps(data)


class NoNegotiation(BaseContentNegotiation):
    """`Accept` is not negotiated on data routes (meadowlark/docs/reference/contract.md#requests-and-answers)."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type
