"""Keys and secrets of clients: read from a Basic header, generated, and compared with the stored hash.

Secrets of clients that came from an Ed-Fi ODS/API are stored there as Base64 of: a byte 0; the number of the algorithm,
the iterations and the length of the salt, each as a 32-bit integer, least byte first; the salt; the PBKDF2 hash. The
number of an algorithm is the first four bytes of the SHA-256 of its name. Here they are encoded passwords of Django's.
"""

import hashlib
import secrets
import string
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct
from struct import error as StructError
from typing import Any
from urllib.parse import unquote_plus

from django.contrib.auth.hashers import BasePasswordHasher, PBKDF2PasswordHasher
from django.utils.crypto import constant_time_compare, pbkdf2

_LENGTH = 48
_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits, "-_.")
_ALPHABET = "".join(_CLASSES)

_HEADER = Struct("<Biii")
_FORMAT = 0
# A request for a token computes that many rounds, three times as many as the ODS/API does.
_MOST_ITERATIONS = 2_000_000
_LONGEST_SALT = 128


@dataclass(frozen=True)
class Credentials:
    """The key and secret that a client presents to get a token."""

    key: str
    secret: str = field(repr=False)

    @property
    def stored_key(self) -> str:
        """The key as a parameter of a query: PostgreSQL refuses texts that contain NUL."""
        return self.key.replace("\0", "\ufffd")

    def match(self, stored_hash: str | None) -> bool:
        """Return whether the secret is that of the hash, None for an unknown key, which takes as long as a wrong
        secret. The hash of an ODS/API takes longer, until it is replaced."""
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


class UnreadableSecret(Exception):
    """A text that is no hash of an ODS/API, or one with an algorithm, iterations or a salt that are not taken."""


class OdsSecretHasher(BasePasswordHasher):
    """PBKDF2 with HMAC-SHA256, over a salt of any bytes, which is in Base64."""

    algorithm = "ods_pbkdf2_sha256"
    digest: Callable[..., Any] = staticmethod(hashlib.sha256)
    name = "PBKDF2-HMACSHA256"

    def encode(self, password: str, salt: str, iterations: int = 0, length: int = 32) -> str:
        derived = pbkdf2(password, b64decode(salt), iterations, length, self.digest)
        return self._encoded(iterations, salt, derived)

    def decode(self, encoded: str) -> dict[str, Any]:
        algorithm, iterations, salt, derived = encoded.split("$", 3)
        return {"algorithm": algorithm, "iterations": int(iterations), "salt": salt, "hash": derived}

    def verify(self, password: str, encoded: str) -> bool:
        parts = self.decode(encoded)
        length = len(b64decode(parts["hash"]))
        return constant_time_compare(encoded, self.encode(password, parts["salt"], parts["iterations"], length))

    def safe_summary(self, encoded: str) -> dict[Any, Any]:
        parts = self.decode(encoded)
        return {"algorithm": parts["algorithm"], "iterations": parts["iterations"]}

    def harden_runtime(self, password: str, encoded: str) -> None:
        """A secret is never hashed again by this class."""

    @classmethod
    def number(cls) -> int:
        return int.from_bytes(hashlib.sha256(cls.name.encode()).digest()[:4], "little", signed=True)

    @classmethod
    def of(cls, iterations: int, salt: bytes, derived: bytes) -> str:
        """The encoded password for parts of a stored hash."""
        return cls._encoded(iterations, b64encode(salt).decode(), derived)

    @classmethod
    def _encoded(cls, iterations: int, salt: str, derived: bytes) -> str:
        return f"{cls.algorithm}${iterations}${salt}${b64encode(derived).decode()}"


class OdsSecretHasherOfOldVersions(OdsSecretHasher):
    """The hasher of secrets of old versions of the ODS/API, which use HMAC-SHA1."""

    algorithm = "ods_pbkdf2_sha1"
    digest = staticmethod(hashlib.sha1)
    name = "PBKDF2-HMACSHA1"


_HASHERS: tuple[type[OdsSecretHasher], ...] = (OdsSecretHasher, OdsSecretHasherOfOldVersions)


def hasher_of(stored: str) -> OdsSecretHasher | None:
    """The hasher of a secret that is stored here, if it came from an ODS/API."""
    algorithm = stored.partition("$")[0]
    return next((hasher() for hasher in _HASHERS if hasher.algorithm == algorithm), None)


def encoded(stored_there: str) -> str:
    """The encoded password for a hash of an ODS/API. Raises UnreadableSecret."""
    try:
        read = b64decode(stored_there, validate=True)
        version, number, iterations, length = _HEADER.unpack_from(read)
    except (ValueError, StructError) as error:
        raise UnreadableSecret from error
    salt, derived = read[_HEADER.size : _HEADER.size + length], read[_HEADER.size + length :]
    hasher = next((each for each in _HASHERS if each.number() == number), None)
    is_plausible = 0 < iterations <= _MOST_ITERATIONS and 0 < length <= _LONGEST_SALT and len(derived) in (20, 32)
    if version != _FORMAT or hasher is None or len(salt) != length or not is_plausible:
        raise UnreadableSecret
    return hasher.of(iterations, salt, derived)
