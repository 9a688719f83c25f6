"""Profiles in XML, as definitions for the Ed-Fi ODS are written: text ↔ definitions.

Every structural problem of a file is reported with its line, not only the first. Documents with a document type are
refused before anything of them is used, so no entity is ever expanded.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from lxml import etree

from edfi_api.model.profiles.definition import (
    MOST_BYTES,
    ElementKind,
    FilterDefinition,
    FilterMode,
    Finding,
    FindingSeverity,
    MemberSelection,
    NamedMember,
    ProfileDefinition,
    ProfileRule,
    ResourceParts,
    RuleElement,
    UnreadableDefinition,
)

Choice = TypeVar("Choice", bound=StrEnum)

_RULE_CHILDREN = ("Property", "Object", "Collection", "Extension")
_CHILDREN = {
    "Profile": ("Resource",),
    "Resource": ("ReadContentType", "WriteContentType"),
    "ReadContentType": _RULE_CHILDREN,
    "WriteContentType": _RULE_CHILDREN,
    "Object": _RULE_CHILDREN,
    "Collection": (*_RULE_CHILDREN, "Filter"),
    "Extension": _RULE_CHILDREN,
    "Property": (),
    "Filter": ("Value",),
    "Value": (),
}
_ATTRIBUTES = {
    "Profile": ({"name"}, set[str]()),
    "Resource": ({"name"}, {"logicalSchema"}),
    "ReadContentType": ({"memberSelection"}, set[str]()),
    "WriteContentType": ({"memberSelection"}, set[str]()),
    "Object": ({"name", "memberSelection"}, {"logicalSchema"}),
    "Collection": ({"name", "memberSelection"}, {"logicalSchema"}),
    "Extension": ({"name", "memberSelection"}, {"logicalSchema"}),
    "Property": ({"name"}, set[str]()),
    "Filter": ({"propertyName", "filterMode"}, set[str]()),
    "Value": (set[str](), set[str]()),
}
_ONCE = ("ReadContentType", "WriteContentType", "Filter")
_NO_NAME = "Profile element must have a 'name' attribute."
# Which structural problem it is, for those who word it differently.
NO_RESOURCE = "Profile definition must contain at least one Resource element."
NO_RESOURCE_NAME = "'Resource' must have a 'name' attribute."
_NO_ROOT = "Profile definition XML must have a 'Profile' root element."


def read_xml(text: bytes) -> list[ProfileDefinition]:
    """The definitions of a file. Raises UnreadableDefinition with every structural problem."""
    reader = _Reader()
    profiles = [reader.profile(element) for element in _profile_elements(_root(text))]
    if reader.findings:
        raise UnreadableDefinition(sorted(reader.findings))
    return profiles


def write_xml(profiles: list[ProfileDefinition]) -> bytes:
    """A file that `read_xml` reads as these definitions."""
    root = etree.Element("Profiles")
    for profile in profiles:
        element = etree.SubElement(root, "Profile", name=profile.name)
        for resource in profile.resources:
            _write_resource(element, resource)
    etree.indent(root)
    written: bytes = etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True)
    return written


def _root(text: bytes) -> etree._Element:
    if len(text) > MOST_BYTES:
        raise _unreadable(0, f"The file has more than {MOST_BYTES // 2**20} MB.")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        raise _unreadable(error.lineno or 0, f"The file is not well-formed XML: {error.msg}") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise _unreadable(1, "The file has a document type declaration, which definitions of profiles do not have.")
    return root


def _profile_elements(root: etree._Element) -> list[etree._Element]:
    if root.tag == "Profile":
        return [root]
    if root.tag != "Profiles":
        raise _unreadable(_line(root), _NO_ROOT)
    others = [child for child in root if child.tag != "Profile"]
    if others:
        raise _unreadable(_line(others[0]), f"'Profiles' cannot contain '{_tag(others[0])}'.")
    if len(root) == 0:
        raise _unreadable(_line(root), _NO_ROOT)
    return list(root)


@dataclass
class _Reader:
    """Reads elements and collects what is wrong with them, with their lines."""

    findings: list[Finding] = field(default_factory=list)

    def profile(self, element: etree._Element) -> ProfileDefinition:
        if not element.get("name"):
            self._report(element, _NO_NAME)
        if element.find("Resource") is None:
            self._report(element, NO_RESOURCE)
        self._check_structure(element)
        resources = tuple(self._resource(child) for child in element.iterfind("Resource"))
        return ProfileDefinition(element.get("name") or "", resources, _line(element))

    def _resource(self, element: etree._Element) -> ResourceParts:
        read, write = (element.find(name) for name in _CHILDREN["Resource"])
        return ResourceParts(
            element.get("name") or "",
            element.get("logicalSchema"),
            None if read is None else self._rule(read),
            None if write is None else self._rule(write),
            _line(element),
        )

    def _rule(self, element: etree._Element) -> ProfileRule:
        return ProfileRule(
            self._choice(MemberSelection, element, "memberSelection"),
            tuple(NamedMember(child.get("name") or "", _line(child)) for child in element.iterfind("Property")),
            tuple(
                RuleElement(kind, child.get("name") or "", self._rule(child), self._filter(child))
                for kind in ElementKind
                for child in element.iterfind(kind.value)
            ),
            _line(element),
        )

    def _filter(self, element: etree._Element) -> FilterDefinition | None:
        found = element.find("Filter")
        if found is None or element.tag != ElementKind.COLLECTION:
            return None
        values = tuple((child.text or "").strip() for child in found.iterfind("Value"))
        if not values:
            self._report(found, "'Filter' must contain at least one 'Value'.")
        mode = self._choice(FilterMode, found, "filterMode")
        return FilterDefinition(found.get("propertyName") or "", mode, values, _line(found))

    def _choice(self, choices: type[Choice], element: etree._Element, attribute: str) -> Choice:
        value = element.get(attribute)
        for choice in choices:
            if choice.value == value:
                return choice
        if value is not None:
            allowed = ", ".join(choice.value for choice in choices)
            self._report(element, f"'{attribute}' of '{_tag(element)}' must be one of {allowed}, not '{value}'.")
        return next(iter(choices))

    def _check_structure(self, element: etree._Element) -> None:
        """Attributes and children of this element and of all below it."""
        tag = _tag(element)
        self._check_attributes(element, tag)
        self._check_children(element, tag)
        for child in element:
            if _tag(child) in _CHILDREN[tag]:
                self._check_structure(child)

    def _check_attributes(self, element: etree._Element, tag: str) -> None:
        required, optional = _ATTRIBUTES[tag]
        for name in sorted(required - {"name"} if tag == "Profile" else required):
            if not element.get(name):
                self._report(element, f"'{tag}' must have a '{name}' attribute.")
        for name in sorted(set(element.attrib) - required - optional):
            self._report(element, f"'{tag}' cannot have the attribute '{name}'.")

    def _check_children(self, element: etree._Element, tag: str) -> None:
        allowed = _allowed_children(element, tag)
        furthest = 0
        for child in element:
            name = _tag(child)
            if name not in allowed:
                self._report(child, f"'{tag}' cannot contain '{name}'.")
            elif name in _ONCE and child.getprevious() is not None and element.find(name) is not child:
                self._report(child, f"'{tag}' can contain '{name}' only once.")
            elif name != "Filter":
                if allowed.index(name) < furthest:
                    self._report(child, f"In '{tag}', '{name}' must stand before '{allowed[furthest]}'.")
                furthest = max(furthest, allowed.index(name))
        if tag != "Value" and any(text.strip() for text in _texts(element)):
            self._report(element, f"'{tag}' cannot contain text.")

    def _report(self, element: etree._Element, text: str) -> None:
        self.findings.append(Finding(_line(element), FindingSeverity.ERROR, text))


def _allowed_children(element: etree._Element, tag: str) -> tuple[str, ...]:
    """Extensions stand neither in extensions nor in anything below them."""
    is_below_extension = any(True for _ in element.iterancestors(ElementKind.EXTENSION.value))
    allowed = _CHILDREN[tag]
    if tag == ElementKind.EXTENSION or is_below_extension:
        return tuple(name for name in allowed if name != ElementKind.EXTENSION)
    return allowed


def _texts(element: etree._Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        yield child.tail or ""


def _tag(element: etree._Element) -> str:
    """The name; of processing instructions and entities a name that no table has."""
    return element.tag if isinstance(element.tag, str) else "processing instruction or entity"


def _line(element: etree._Element) -> int:
    return element.sourceline or 0


def _unreadable(line: int, text: str) -> UnreadableDefinition:
    return UnreadableDefinition([Finding(line, FindingSeverity.ERROR, text)])


def _write_resource(profile: etree._Element, resource: ResourceParts) -> None:
    element = etree.SubElement(profile, "Resource", name=resource.name)
    if resource.logical_schema is not None:
        element.set("logicalSchema", resource.logical_schema)
    for name, rule in zip(_CHILDREN["Resource"], (resource.read, resource.write), strict=True):
        if rule is not None:
            _write_rule(etree.SubElement(element, name), rule)


def _write_rule(element: etree._Element, rule: ProfileRule) -> None:
    element.set("memberSelection", rule.selection.value)
    for named in rule.properties:
        etree.SubElement(element, "Property", name=named.name)
    for kind in ElementKind:
        for each in rule.elements_of(kind):
            child = etree.SubElement(element, kind.value, name=each.name)
            _write_rule(child, each.rule)
            if each.filter is not None:
                _write_filter(child, each.filter)


def _write_filter(collection: etree._Element, filter_: FilterDefinition) -> None:
    attributes = {"propertyName": filter_.property_name, "filterMode": filter_.mode.value}
    element = etree.SubElement(collection, "Filter", attributes)
    for value in filter_.values:
        etree.SubElement(element, "Value").text = value
