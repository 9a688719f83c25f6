"""The known names that a mistyped name may mean, at a bounded cost."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 3
_LONGEST = 80
_MOST_COMPARED = 1_000
# The bound of `SequenceMatcher.ratio`: `lastName` and `lastSurname` have 0.84, `student` and `students` 0.93.
_ALIKE = 0.72
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """Return at most three of the first thousand known names, the most similar first: the same in another case, alone;
    names that are spelt alike; names that have all the words of this one, or only words of it, in any order.
    """
    if not name or len(name) > _LONGEST:
        return []
    by_lower = {each.lower(): each for each in list(known)[:_MOST_COMPARED]}
    wanted = name.lower()
    if wanted in by_lower:
        return [by_lower[wanted]]
    alike = get_close_matches(wanted, by_lower, _MOST, _ALIKE)
    words = _words(name)
    sharing = [each for each in by_lower.values() if _share_words(words, _words(each))]
    best = get_close_matches(wanted, [each.lower() for each in sharing], _MOST, 0)
    return [by_lower[each] for each in dict.fromkeys((*alike, *best))][:_MOST]


def _share_words(first: frozenset[str], second: frozenset[str]) -> bool:
    return bool(first and second) and (first <= second or (second <= first and len(second) > 1))


def _words(name: str) -> frozenset[str]:
    """`birthDates` as `birth` and `date`."""
    return frozenset(word.lower().removesuffix("s") for word in _WORD.findall(name))
