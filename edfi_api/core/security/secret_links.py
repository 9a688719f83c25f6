"""Links that show the secret of a client one time, to be sent to a vendor.

The secret is stored encrypted, and only the link has the key, in its fragment, which browsers do not send: neither the
database nor a log reveals it. A client has at most one link, that of its latest secret.
"""

import secrets
from base64 import urlsafe_b64encode
from datetime import timedelta
from hashlib import sha256
from typing import NamedTuple

from cryptography.fernet import Fernet
from django.db import connection
from django.utils import timezone

from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient, SecretLink

VALID = timedelta(hours=24)
_BYTES = 32
_TAKE = """
DELETE FROM secret_link l USING security_apiclient c
  JOIN security_application a ON a.id = c.application_id JOIN security_vendor v ON v.id = a.vendor_id
 WHERE c.id = l.api_client_id AND l.digest = %(digest)s AND l.expires_at > %(now)s
   AND c.is_active AND (c.expires_at IS NULL OR c.expires_at > %(now)s)
RETURNING v.name, a.name, c.client_id, l.ciphertext
"""


class ShownSecret(NamedTuple):
    """The secret that a link shows, and whose it is."""

    vendor: str
    application: str
    key: str
    secret: str


def make_link(client: ApiClient, credentials: Credentials) -> str:
    """The token of a new link for the secret; an earlier one of the client is void."""
    token = secrets.token_urlsafe(_BYTES)
    SecretLink.objects.update_or_create(
        api_client=client,
        defaults={
            "digest": _digest(token),
            "ciphertext": _cipher(token).encrypt(credentials.secret.encode()).decode(),
            "expires_at": timezone.now() + VALID,
        },
    )
    return token


def take_secret(token: str) -> ShownSecret | None:
    """Return what the link shows, the first time that it is asked; None afterwards, for any other text, and while the
    client is inactive or has expired, whose link stays."""
    with connection.cursor() as cursor:
        row = cursor.execute(_TAKE, {"digest": _digest(token), "now": timezone.now()}).fetchone()
    if row is None:
        return None
    vendor, application, key, ciphertext = row
    return ShownSecret(vendor, application, key, _cipher(token).decrypt(ciphertext.encode()).decode())


def remove_expired() -> int:
    """The number of links that nobody has used in time."""
    removed, _ = SecretLink.objects.filter(expires_at__lte=timezone.now()).delete()
    return removed


def _digest(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()


def _cipher(token: str) -> Fernet:
    return Fernet(urlsafe_b64encode(sha256(b"secret link\0" + token.encode(errors="replace")).digest()))
