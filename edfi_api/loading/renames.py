"""Names of an older or a newer data standard → names of the served one: `parents=contacts`.

A pair renames resources and members that the served standard does not have, if it has them under the new name: for
`parents=contacts` also `studentParentAssociations`, `parentReference` and `parentUniqueId`, and the elements of XML.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.model.surface.inflection import plural, singular

_PAIR = re.compile(r"([A-Za-z]\w*)=([A-Za-z]\w*)", re.ASCII)


@dataclass
class NotAPair(Exception):
    """A text that is not of the form OLD=NEW."""

    given: str


@dataclass(frozen=True, slots=True)
class Renames:
    """Renames words in names that are not known."""

    _words: tuple[tuple[re.Pattern[str], str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self._words)

    def known_name(self, name: str, known: Container[str]) -> str:
        """The name itself if it is known, otherwise its new name if that is; else the name itself."""
        if not self._words or name in known:
            return name
        renamed = self.renamed(name)
        return renamed if renamed in known else name

    def renamed(self, name: str) -> str:
        """The name with all words renamed, whether it is known or not."""
        for pattern, new in self._words:
            name = pattern.sub(lambda found, new=new: _cased_like(found[0], new), name)  # type: ignore[misc]
        return name

    def body(self, body: Any, schema: Mapping[str, Any]) -> Any:
        """A body with its members renamed; one whose new name it has already stays as it is."""
        if isinstance(body, dict) and schema.get("type") == "object":
            return self._object(body, schema.get("properties", {}))
        if isinstance(body, list) and schema.get("type") == "array":
            return [self.body(item, schema["items"]) for item in body]
        return body

    def _object(self, body: dict[str, Any], members: Mapping[str, Any]) -> dict[str, Any]:
        renamed = {}
        for name, value in body.items():
            known = self.known_name(name, members)
            if known != name and known in body:
                known = name
            renamed[known] = self.body(value, members[known]) if known in members else value
        return renamed


def renames(pairs: Iterable[str]) -> Renames:
    """The renames of pairs such as `parents=contacts`. Names are those of endpoints, resources or members; each counts
    in singular and plural. Raises NotAPair."""
    words = []
    for pair in pairs:
        if not (found := _PAIR.fullmatch(pair)):
            raise NotAPair(pair)
        old, new = found.groups()
        for form in (plural, singular):
            words.append((_word(form(singular(old))), form(singular(new))))
    return Renames(tuple(words))


def _word(word: str) -> re.Pattern[str]:
    """A word of a name in camel case: at its beginning in any case, inside with a capital; nothing of it may follow."""
    first, rest = re.escape(word[0]), re.escape(word[1:])
    return re.compile(f"(?:^[{first.lower()}{first.upper()}]|(?<=[a-z0-9]){first.upper()}){rest}(?![a-z])")


def _cased_like(old: str, new: str) -> str:
    return (new[0].upper() if old[0].isupper() else new[0].lower()) + new[1:]


NO_RENAMES = Renames()
