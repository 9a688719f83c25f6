"""Natural keys and referential ids: computed from key values alone, so a reference and its target get the same id.

The natural key is plain text for people and messages; the referential id is its hash, scoped by resource, and the
primary key of `Alias`. This module is independent of resources and bodies: paths and values are passed as text.
See meadowlark/docs/design/storage.md#natural-keys-and-referential-ids.
"""

import re
from collections.abc import Sequence
from hashlib import shake_128
from uuid import UUID, SafeUUID

# The elements of a key: JSON path without its root, and the value as text.
KeyElements = Sequence[tuple[str, str]]

# Matches ids as they are served here, and as 32 digits, the form of the ODS/API.
_UUID = re.compile(r"[0-9a-fA-F]{8}(-?)([0-9a-fA-F]{4}\1){3}[0-9a-fA-F]{12}")
_UUID_BYTES = 16
_VERSION_8_AND_VARIANT = 0x8000 << 64 | 0x8000 << 48
_VERSION_AND_VARIANT_MASK = ~(0xF000 << 64 | 0xC000 << 48)

# Bound once: a document needs several ids, so `uuid_of` is on the path of every write.
_new = object.__new__
_set_bits = vars(UUID)["int"].__set__
_set_safety = vars(UUID)["is_safe"].__set__
_UNKNOWN = SafeUUID.unknown


class KeyForm:
    """A template for the natural keys of one resource. `paths` are sorted."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._equal_signs = sum(path.count("=") + 1 for path in paths)
        self._template = "NK#" + "#".join(path.replace("%", "%%") + "=%s" for path in paths)

    def natural_key(self, values: Sequence[str]) -> str:
        """`NK#courseCode=1234#educationOrganizationReference.educationOrganizationId=122`.

        Different identities always give different texts: if a value could be read as a further element, the lengths
        of all values are appended after `#!`. No published key has such a value, so keys stay the same as in
        the original Meadowlark.
        """
        text = self._template % tuple(values)
        if text.count("=") > self._equal_signs and self._is_ambiguous(values):
            return text + "#!" + ",".join(str(len(value)) for value in values)
        return text

    def _is_ambiguous(self, values: Sequence[str]) -> bool:
        return any(f"#{path}=" in value for path in self._paths for value in values)


def natural_key(elements: KeyElements) -> str:
    """The natural key of a single identity, for elements sorted by path."""
    return KeyForm([path for path, _ in elements]).natural_key([value for _, value in elements])


def descriptor_natural_key(uri: str) -> str:
    """`NK#uri://ed-fi.org/SexDescriptor#Female`, in the descriptor's own letter case."""
    return f"NK#{uri}"


def referential_id(project: str, resource: str, key: str) -> UUID:
    """The UUID (version 8) that references use as the key of their target.

    The first 128 bits of SHAKE-128 over `{project}#{resource}#{key}`. Descriptor values in `key` must be in lower
    case, since they compare case-insensitively. The version of the data standard is not part of it, so ids survive
    the upgrade to a newer standard.
    """
    digest = shake_128(f"{project}#{resource}#{key}".encode()).digest(_UUID_BYTES)
    return uuid_of(int.from_bytes(digest, "big") & _VERSION_AND_VARIANT_MASK | _VERSION_8_AND_VARIANT)


def uuid_of(bits: int) -> UUID:
    """Return `UUID(int=bits)`, without the constructor's dispatch over six kinds of argument."""
    value = _new(UUID)
    _set_bits(value, bits)
    _set_safety(value, _UNKNOWN)
    return value


def as_uuid(text: str) -> UUID | None:
    """The UUID that the text is, with hyphens or as 32 digits; None if it is none."""
    return uuid_of(int(text.replace("-", ""), 16)) if _UUID.fullmatch(text) else None
