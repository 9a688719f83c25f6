"""What has been read of a document before all its references are resolved, in a form that can wait on disk.

A reference says in one of three ways which document it means: by (parts of) the target's body, which is what an
`Identity` element holds; by the `id` of an element of the same file; by a look-up. What a file alone can settle is
settled when it is read and leaves no trace here.
"""

from typing import Any

import msgspec

from edfi_api.surface.resource import KeyPair, ResourceName

# Members and indexes that lead to one place in one body.
Place = tuple[str | int, ...]


class Fragment(msgspec.Struct, frozen=True, tag="fragment"):
    """A body, or part of one, without its open references."""

    name: ResourceName
    body: dict[str, Any]
    open_references: list["OpenReference"] = []


class IdReference(msgspec.Struct, frozen=True, tag="id"):
    """`ref="..."`: the element of this file with that `id`."""

    id: str


class LookUp(msgspec.Struct, frozen=True, tag="look-up"):
    """The one document that contains an example; there is an example for each resource that can be meant."""

    examples: list[Fragment]


Named = Fragment | IdReference | LookUp


class OpenReference(msgspec.Struct, frozen=True):
    """A reference object still to be put at `place`; `identity` says which values of the target it is made of."""

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
