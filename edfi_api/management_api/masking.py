"""Connection strings in answers and requests: shown without the password, and kept where they come back so."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError

from edfi_api.data_stores.connection_strings import LONGEST, MAIN, MASK, destination
from edfi_api.data_stores.encryption import decrypt
from edfi_api.data_stores.exceptions import ConnectionUnusable, NoStoreKey

from . import problems

__all__ = ["LONGEST", "UNCHANGED", "changed_connection", "masked", "storing_connections"]

# The value of an absent member; no text of a request has this character.
UNCHANGED = "\0"
_NO_KEY = "It cannot be encrypted: MEADOWLARK_SECRET_KEY or MEADOWLARK_STORE_KEY has to be set."


@contextmanager
def storing_connections() -> Iterator[None]:
    """A connection string that must not be stored raises a Refusal, as does a server without a key to encrypt it."""
    try:
        yield
    except ValidationError as error:
        raise problems.invalid_data(error.message_dict) from None
    except NoStoreKey:
        raise problems.invalid_data({"ConnectionString": [_NO_KEY]}) from None


def masked(encrypted: str | None) -> str | None:
    """What answers show of a stored connection string."""
    if encrypted is None:
        return None
    try:
        text = decrypt(encrypted)
        if text == MAIN:
            return MAIN
        where = destination(text)
    except ConnectionUnusable:
        return MASK
    shown = {"host": where.host, "port": where.port, "username": where.user, "database": where.database}
    return "".join(f"{name}={value};" for name, value in shown.items() if value) + f"password={MASK}"


def changed_connection(encrypted: str | None, sent: str | None) -> tuple[bool, str | None]:
    """Whether a PUT changes a connection string, and to what; one that is absent or masked as it was shown is kept."""
    if sent == UNCHANGED or (sent and sent == masked(encrypted)):
        return False, None
    return (sent or None) is not None or encrypted is not None, sent or None
