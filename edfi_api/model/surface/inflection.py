"""Plural and singular of model names, as Ed-Fi's own tools form them.

The published names come from a general-purpose English inflector with gaps and bugs (`beta` is treated as a plural,
`diagnosis` as irregular), so a correct dictionary would give different names. Matching is case-insensitive; the
unchanged part of a word keeps its case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

Rule = tuple[re.Pattern[str], str]


def _rules(*rules: tuple[str, str]) -> tuple[Rule, ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in rules)


def _patterns(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


# Matches whole words only: `StudentInformation` has a plural.
# fmt: off
UNCOUNTABLE = frozenset(
    {
        "accommodation", "advertising", "advice", "aid", "aircraft", "assistance", "athletics", "biology", "blood",
        "carbon", "cash", "deer", "economics", "education", "electricity", "engineering", "equipment", "ethics",
        "evidence", "evolution", "fiction", "food", "fuel", "fun", "furniture", "genetics", "gold", "guilt",
        "gymnastics", "happiness", "hardware", "harm", "health", "heat", "help", "homework", "honesty",
        "hospitality", "importance", "information", "iron", "knowledge", "leisure", "linguistics", "literature",
        "livestock", "logic", "luck", "machinery", "management", "mathematics", "money", "music", "nature", "news",
        "nutrition", "physics", "poetry", "pollution", "poverty", "psychology", "publicity", "punctuation",
        "relaxation", "reliability", "research", "respect", "safety", "series", "sheep", "software", "soil",
        "species", "stuff", "traffic", "transportation", "trust", "unemployment", "unity", "validity", "violence",
        "wealth", "weather", "welfare", "wildlife", "wisdom", "zoology",
    }
)
# fmt: on

PLURAL_DESPITE_UNCOUNTABLE = frozenset({"accommodation"})

LOOKS_PLURAL = _patterns(
    r"people$",
    r"children$",
    r"[ti]a$",
    r"(analy|ba|diagno|parenthe|progno|synop|the)ses$",
    r"databases$",
    r"drives$",
    r"(hi|ti)ves$",
    r"curves$",
    r"[lr]ves$",
    r"[^fo]ves$",
    r"([^aeiouy]|qu)ies$",
    r"series$",
    r"movies$",
    r"(x|ch|ss|sh)es$",
    r"[ml]ice$",
    r"buses$",
    r"oes$",
    r"(cris|ax|test)es$",
    r"(octop|vir)uses$",
    r"(alias|canvas|status|campus)es$",
    r"matrices$",
    r"quizzes$",
    r"^(men|women|summonses|bonuses|oxen|feet|teeth|geese|whereases|criteria|genera)$",
)

# Singular forms with irregular plurals.
IRREGULAR = _rules(
    (r"^(m|wom)an$", r"\1en"),
    (r"(pe)rson$", r"\1ople"),
    (r"(child)$", r"\1ren"),
    (r"(drive)$", r"\1s"),
    (r"^(ox)$", r"\1en"),
    (r"(ax|test)is$", r"\1es"),
    (r"(octopus|virus)$", r"\1es"),
    (r"(alias|status|canvas|campus)$", r"\1es"),
    (r"^(summons|bonus)$", r"\1es"),
    (r"(bus)$", r"\1es"),
    (r"(buffalo|tomato|potato)$", r"\1es"),
    (r"([ti])um$", r"\1a"),
    (r"sis$", r"ses"),
    (r"([^f])fe$", r"\1ves"),
    (r"([lr])f$", r"\1ves"),
    (r"((?:hi|ti)ve)$", r"\1s"),
    (r"([^aeiouy]|qu)y$", r"\1ies"),
    (r"(matr)ix$", r"\1ices"),
    (r"(x|ch|ss|sh)$", r"\1es"),
    (r"([ml])ouse$", r"\1ice"),
    (r"^foot$", r"feet"),
    (r"^tooth$", r"teeth"),
    (r"^goose$", r"geese"),
    (r"(quiz)$", r"\1zes"),
    (r"^(whereas)$", r"\1es"),
    (r"^(criteri)on$", r"\1a"),
    (r"^genus$", r"genera"),
)

# Applies before the general ending in x. `singular` does not recognize these two words as singular forms.
VERTEX_AND_INDEX = _rules((r"(vert|ind)ex$", r"\1ices"))

SINGULAR = _rules(
    (r"^(m|wom)en$", r"\1an"),
    (r"(pe)ople$", r"\1rson"),
    (r"(child)ren$", r"\1"),
    (r"(drive)s$", r"\1"),
    (r"^genera$", r"genus"),
    (r"^(criteri)a$", r"\1on"),
    (r"([ti])a$", r"\1um"),
    (r"(analy)ses$", r"\1asis"),  # sic: published names would show it
    (r"(ba|diagno|parenthe|progno|synop|the)ses$", r"\1sis"),
    (r"((?:hi|ti)ve)s$", r"\1"),
    (r"(curve)s$", r"\1"),
    (r"([lr])ves$", r"\1f"),
    (r"(ave)s$", r"\1"),
    (r"([^fo])ves$", r"\1fe"),
    (r"(movie)s$", r"\1"),
    (r"([^aeiouy]|qu)ies$", r"\1y"),
    (r"(series)$", r"\1"),
    (r"(x|ch|ss|sh)es$", r"\1"),
    (r"([ml])ice$", r"\1ouse"),
    (r"(bus)es$", r"\1"),
    (r"(shoe)s$", r"\1"),
    (r"(o)es$", r"\1"),
    (r"(cris|ax|test)es$", r"\1is"),
    (r"(octop|vir)uses$", r"\1us"),
    (r"(alias|canvas|status|campus)es$", r"\1"),
    (r"^(summons|bonus|whereas)es$", r"\1"),
    (r"^(ox)en$", r"\1"),
    (r"(matr)ices$", r"\1ix"),
    (r"(vert|ind)ices$", r"\1ex"),
    (r"^feet$", r"foot"),
    (r"^teeth$", r"tooth"),
    (r"^geese$", r"goose"),
    (r"(quiz)zes$", r"\1"),
    (r"(ss)$", r"\1"),
    (r"s$", r""),
)


@cache
def plural(word: str) -> str:
    """`localEducationAgency` → `localEducationAgencies`, `Media` → `Media`, `staff` → `staffs`."""
    if word.lower() in PLURAL_DESPITE_UNCOUNTABLE:
        return word + "s"
    if word.lower() in UNCOUNTABLE or _matches(word, LOOKS_PLURAL):
        return word
    changed = _first_change(word, _PLURAL_RULES)
    if changed is not None:
        return changed
    return word if word.lower().endswith("s") else word + "s"


@cache
def singular(word: str) -> str:
    """`AdditionalCredits` → `AdditionalCredit`, `Criteria` → `Criterion`; a singular is unchanged."""
    if word.lower() in UNCOUNTABLE or _matches(word, (pattern for pattern, _ in IRREGULAR)):
        return word
    changed = _first_change(word, SINGULAR)
    return word if changed is None else changed


_PLURAL_RULES = VERTEX_AND_INDEX + IRREGULAR


def _matches(word: str, patterns: Iterable[re.Pattern[str]]) -> bool:
    return any(pattern.search(word) for pattern in patterns)


def _first_change(word: str, rules: Iterable[Rule]) -> str | None:
    """The word after the first rule that fits, or None if none does."""
    for pattern, replacement in rules:
        if pattern.search(word):
            return pattern.sub(replacement, word, count=1)
    return None
