"""Connection strings at rest: encrypted with keys derived from the settings, so that a dump of the control database
alone opens no data store."""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from edfi_api.conf import api_settings

from .exceptions import ConnectionUnusable, NoStoreKey


def encrypt(text: str) -> str:
    """Encrypted with the first of the keys, as ASCII. Raises NoStoreKey if there is none that outlasts the process."""
    return _keys().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Decrypted with any of the keys. Raises ConnectionUnusable."""
    try:
        return _keys().decrypt(encrypted).decode()
    except (InvalidToken, NoStoreKey):
        raise ConnectionUnusable("it cannot be decrypted: MEADOWLARK_STORE_KEY is another one") from None


def _keys() -> MultiFernet:
    keys = [Fernet(_derived(secret)) for secret in api_settings.STORE_KEYS]
    if not keys:
        raise NoStoreKey
    return MultiFernet(keys)


def _derived(secret: str) -> bytes:
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"data store").derive(secret.encode())
    return base64.urlsafe_b64encode(key)
