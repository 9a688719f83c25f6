"""Keys and secrets of clients: read from a Basic header, generated, and compared with the stored hash."""

import secrets
import string
from base64 import b64decode
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from edfi_api.core.security.ods_secrets import hasher_of

_LENGTH = 48
_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits, "-_.")
_ALPHABET = "".join(_CLASSES)


@dataclass(frozen=True)
class Credentials:
    """The key and secret that a client presents to get a token."""

    key: str
    secret: str = field(repr=False)

    @property
    def stored_key(self) -> str:
        """The key as a parameter of a query: PostgreSQL refuses texts that contain NUL."""
        return self.key.replace("\0", "\ufffd")

    def fit(self, stored_hash: str | None) -> bool:
        """Whether the secret is that of the hash, None for an unknown key, which takes as long as a wrong secret. The
        hash of an ODS/API takes longer, until it is replaced."""
        if stored_hash is not None and (hasher := hasher_of(stored_hash)) is not None:
            return hasher.verify(self.secret, stored_hash)
        return _HASHER.verify(self.secret, stored_hash or _NOBODYS_SECRET) and stored_hash is not None

    @classmethod
    def generated(cls, key: str) -> "Credentials":
        """The key with a new secret."""
        return cls(key, generate_secret())

    @property
    def hash(self) -> str:
        """The text to store for the secret, with a new salt."""
        return _HASHER.hash(self.secret)


def in_basic_header(header: str) -> Credentials | None:
    """The credentials in an `Authorization` header; None if its scheme is another one. Both may be URL-encoded
    (RFC 6749 §2.3.1). Raises ValueError if the header cannot be read."""
    scheme, _, encoded = header.strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    key, secret = b64decode(encoded.strip(), validate=True).decode().split(":", 1)
    return Credentials(unquote_plus(key), unquote_plus(secret))


def generate_secret() -> str:
    """A new secret with characters of every class, as programs for Ed-Fi's servers require of secrets."""
    while True:
        secret = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
        if all(any(each in secret for each in characters) for characters in _CLASSES):
            return secret


class ClientSecretHasher(PBKDF2PasswordHasher):
    """Django's PBKDF2 with few rounds, for secrets that were generated.

    Many rounds slow down the guessing of passwords that people choose. These secrets are random and longer than the
    hash, so guessing is infeasible anyway; a million rounds, Django's default, would only let unauthenticated requests
    to the token endpoint occupy a processor for a quarter of a second each. A thousand take a quarter of a millisecond.

    The algorithm keeps Django's name, with the number of rounds in the stored text. By the name the toolkit's field
    recognises hashed values. Verify with this class, not with `check_password`, which runs the missing rounds
    when a secret is wrong.
    """

    iterations = 1_000

    def hash(self, secret: str) -> str:
        """The text to store for `secret`, with a new salt."""
        return self.encode(secret, self.salt())


_HASHER = ClientSecretHasher()
_NOBODYS_SECRET = _HASHER.hash(generate_secret())
