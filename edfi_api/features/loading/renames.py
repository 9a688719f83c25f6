"""Names of an older or a newer data standard → names of the served one: `parents=contacts`.

A pair renames resources and members that the served standard does not have, if it has them under the new name: for
`parents=contacts` also `studentParentAssociations`, `parentReference` and `parentUniqueId`, and the elements of XML.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.model.surface.naming import plural, singular

_PAIR = re.compile(r"([A-Za-z]\w*)=([A-Za-z]\w*)", re.ASCII)


@dataclass
class NotAPair(Exception):
    """A text that is not of the form OLD=NEW."""

    given: str


@dataclass(frozen=True, slots=True)
class Renames:
    """Renames words in names that are not known: each match of the pattern, with groups numbered like the new words."""

    _pattern: re.Pattern[str] | None = None
    _new_words: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self._pattern is not None

    def known_name(self, name: str, known: Container[str]) -> str:
        """The name itself if it is known, otherwise its new name if that is; else the name itself."""
        if self._pattern is None or name in known:
            return name
        renamed = self.renamed(name)
        return renamed if renamed in known else name

    def renamed(self, name: str) -> str:
        """The name with all words renamed, each once, whether it is known or not."""
        return name if self._pattern is None else self._pattern.sub(self._new_word, name)

    def _new_word(self, found: re.Match[str]) -> str:
        old, new = found[0], self._new_words[(found.lastindex or 1) - 1]
        return (new[0].upper() if old[0].isupper() else new[0].lower()) + new[1:]

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
    old_words, new_words = [], []
    for pair in pairs:
        if not (found := _PAIR.fullmatch(pair)):
            raise NotAPair(pair)
        old, new = map(singular, found.groups())
        for form in (plural, str):
            old_words.append(_word(form(old)))
            new_words.append(form(new))
    return Renames(re.compile("|".join(old_words)), tuple(new_words)) if old_words else Renames()


def _word(word: str) -> str:
    """A word of a name in camel case: at its beginning in any case, inside with a capital; nothing of it may follow."""
    first, rest = re.escape(word[0]), re.escape(word[1:])
    return f"((?:^[{first.lower()}{first.upper()}]|(?<=[a-z0-9]){first.upper()}){rest}(?![a-z]))"


NO_RENAMES = Renames()
