"""Identities of people at an OpenID provider, and recovery codes."""

from base64 import b32encode
from hashlib import sha256
from secrets import token_bytes

from django.conf import settings
from django.db import models
from django_otp.plugins.otp_static.models import StaticDevice

LONGEST_ISSUER = 512
# OpenID Connect Core 1.0, section 2: at most 255 ASCII characters.
LONGEST_SUBJECT = 255


class AdminIdentity(models.Model):
    """A person at an OpenID provider, who is this user of the admin.

    Issuer and subject together identify a person (OpenID Connect Core 1.0, section 5.7). Names and e-mail addresses do
    not: they change, and pass to others.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=LONGEST_ISSUER)
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "admin_identity"
        ordering = ["issuer", "subject"]
        verbose_name_plural = "admin identities"
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="admin_identity_of_one_user")]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"

    @property
    def audit_facts(self) -> dict[str, object]:
        return {"user": self.user.get_username(), "issuer": self.issuer, "subject": self.subject}


class RecoveryCodes(StaticDevice):  # type: ignore[misc]  # The library has no types.
    """The codes with which a user logs in once each without the authenticator. Of each code only a hash is stored.

    A code has 80 random bits, so that its hash needs no salt.
    """

    NUMBER = 10
    _BYTES = 10

    class Meta:
        proxy = True

    def replace(self) -> list[str]:
        """Store new codes in place of all others; returns them, in groups of four characters."""
        self.token_set.all().delete()
        codes = [b32encode(token_bytes(self._BYTES)).decode().lower() for _ in range(self.NUMBER)]
        for code in codes:
            self.token_set.create(token=_hashed(code))
        return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]

    def verify_token(self, token: str) -> bool:
        """Return whether it is a code that was not used; uses it up. Case, spaces and hyphens do not matter."""
        return bool(super().verify_token(_hashed(token)))


def _hashed(code: str) -> str:
    """Return a hash that is as long as the library's column: 80 bits of the SHA-256."""
    plain = "".join(code.split()).replace("-", "").lower()
    return b32encode(sha256(plain.encode()).digest()[:10]).decode()
