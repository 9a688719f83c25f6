"""Refusals of authorization, as clients get them."""

from typing import Any

from django.http import HttpResponse

DENIED = "Access to the requested data could not be authorized."


def problem(answer: HttpResponse) -> dict[str, Any]:
    """What differs between the 403 of strategies: type, detail and errors."""
    assert answer.status_code == 403, answer.content
    body = answer.json()
    assert body.pop("correlationId")
    body.pop("hints", None)
    assert (body.pop("title"), body.pop("status"), body.pop("validationErrors")) == ("Authorization Denied", 403, {})
    return body
