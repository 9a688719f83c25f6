"""Derives the names of JSON members, endpoints, URL segments and elements of interchange XML from MetaEd names.

All functions work on one name or one property at a time; `declarations` determines which properties a document has,
and `path_table` where they are in it. An element of interchange XML is named by role and name of its property, never in
the plural, and a reference has a suffix; source: the XML schemas and sample files of the Ed-Fi data standard.

Plural and singular are formed as Ed-Fi's own tools form them. The published names come from a general-purpose English
inflector with gaps and bugs (`beta` is treated as a plural, `diagnosis` as irregular), so a correct dictionary would
give different names. Matching is case-insensitive; the unchanged part of a word keeps its case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from edfi_api.model.metaed.model import DESCRIPTOR_SUFFIX, Entity, EntityKind, Property, PropertyType

Rule = tuple[re.Pattern[str], str]
REFERENCE_SUFFIX = "Reference"
EXTENSIONS = "_ext"
SCHOOL_YEAR_RESOURCE = "SchoolYearType"
_LEADING_CAPITALS = re.compile(r"[A-Z]*")
# An acronym, a single capital before a capitalized word, a word, a single capital with its digits; all else separates.
_URL_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z](?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z][0-9]*")
_TITLE_WORD = re.compile(r"[A-Z]?[^A-Z]*")


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


# The words that have no plural in the ODS/API, which knows fewer of them.
ODS_UNCOUNTABLE = frozenset({"equipment", "fish", "information", "money", "rice", "series", "sheep", "species"})


@cache
def ods_plural(name: str) -> str:
    """The plural that the ODS/API forms, of the last word alone: `drugInformation` → `drugInformation`, `health` →
    `healths`, `ombudsman` → `ombudsmen`. All others are those of `plural`."""
    last_word = _words(name)[-1].lower()
    if last_word in ODS_UNCOUNTABLE:
        return name
    if last_word.endswith("man"):
        return name[:-2] + "en"
    return name + "s" if name.lower() in UNCOUNTABLE else plural(name)


def _matches(word: str, patterns: Iterable[re.Pattern[str]]) -> bool:
    return any(pattern.search(word) for pattern in patterns)


def _first_change(word: str, rules: Iterable[Rule]) -> str | None:
    """The word after the first rule that fits, or None if none does."""
    for pattern, replacement in rules:
        if pattern.search(word):
            return pattern.sub(replacement, word, count=1)
    return None


def is_descriptor_name(name: str) -> bool:
    """Return whether this resource is a descriptor, or this member (or the member that a path ends with) holds one.

    MetaEd reserves the suffix: no other entity and no other property may have a name with it.
    """
    return name.endswith(DESCRIPTOR_SUFFIX)


@cache
def lower_camel(text: str) -> str:
    """`School` → `school`, `IDEAPart` → `ideaPart`, `URIs` → `uris`; changes only a leading acronym."""
    capitals = _leading_capitals(text)
    if capitals <= 1:
        return text[:capitals].lower() + text[capitals:]
    if text.isupper() or (text[:-1].isupper() and text.endswith("s")):
        return text.lower()
    return text[: capitals - 1].lower() + text[capitals - 1 :]


def _leading_capitals(text: str) -> int:
    match = _LEADING_CAPITALS.match(text)
    return match.end() if match else 0


def with_prefix(prefix: str, name: str) -> str:
    """`Program` and `EducationOrganizationId` are joined, `Program` and `ProgramName` are not."""
    return name if name.startswith(prefix) else prefix + name


@cache
def url_segment(project_name: str) -> str:
    """The first segment of a project's endpoints: `Ed-Fi` → `ed-fi`, `TPDM` → `tpdm`; state codes (`TX`) keep case."""
    if re.fullmatch(r"[A-Z]{2}", project_name):
        return project_name
    return "-".join(_URL_WORD.findall(project_name)).lower()


def extension_key(project_name: str) -> str:
    """The member of `_ext` that holds a project's additions. Not the URL segment: `Ed-Fi-X` is `ed-fi-x` either way,
    but `GrandBend` is `grandbend` here and `grand-bend` there."""
    return project_name.lower()


