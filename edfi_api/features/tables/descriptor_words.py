"""Texts of cells → the descriptors that they mean: by code value, short description or description."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from edfi_api.core.models import Document
from edfi_api.core.storage import resource_types
from edfi_api.features.tables.suggesting import bundled_words
from edfi_api.model.surface.resource import ResourceName

# A type with more is not named in words; its values are URIs then.
_MOST = 5_000
_NAMED = 8
_NO_WORD = re.compile(r"[\W_]+")
_URI_SEPARATOR = "#"


class NoDescriptor(NamedTuple):
    """Why a text means no descriptor, in a sentence."""

    reason: str


class DescriptorWords:
    """The descriptors that a database stores, read by type when a cell of that type comes."""

    def __init__(self, using: str) -> None:
        self.using = using
        self._types: dict[ResourceName, _DescriptorType] = {}

    def meaning(self, name: ResourceName, text: str) -> str | NoDescriptor:
        """The URI that a text means among descriptors of this type; a URI means itself, whether it is stored or not."""
        if _URI_SEPARATOR in text and ":" in text.partition(_URI_SEPARATOR)[0]:
            return text
        if name not in self._types:
            self._types[name] = _DescriptorType(name, self.using)
        return self._types[name].meaning(text)


class _DescriptorType:
    """The stored descriptors of one type, by each of their words."""

    def __init__(self, name: ResourceName, using: str) -> None:
        self._name = name
        number = resource_types.numbers(using).get(name)
        rows = Document.objects.using(using).filter(resource_type_id=number).values_list("body", flat=True)[:_MOST]
        self._by_words: list[dict[str, set[str]]] = [defaultdict(set) for _ in range(3)]
        codes = []
        for body in rows if number is not None else ():
            uri = f"{body.get('namespace', '')}{_URI_SEPARATOR}{body.get('codeValue', '')}"
            codes.append(str(body.get("codeValue", "")))
            for words, member in zip(self._by_words, ("codeValue", "shortDescription", "description"), strict=True):
                if isinstance(text := body.get(member), str):
                    words[_folded(text)].add(uri)
        # As they are compared, by code value.
        self._codes = {code: _folded(code) for code in sorted(set(codes))}

    def meaning(self, text: str) -> str | NoDescriptor:
        """The nearest words count: a code value more than a description, both more than other words for it."""
        for wanted in (text, *bundled_words()["values"].get(_folded(text), ())):
            for words in self._by_words:
                found = words.get(_folded(wanted), ())
                if len(found) == 1:
                    return next(iter(found))
                if found:
                    return NoDescriptor(f'"{text}" may be any of these: {_listed(sorted(found))}. Write which one.')
        if not self._codes:
            return NoDescriptor(f'No {self._name.resource} is stored, so nothing can be called "{text}".')
        part = _folded(text)
        near = [code for code, folded in self._codes.items() if part in folded] or self._codes
        return NoDescriptor(f'No {self._name.resource} is called "{text}". There are: {_listed(near)}.')


def _folded(text: str) -> str:
    return " ".join(_NO_WORD.sub(" ", text).casefold().split())


def _listed(texts: Iterable[str]) -> str:
    shown = list(texts)
    more = f", and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return "; ".join(shown[:_NAMED]) + more
