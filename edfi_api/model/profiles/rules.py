"""Definition and members of a resource → view, with everything that is wrong with the definition.

A part is read once from the top: each rule names members of one object, which are found in any accepted spelling,
checked, and become the view of that object. The Ed-Fi ODS names members by its classes: `StudentAddresses` for
`addresses`, `StudentUSI` for `studentUniqueId`, `SexDescriptorId` for `sexDescriptor`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from edfi_api.model.profiles.definition import (
    SERVER_MEMBERS,
    ElementKind,
    FilterDefinition,
    Finding,
    FindingSeverity,
    MemberSelection,
    NamedMember,
    ProfileRule,
    RuleElement,
    Usage,
)
from edfi_api.model.profiles.view import (
    CollectionView,
    ItemFilter,
    MemberKind,
    Members,
    ObjectView,
    ProfileMember,
    ResourceMembers,
    names_in_order,
)
from edfi_api.model.surface.naming import is_descriptor_name, plural
from references.descriptor_uri import comparable

_KINDS_OF_MEMBERS = {ElementKind.OBJECT: MemberKind.OBJECT, ElementKind.COLLECTION: MemberKind.COLLECTION}
_TYPES = {Usage.READABLE: "read", Usage.WRITABLE: "write"}


@dataclass(frozen=True, slots=True)
class Enclosing:
    """The place where a name stands: in the body of a resource, or in a member of that name. `superclass` is that of
    the resource, whose name the ODS puts before inherited members.
    """

    resource: str
    member: str = ""
    superclass: str = ""


def member_named(name: str, members: Collection[str], enclosing: Enclosing) -> str | None:
    """The JSON name of the member; None if no spelling fits."""
    if name in members:
        return name
    by_lower = {member.lower(): member for member in members}
    for variant in _variants(name):
        # The ODS writes acronyms in upper case: `IDEAEligibility` for `ideaEligibility`.
        if found := by_lower.get(variant.lower()):
            return found
    without_prefix = [
        member for variant in _variants(name) for member in members if _has_type_in_front(variant, member, enclosing)
    ]
    return max(without_prefix, key=len, default=None)


def key_named(name: str, keys: Collection[str]) -> str | None:
    """The key below `_ext` that has this name in any case; None if there is none."""
    return next((key for key in keys if key.lower() == name.lower()), None)


def _near(name: str, members: Collection[str]) -> str | None:
    """The member that an unknown name may mean: the reference of that name, otherwise a name like it."""
    by_lower = {member.lower(): member for member in members}
    alike = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.8)
    return by_lower.get(f"{name}Reference".lower()) or (by_lower[alike[0]] if alike else None)


def _variants(name: str) -> Iterator[str]:
    yield name
    if name.endswith("USI"):
        yield name.removesuffix("USI") + "UniqueId"
    if name.endswith("DescriptorId"):
        yield name.removesuffix("Id")
    elif not is_descriptor_name(name):
        yield name + "Descriptor"


def _has_type_in_front(name: str, member: str, enclosing: Enclosing) -> bool:
    prefix, last = name[: -len(member)], name[-len(member) :]
    if last.lower() != member.lower() or not last[:1].isupper():
        return False
    is_of_a_type = any(prefix.startswith(each) for each in (enclosing.resource, enclosing.superclass) if each)
    return is_of_a_type or plural(prefix.lower()) == enclosing.member.lower() != ""


@dataclass(frozen=True, slots=True)
class _Place:
    """The place where a rule stands. `container` and `name` are those of the rule element, empty for the
    body itself.
    """

    members: Members
    enclosing: Enclosing
    identity: frozenset[str] = frozenset()
    container: str = ""
    name: str = ""
    is_extension: bool = False

    def named(self, name: str) -> str | None:
        """The JSON name of the member; None if no spelling fits."""
        found = member_named(name, self.members.all_names, self.enclosing)
        return None if found is None else self.members.other_names.get(found, found)


def view_of(
    part: ProfileRule, resource: str, members: ResourceMembers, usage: Usage, superclass: str = ""
) -> tuple[ObjectView | None, list[Finding]]:
    """The view of a part, None if it hides nothing, and the findings about it."""
    reader = _PartReader(resource, usage, superclass)
    view = reader.object_view(part, _Place(members.root, reader.enclosing(), members.identity))
    return view, reader.findings


@dataclass
class _PartReader:
    resource: str
    usage: Usage
    superclass: str = ""
    findings: list[Finding] = field(default_factory=list)

    def enclosing(self, member: str = "") -> Enclosing:
        """The place of names in the body, or in a member."""
        return Enclosing(self.resource, member, self.superclass)

    @property
    def _type(self) -> str:
        return _TYPES[self.usage]

    def object_view(self, rule: ProfileRule, place: _Place) -> ObjectView | None:
        """The view of an object by its rule; None if nothing of it is hidden."""
        self._check_repetitions(rule, place)
        named = self._named(rule, place)
        narrowed, emptied = self._narrowed(rule, place)
        extensions = self._extensions(rule, place)
        whole = _whole(rule.selection, place.members.by_name.keys(), named, narrowed.keys() | emptied, place.identity)
        listed = {key for key, _ in extensions}
        unlisted = frozenset(place.members.extensions.keys() - listed)
        visible = frozenset[str]() if rule.selection is MemberSelection.INCLUDE_ONLY else unlisted
        view = ObjectView(
            whole | emptied,
            narrowed,
            visible | {key for key, each in extensions if each is None},
            {key: each for key, each in extensions if each is not None},
        )
        return None if _hides_nothing(view, place.members) else view

    def _named(self, rule: ProfileRule, place: _Place) -> set[str]:
        """The members that the rule names as a whole."""
        found = set()
        for named in rule.properties:
            member = self._member(named, "Property", rule, place)
            if member is None:
                continue
            found.add(member)
            if rule.selection is MemberSelection.INCLUDE_ALL:
                self._warn(named.line, f"Property '{named.name}' under IncludeAll says nothing.")
            if rule.selection is MemberSelection.EXCLUDE_ONLY and member in place.identity:
                self._warn(
                    named.line,
                    f"Property '{named.name}' in {self._type} content type ExcludeOnly is an identity member and "
                    "cannot be excluded.",
                )
        return found

    def _narrowed(
        self, rule: ProfileRule, place: _Place
    ) -> tuple[dict[str, ObjectView | CollectionView], frozenset[str]]:
        """The views of the members with a rule of their own, and those members of which the rule hides nothing."""
        views: dict[str, ObjectView | CollectionView] = {}
        whole = set()
        for element in rule.elements:
            if element.kind is ElementKind.EXTENSION:
                continue
            name = self._member(NamedMember(element.name, element.line), element.kind, rule, place)
            if name is None or not self._check_kind(element, place.members.by_name[name]):
                continue
            view = self._element_view(element, name, place)
            if view is None or name in place.identity:
                whole.add(name)
                if element.filter is None:
                    self._warn_of_idle_rule(element, rule)
            else:
                views[name] = view
        return views, frozenset(whole)

    def _check_kind(self, element: RuleElement, member: ProfileMember) -> bool:
        if member.kind is _KINDS_OF_MEMBERS[element.kind]:
            return True
        self._error(element.line, f"'{element.name}' is a {member.kind}, for which '{element.kind}' does not fit.")
        return False

    def _element_view(self, element: RuleElement, name: str, place: _Place) -> ObjectView | CollectionView | None:
        member = place.members.by_name[name]
        below = _Place(
            member.members or Members({}),
            self.enclosing(name),
            container=element.kind.lower(),
            name=element.name,
            is_extension=place.is_extension,
        )
        items = self.object_view(element.rule, below)
        if element.kind is ElementKind.OBJECT:
            return items
        if self.usage is Usage.WRITABLE:
            items = self._with_item_key(element, member, items)
        item_filter = self._filter(element.filter, member, below, items) if element.filter else None
        view = CollectionView(items, item_filter)
        return None if view.items is None and view.filter is None else view

    def _extensions(self, rule: ProfileRule, place: _Place) -> list[tuple[str, ObjectView | None]]:
        """The extensions that the rule names, each with its view; None is all of it."""
        found: list[tuple[str, ObjectView | None]] = []
        for element in rule.elements_of(ElementKind.EXTENSION):
            if self._is_server_member(NamedMember(element.name, element.line), element.kind):
                continue
            key = key_named(element.name, place.members.extensions.keys())
            if key is None:
                self._report_unknown_extension(element, rule)
                continue
            members = place.members.extensions[key]
            below = _Place(members, self.enclosing(), container="extension", name=element.name, is_extension=True)
            view = self.object_view(element.rule, below)
            if view is None:
                self._warn_of_idle_rule(element, rule)
            found.append((key, view))
        return found

    def _filter(
        self, definition: FilterDefinition, member: ProfileMember, place: _Place, items: ObjectView | None
    ) -> ItemFilter | None:
        named = NamedMember(definition.property_name, definition.line)
        if self._is_server_member(named, "Collection item filter property"):
            return None
        name = place.named(named.name)
        filtered = None if name is None else place.members.by_name[name]
        if name is None or filtered is None or not filtered.is_text:
            self._error(
                definition.line,
                f"The filter of '{place.name}' needs a descriptor or string, which '{named.name}' is not.",
            )
            return None
        if self.usage is Usage.WRITABLE and items is not None and not items.shows(name):
            self._error(definition.line, f"The filter of '{place.name}' looks at '{name}', which the write part hides.")
        values = [comparable(value) if filtered.is_descriptor else value for value in definition.values]
        return ItemFilter(name, frozenset(values), definition.mode, filtered.is_descriptor)

    def _with_item_key(
        self, element: RuleElement, member: ProfileMember, items: ObjectView | None
    ) -> ObjectView | None:
        """The view of the items with what identifies them, as the ODS adds it where a rule does not list it; an error
        if the rule excludes it, or if there is nothing."""
        if items is None:
            return None
        if not member.item_key:
            self._error(
                element.line,
                f"The items of '{element.name}' have no identifying values by which items that are sent could be "
                "matched with stored ones, so a write part cannot narrow them.",
            )
            return items
        hidden = sorted({path.steps[0] for path in member.item_key if not items.shows(path.steps[0])})
        if not hidden:
            return items
        if element.rule.selection is not MemberSelection.INCLUDE_ONLY:
            self._error(
                element.line,
                f"The write part hides members that identify the items of '{element.name}': "
                f"add {names_in_order(hidden)}.",
            )
            return items
        self.findings.append(
            Finding(
                element.line,
                FindingSeverity.NOTICE,
                f"The write part shows also {names_in_order(hidden)}, by which the items of '{element.name}' are "
                "matched with stored ones.",
            )
        )
        return replace(items, whole=items.whole | set(hidden))

    def _member(self, named: NamedMember, kind: str, rule: ProfileRule, place: _Place) -> str | None:
        """The JSON name of a member; None, and a finding, if there is none of this name."""
        if self._is_server_member(named, kind):
            return None
        found = place.named(named.name)
        if found is None:
            self._report_unknown(named, kind, rule, place)
        elif found != named.name:
            self.findings.append(
                Finding(named.line, FindingSeverity.NOTICE, f"'{named.name}' is read as '{found}', its name in JSON.")
            )
        return found

    def _is_server_member(self, named: NamedMember, kind: str) -> bool:
        if named.name not in SERVER_MEMBERS:
            return False
        self._error(
            named.line,
            f"{kind} '{named.name}' in {self._type} content type is a server-generated field and is not "
            "profile-addressable.",
        )
        return True

    def _report_unknown(self, named: NamedMember, kind: str, rule: ProfileRule, place: _Place) -> None:
        if place.container:
            called = "Nested object" if kind == ElementKind.OBJECT else kind
            where = f"{place.container} '{place.name}' ({self._type} content type)"
            text = f"{called} '{named.name}' in {where} does not exist."
        else:
            text = f"{kind} '{named.name}' in {self._type} content type does not exist in resource '{self.resource}'."
        if near := _near(named.name, place.members.by_name.keys()):
            text += f" Did you mean '{near}'?"
        if rule.selection is MemberSelection.INCLUDE_ONLY:
            self._error(named.line, text)
        else:
            self.findings.append(Finding(named.line, FindingSeverity.WARNING, text, is_unknown_member=True))

    def _report_unknown_extension(self, element: RuleElement, parent: ProfileRule) -> None:
        text = f"Extension '{element.name}' in {self._type} content type does not exist in resource '{self.resource}'."
        says_nothing = element.rule.selection is MemberSelection.INCLUDE_ALL
        if says_nothing and parent.selection is not MemberSelection.INCLUDE_ONLY:
            self.findings.append(Finding(element.line, FindingSeverity.WARNING, text, is_unknown_member=True))
        else:
            self._error(element.line, text)

    def _check_repetitions(self, rule: ProfileRule, place: _Place) -> None:
        members = [
            *rule.properties,
            *(
                NamedMember(element.name, element.line)
                for element in rule.elements
                if element.kind is not ElementKind.EXTENSION
            ),
        ]
        self._report_repetitions([(named, place.named(named.name) or named.name) for named in members])
        self._report_repetitions(
            [(NamedMember(each.name, each.line), each.name.lower()) for each in rule.elements_of(ElementKind.EXTENSION)]
        )

    def _report_repetitions(self, named: Iterable[tuple[NamedMember, str]]) -> None:
        seen: Counter[str] = Counter()
        for member, name in named:
            seen[name] += 1
            if seen[name] == 2:
                self._error(member.line, f"'{member.name}' is named twice at one level.")

    def _warn_of_idle_rule(self, element: RuleElement, parent: ProfileRule) -> None:
        text = f"{element.kind} '{element.name}' in {self._type} content type hides nothing."
        if parent.selection is not MemberSelection.EXCLUDE_ONLY:
            self._warn(element.line, text)
            return
        # The ODS/API removes a member that is named so.
        hiding = f'<Property name="{element.name}"/>'
        if element.kind is ElementKind.EXTENSION:
            hiding = f'<Extension name="{element.name}" memberSelection="IncludeOnly"/>'
        text += f" To hide the whole member: {hiding}. To show it: leave it out."
        self.findings.append(Finding(element.line, FindingSeverity.WARNING, text, is_idle_rule=True))

    def _warn(self, line: int, text: str) -> None:
        self.findings.append(Finding(line, FindingSeverity.WARNING, text))

    def _error(self, line: int, text: str) -> None:
        self.findings.append(Finding(line, FindingSeverity.ERROR, text))


def _whole(
    selection: MemberSelection,
    members: Iterable[str],
    named: set[str],
    with_rule: Iterable[str],
    identity: frozenset[str],
) -> frozenset[str]:
    """The members that are visible as a whole, by the selection of their object's rule."""
    choose: Callable[[set[str]], set[str]] = {
        MemberSelection.INCLUDE_ONLY: lambda all_: all_ & named,
        MemberSelection.EXCLUDE_ONLY: lambda all_: all_ - named,
        MemberSelection.INCLUDE_ALL: lambda all_: all_,
    }[selection]
    everything = set(members)
    return frozenset((choose(everything) - set(with_rule)) | (identity & everything))


def _hides_nothing(view: ObjectView, members: Members) -> bool:
    return view.whole == members.by_name.keys() and view.whole_extensions == members.extensions.keys()