def bare_key(name: str) -> str:
    """A key of `_ext` without what tells its spellings apart: the URL segment `grand-bend` is `grandbend`."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def resource_name(entity: Entity) -> str:
    """The resource name of an entity: `School`, `GradeLevelDescriptor`, `SchoolYearType`."""
    if entity.kind is EntityKind.DESCRIPTOR:
        return with_suffix(entity.name, DESCRIPTOR_SUFFIX)
    if entity.kind is EntityKind.SCHOOL_YEAR_ENUMERATION:
        return SCHOOL_YEAR_RESOURCE
    return entity.name


def endpoint_name(resource: str) -> str:
    """`Person` → `people`, `GradeLevelDescriptor` → `gradeLevelDescriptors`."""
    return plural(lower_camel(resource))


def role_prefix(prop: Property) -> str:
    """The role in generated names: its short form if there is one."""
    return prop.shorten_to or prop.role_name


def adjusted_name(prop: Property) -> str:
    """Role and name, without the role if the name begins with it: `GradeLevel` in the role `Grade`."""
    if not prop.shorten_to and prop.name.startswith(prop.role_name):
        return prop.name
    return role_prefix(prop) + prop.name


def stripped_name(prop: Property) -> str:
    """The adjusted name without the repeated name of the declaring entity: `BusRouteStop` of `BusRoute` is `Stop`.

    References keep their names, and a name is never stripped to an empty one.
    """
    name = adjusted_name(prop)
    return name if prop.type.is_reference else name.removeprefix(_repeated_part(name, prop)) or name


def _repeated_part(name: str, prop: Property) -> str:
    parent = prop.declared_by.name
    last_word = _words(parent)[-1]
    if name.startswith(parent):
        return parent
    if _words(name)[0] == last_word:
        return last_word
    return prop.role_name if parent.endswith(prop.role_name) else ""


def member_name(prop: Property, *, is_shortened: bool = True) -> str:
    """A property's name in its object, in the model's case: `Stops`, `GradeLevelDescriptor`, `SchoolReference`.

    `is_shortened` false keeps the entity's name, where two shortened names would be equal.
    """
    short_name = stripped_name(prop) if is_shortened else adjusted_name(prop)
    if prop.is_collection:
        return plural(short_name)
    match prop.type:
        case PropertyType.DESCRIPTOR:
            return with_suffix(prop.full_name, DESCRIPTOR_SUFFIX)
        case PropertyType.SCHOOL_YEAR_ENUMERATION:
            return prop.role_name + SCHOOL_YEAR_RESOURCE + REFERENCE_SUFFIX
        case PropertyType.DOMAIN_ENTITY | PropertyType.ASSOCIATION:
            return adjusted_name(prop) + REFERENCE_SUFFIX
        case PropertyType.COMMON:
            return short_name
        case _:
            return adjusted_name(prop)


def item_name(prop: Property, prefix: str) -> str:
    """The single member of an item of a collection that is not one of commons: `SchoolReference`, `HolderAlias`."""
    match prop.type:
        case PropertyType.DESCRIPTOR:
            return with_prefix(prefix, with_suffix(prop.name, DESCRIPTOR_SUFFIX))
        case PropertyType.SCHOOL_YEAR_ENUMERATION:
            return with_prefix(prefix, prop.role_name + SCHOOL_YEAR_RESOURCE + REFERENCE_SUFFIX)
        case PropertyType.DOMAIN_ENTITY | PropertyType.ASSOCIATION:
            return with_prefix(prefix, adjusted_name(prop) + REFERENCE_SUFFIX)
        case _:
            return singular(with_prefix(prefix, adjusted_name(prop)))


def identity_value_name(chain: tuple[Property, ...], prefix: str) -> str:
    """The member of a reference object for the identity value at the end of `chain`, from the target downwards.

    `Bus` in the role `Primary` gives `PrimaryBusId`: the name has the role next to the value, and before it all roles
    on the chain that are equal to the name of their property. `prefix` comes from the inline commons around the
    reference.
    """
    value = chain[-1]
    name = with_suffix(value.full_name, DESCRIPTOR_SUFFIX) if _is_descriptor(value) else adjusted_name(value)
    next_role = role_prefix(chain[-2]) if len(chain) > 1 else ""
    if not _same_name_roles(chain[:-2]):
        return with_prefix(prefix + next_role, with_prefix(_same_name_roles(chain), name))
    if not _has_same_name_role(chain[-2]):
        name = with_prefix(next_role, name)
    return with_prefix(prefix, with_prefix(_same_name_roles(chain), name))


def _same_name_roles(chain: tuple[Property, ...]) -> str:
    roles = ""
    for prop in chain:
        if _has_same_name_role(prop):
            roles = with_prefix(roles, role_prefix(prop))
    return roles


def _has_same_name_role(prop: Property) -> bool:
    return prop.role_name == prop.name


def joined_without_overlap(parts: tuple[str, ...]) -> str:
    """`NextSchool` and `SchoolId` are `NextSchoolId`: the beginning of a part is not repeated."""
    text = ""
    for part in parts:
        text += part[_overlap(text, part) :]
    return text


def _overlap(text: str, part: str) -> int:
    return next((size for size in range(min(len(text), len(part)), 0, -1) if text.endswith(part[:size])), 0)


def _words(name: str) -> list[str]:
    """Split before every capital, so an acronym becomes single characters."""
    return [word for word in _TITLE_WORD.findall(name) if word] or [name]


def with_suffix(name: str, suffix: str) -> str:
    """The name, with the suffix added unless it already has it."""
    return name if name.endswith(suffix) else name + suffix


def _is_descriptor(prop: Property) -> bool:
    return prop.type is PropertyType.DESCRIPTOR


ROOT_PREFIX = "Interchange"


def element_name(prop: Property) -> str:
    """`GradeLevel` for a collection of descriptors, `HomeSchoolReference` for a reference to a school."""
    return prop.full_name + REFERENCE_SUFFIX if prop.type.is_reference else prop.full_name


def reference_element(entity: str) -> str:
    """A reference without a role name, as below the root of an interchange."""
    return entity + REFERENCE_SUFFIX


def map_element(descriptor: str) -> str:
    """The element of a descriptor's mapped value, in files of old standards."""
    return f"{descriptor}Map"


def identity_element(entity: str) -> str:
    """The element of an entity's identity, inside a reference to it."""
    return f"{entity}Identity"


def lookup_element(entity: str) -> str:
    """The element of a look-up of an entity, inside a reference to it."""
    return f"{entity}Lookup"
