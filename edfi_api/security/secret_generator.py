"""Secrets of clients: 48 characters of four classes, which no form, header or URL has to escape."""

import secrets
import string

_LENGTH = 48
_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits, "-_.")
_ALPHABET = "".join(_CLASSES)


def generate_secret() -> str:
    """A new secret with characters of every class, as programs for Ed-Fi's servers require of secrets."""
    while True:
        secret = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
        if all(any(each in secret for each in characters) for characters in _CLASSES):
            return secret
