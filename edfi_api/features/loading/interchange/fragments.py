"""A document with unresolved references, in a form that can be queued on disk.

A reference identifies its target in one of three ways: by (parts of) the target's body, which an `Identity` element
holds; by the `id` of an element of the same file; by a look-up. References that the file alone can resolve are resolved
when it is read and do not appear here.
"""

from typing import Any

import msgspec

from edfi_api.model.surface.resource import KeyPair, ResourceName

# Member names and array indexes of one place in a body.
Place = tuple[str | int, ...]


class Fragment(msgspec.Struct, frozen=True, tag="fragment"):
    """A body, or part of one, without its unresolved references."""

    name: ResourceName
    body: dict[str, Any]
    open_references: list["OpenReference"] = []


class IdReference(msgspec.Struct, frozen=True, tag="id"):
    """`ref="..."`: refers to the element of the same file with that `id`."""

    id: str


class LookUp(msgspec.Struct, frozen=True, tag="look-up"):
    """Refers to the one document that contains an example; there is an example for each possible resource."""

    examples: list[Fragment]


Named = Fragment | IdReference | LookUp


class OpenReference(msgspec.Struct, frozen=True):
    """An unresolved reference, whose object belongs at `place`; `identity` maps the target's values to its members."""

    place: Place
    target: ResourceName
    identity: tuple[KeyPair, ...]
    named: Named
    line: int


_encoder = msgspec.msgpack.Encoder()
_fragment_decoder = msgspec.msgpack.Decoder(Fragment)
_named_decoder: msgspec.msgpack.Decoder[Named] = msgspec.msgpack.Decoder(Named)


def encode(named: Named) -> bytes:
    return _encoder.encode(named)


def decode_fragment(text: bytes) -> Fragment:
    return _fragment_decoder.decode(text)


def decode_named(text: bytes) -> Named:
    return _named_decoder.decode(text)
