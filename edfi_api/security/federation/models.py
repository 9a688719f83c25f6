"""Clients of other identity providers, and tokens that are refused although their signature is valid."""

from django.core.exceptions import ValidationError
from django.db import models

from ..names import validate_name
from .issuers import LONGEST_ISSUER, issuers

LONGEST_VALUE = 255


class ExternalIdentity(models.Model):
    """What an identity provider calls an API client: its tokens with this client are those of the API client."""

    api_client = models.OneToOneField(
        "security.ApiClient", on_delete=models.CASCADE, primary_key=True, related_name="external_identity"
    )
    issuer = models.CharField(
        max_length=LONGEST_ISSUER,
        validators=[validate_name],
        help_text="An issuer of the file MEADOWLARK_OIDC_ISSUERS, as it is spelt there.",
    )
    value = models.CharField(
        "client",
        max_length=LONGEST_VALUE,
        validators=[validate_name],
        help_text="Its id at the identity provider: in tokens client_id, azp, appid or sub, unless the file names "
        "another claim.",
    )

    class Meta:
        db_table = "external_identity"
        verbose_name_plural = "external identities"
        constraints = [models.UniqueConstraint(fields=["issuer", "value"], name="external_identity_of_one_client")]

    def __str__(self) -> str:
        return f"{self.value} of {self.issuer}"

    def clean(self) -> None:
        if self.issuer and self.issuer not in issuers():
            known = ", ".join(issuers()) or "none"
            raise ValidationError({"issuer": f"MEADOWLARK_OIDC_ISSUERS has no such issuer; it has: {known}."})


class RefusedTokens(models.Model):
    """Tokens of an issuer are refused that it issued before a time: those of one client, or of all (no `client`)."""

    issuer = models.CharField(max_length=LONGEST_ISSUER)
    client = models.CharField(max_length=LONGEST_VALUE, blank=True, default="")
    issued_before = models.DateTimeField()

    class Meta:
        db_table = "refused_tokens"
        constraints = [models.UniqueConstraint(fields=["issuer", "client"], name="refused_tokens_once_per_client")]

    def __str__(self) -> str:
        return f"{self.client or 'all clients'} of {self.issuer} before {self.issued_before}"
