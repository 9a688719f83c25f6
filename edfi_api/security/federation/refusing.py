"""Tokens that are refused although their signature is valid, because they were issued before a time."""

from datetime import datetime

from django.db import transaction
from django.db.models import Max

from edfi_api.logs import audit

from .models import RefusedTokens
from .validation import ValidToken


@transaction.atomic
def refuse_tokens(issuer: str, client: str, before: datetime, *, by: str) -> None:
    """Refuse tokens of the issuer that it issued before a time: those of one client, or of all if it is empty. Replaces
    the time that was set before."""
    RefusedTokens.objects.update_or_create(issuer=issuer, client=client, defaults={"issued_before": before})
    audit.administered(
        "tokens refused", issuer=issuer, external_client=client or None, before=before.isoformat(), by=by
    )


def check_not_refused(valid: ValidToken) -> None:
    """Raise TokenRefused for a token that was issued before such a time."""
    found = RefusedTokens.objects.filter(issuer=valid.issuer.issuer, client__in=["", valid.client])
    before: datetime | None = found.aggregate(before=Max("issued_before"))["before"]
    if before is not None and valid.issued_at < before:
        raise valid.refused("issued too early")
