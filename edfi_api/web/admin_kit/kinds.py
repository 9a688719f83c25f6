"""Resources in words, for people who do not know the names of the API: an enrolment is a StudentSchoolAssociation.

The words of the data standards are in `words.toml` in the same folder; a file that the setting KIND_WORDS names adds to
them and replaces some. What is in neither is called by the words of its name.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.conf import BUNDLED_STANDARDS, api_settings
from edfi_api.common.rule_files import NotToml, read_toml
from edfi_api.core.security.claim_names import DOMAINS, SERVICES, short_name
from edfi_api.core.served import current_surface
from edfi_api.model.surface.naming import plural

_BUNDLED = BUNDLED_STANDARDS / "words.toml"
# An acronym, a single capital before a capitalized word, a word, another capital, a number.
_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z](?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+")
_EXPECTED = "a text, or a list of two: for one document, and for several"


class Kind(NamedTuple):
    """The names of one document of a resource and of several: `Enrolment`, `Enrolments`."""

    singular: str
    plural: str

    @property
    def in_a_sentence(self) -> str:
        """`enrolment`; an acronym at the beginning keeps its capitals."""
        return self.singular if self.singular[1:2].isupper() else self.singular[:1].lower() + self.singular[1:]


def kind_in_words(resource: str) -> Kind:
    """Return the words for a resource by its name in the model: `StudentSchoolAssociation`."""
    return _words(api_settings.KIND_WORDS).get(resource) or _kind(_in_words(resource))


def kind_at(path: str) -> Kind:
    """Return the words for the resource at a path of the API: `/ed-fi/studentSchoolAssociations`. Of a path that is not
    served, the name is the last segment, which is a plural."""
    if resource := current_surface().resource_at(path):
        return kind_in_words(resource.name.resource)
    words = _in_words(path.rpartition("/")[2])
    return Kind(words, words)


def kinds_at(path: str) -> str:
    """Return what several documents at a path are called; a refused write may have had no path that is served."""
    return kind_at(path).plural or "Unknown resources"


def claim_in_words(name: str) -> str:
    """Return what the resource of a claim is called, `Enrolments` for `ed-fi/studentSchoolAssociation`; empty for a
    domain or a service, which has a name of its own."""
    if name.startswith((DOMAINS, SERVICES)):
        return ""
    resource = short_name(name)
    return kind_in_words(f"{resource[:1].upper()}{resource[1:]}").plural


def check_own_words() -> None:
    """Raise ImproperlyConfigured if the setting names a file that cannot be used."""
    _words(api_settings.KIND_WORDS)


@cache
def _words(own: str) -> Mapping[str, Kind]:
    """Return the words by the names of resources. Raises ImproperlyConfigured."""
    return _read_file(_BUNDLED) | (_read_file(Path(own)) if own else {})


def _read_file(path: Path) -> dict[str, Kind]:
    try:
        found = read_toml(path)
    except NotToml as error:
        raise ImproperlyConfigured(f"{path}: {error}") from error
    return {name: _read(path, name, words) for name, words in found.items()}


def _read(path: Path, name: str, words: Any) -> Kind:
    match words:
        case str(one) if one:
            return _kind(one)
        case [str(one), str(several)] if one and several:
            return Kind(one, several)
    raise ImproperlyConfigured(f"{path}: {name} has to be {_EXPECTED}")


def _kind(words: str) -> Kind:
    return Kind(words, plural(words))


def _in_words(name: str) -> str:
    """`CourseOffering` → `Course offering`, `StudentIEPGoal` → `Student IEP goal`."""
    words = [word if word.isupper() else word.lower() for word in _WORD.findall(name)]
    text = " ".join(words)
    return text[:1].upper() + text[1:]
