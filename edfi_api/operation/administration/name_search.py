"""The search text of the document list → documents with these names: `Mae Ortiz`, `Grand Bend High School`.

Names are the texts at the root of a body that people know an item by. They are compared whole, as written and with
capital initials, through the index over the bodies.
"""

import re
from collections.abc import Iterator
from itertools import islice, permutations
from typing import Any

from edfi_api.model.surface.resource import QueryType, Resource

_NAME = re.compile(r"(?:^|[a-z])(?:[nN]ame|[sS]urname|[tT]itle)(?:OfInstitution)?$")
_MOST_WORDS = 3
# Assignments of words to members of one resource; a search of all resources tries this many of each.
_MOST_EXAMPLES = 12


def examples(text: str, resource: Resource) -> Iterator[dict[str, Any]]:
    """Example bodies that have the text in one member, or its words in several."""
    members = name_members(resource)
    found = dict.fromkeys(_examples(text.strip(), members))
    yield from (dict(each) for each in islice(found, _MOST_EXAMPLES))


def name_members(resource: Resource) -> list[str]:
    """The members at the root that are names, those that are no part of the key too."""
    return [
        path.steps[0]
        for field in resource.query_fields
        for path in field.paths
        if field.type is QueryType.STRING and len(path.steps) == 1 and _NAME.search(path.steps[0])
    ]


def _examples(text: str, members: list[str]) -> Iterator[tuple[tuple[str, str], ...]]:
    for spelled in dict.fromkeys((text, text.title())):
        yield from (((member, spelled),) for member in members)
        words = spelled.split()
        if 1 < len(words) <= _MOST_WORDS:
            yield from (tuple(sorted(zip(chosen, words, strict=True))) for chosen in permutations(members, len(words)))
