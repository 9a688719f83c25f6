"""Identities as text and as ids: how a reference and the document it means reach the same value on their own.

The natural key is plain text for people and messages; the referential id is its hash, scoped by resource, and the
primary key of `Alias`. Nothing here knows a resource or a body: paths and values come in as text.
See meadowlark/docs/storage.md#natural-keys-and-referential-ids.
"""

from collections.abc import Sequence
from hashlib import shake_128
from uuid import UUID, SafeUUID

# A key's elements: JSON path without its root, and the value as text.
KeyElements = Sequence[tuple[str, str]]

_UUID_BYTES = 16
_VERSION_8_AND_VARIANT = 0x8000 << 64 | 0x8000 << 48
_VERSION_AND_VARIANT_MASK = ~(0xF000 << 64 | 0xC000 << 48)

# Looked up once: ids are made several times for each document.
_new = object.__new__
_set_bits = vars(UUID)["int"].__set__
_set_safety = vars(UUID)["is_safe"].__set__
_UNKNOWN = SafeUUID.unknown


class KeyForm:
    """The natural keys of one resource, whose documents differ in values alone; paths are sorted."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._equal_signs = sum(path.count("=") + 1 for path in paths)
        self._template = "NK#" + "#".join(path.replace("%", "%%") + "=%s" for path in paths)

    def natural_key(self, values: Sequence[str]) -> str:
        """`NK#courseCode=1234#educationOrganizationReference.educationOrganizationId=122`.

        Two different identities never give one text: where a value could be taken for a further element, the
        lengths of all values follow behind `#!`. No published id has such a value, so the original's form stands.
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
    """`NK#uri://ed-fi.org/SexDescriptor#Female`, in the descriptor's own spelling."""
    return f"NK#{uri}"


def referential_id(project: str, resource: str, key: str) -> UUID:
    """The UUID (version 8) by which a document can be pointed at without knowing its row.

    The first 128 bits of SHAKE-128 over `{project}#{resource}#{key}`. Descriptor values in `key` are expected
    in lower case, since they compare without regard to case. The version of the data standard takes no part,
    so moving to a newer standard keeps the ids.
    """
    digest = shake_128(f"{project}#{resource}#{key}".encode()).digest(_UUID_BYTES)
    return uuid_of(int.from_bytes(digest, "big") & _VERSION_AND_VARIANT_MASK | _VERSION_8_AND_VARIANT)


def uuid_of(bits: int) -> UUID:
    """As `UUID(int=bits)`, past a constructor that first considers in which of six forms it was given the value."""
    value = _new(UUID)
    _set_bits(value, bits)
    _set_safety(value, _UNKNOWN)
    return value
