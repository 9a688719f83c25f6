"""Checks definitions against a surface: the views of every part, and all findings about every profile."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from edfi_api.model.profiles.definition import (
    LONGEST_NAME,
    Finding,
    FindingSeverity,
    ProfileDefinition,
    ResourceParts,
    Usage,
    is_profile_name,
)
from edfi_api.model.profiles.rules import view_of
from edfi_api.model.profiles.view import (
    ObjectView,
    ResourceMembers,
    hidden_required_members,
    members_of,
    names_in_order,
)
from edfi_api.model.surface.resource import Resource, ResourceName, Surface

_MISSING_PARTS = {
    Usage.READABLE: "{R} has no read part: clients with this profile read it without restriction.",
    Usage.WRITABLE: "{R} has no write part: clients with this profile write it without restriction.",
}


@dataclass(frozen=True, slots=True)
class CheckedProfile:
    """A definition, its findings, and the views of its parts; None is a part that hides nothing."""

    definition: ProfileDefinition
    findings: tuple[Finding, ...]
    views: Mapping[tuple[ResourceName, Usage], ObjectView | None] = field(default_factory=dict)

    @property
    def has_errors(self) -> bool:
        """Whether the definition cannot be used."""
        return any(finding.severity is FindingSeverity.ERROR for finding in self.findings)


class ProfileChecker:
    """Checks definitions against one surface; the members of a resource are found once."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._by_name: dict[str, list[Resource]] = {}
        for resource in surface.resources:
            self._by_name.setdefault(resource.name.resource.lower(), []).append(resource)
        self._members: dict[ResourceName, ResourceMembers] = {}

    def check_all(self, definitions: Sequence[ProfileDefinition]) -> list[CheckedProfile]:
        """Check the profiles of one file as `check` does each: a name must not occur twice."""
        seen: Counter[str] = Counter()
        checked = []
        for definition in definitions:
            result = self.check(definition)
            seen[definition.name.lower()] += 1
            if seen[definition.name.lower()] > 1:
                twice = Finding(
                    definition.line, FindingSeverity.ERROR, f"Profile '{definition.name}' is defined twice."
                )
                result = replace(result, findings=(*result.findings, replace(twice, profile=definition.name)))
            checked.append(result)
        return checked

    def check(self, definition: ProfileDefinition) -> CheckedProfile:
        """The views and findings of one definition."""
        findings = [*_name_findings(definition)]
        views: dict[tuple[ResourceName, Usage], ObjectView | None] = {}
        named: set[ResourceName] = set()
        for parts in definition.resources:
            resource = self.resource(parts)
            if resource is None:
                text = f"Resource '{parts.name}' does not exist in the API schema."
                findings.append(Finding(parts.line, FindingSeverity.ERROR, text))
            elif resource.name in named:
                findings.append(Finding(parts.line, FindingSeverity.ERROR, f"Resource '{parts.name}' is named twice."))
            else:
                named.add(resource.name)
                findings += self._check_parts(parts, resource, views)
        in_order = sorted(replace(finding, profile=definition.name) for finding in findings)
        return CheckedProfile(definition, tuple(in_order), views)

    def resource(self, parts: ResourceParts) -> Resource | None:
        """The resource that a definition names: of the named project, otherwise the core's before others'."""
        found = self._by_name.get(parts.name.lower(), [])
        if len(found) > 1 and parts.logical_schema is not None:
            project = parts.logical_schema.lower()
            found = [each for each in found if each.name.project.lower() == project]
        core = self._surface.core_project.name
        return min(found, key=lambda each: (each.name.project != core, each.name), default=None)

    def members(self, resource: Resource) -> ResourceMembers:
        """The members of a resource."""
        if resource.name not in self._members:
            self._members[resource.name] = members_of(resource)
        return self._members[resource.name]

    def _check_parts(
        self, parts: ResourceParts, resource: Resource, views: dict[tuple[ResourceName, Usage], ObjectView | None]
    ) -> list[Finding]:
        name, members = resource.name.resource, self.members(resource)
        findings = []
        for usage in Usage:
            part = parts.part(usage)
            if part is None:
                text = _MISSING_PARTS[usage].format(R=name)
                findings.append(Finding(parts.line, FindingSeverity.NOTICE, text))
                continue
            superclass = resource.superclass.name.resource if resource.superclass else ""
            view, found = view_of(part, name, members, usage, superclass)
            views[resource.name, usage] = view
            findings += found
            if usage is Usage.WRITABLE:
                hidden = hidden_required_members(view, members.root, members.identity)
                if hidden:
                    text = f"{name} cannot be created with this profile, which hides {names_in_order(hidden)}."
                    findings.append(Finding(part.line, FindingSeverity.NOTICE, text))
        return findings


def _name_findings(definition: ProfileDefinition) -> list[Finding]:
    if is_profile_name(definition.name):
        return []
    text = (
        f"'{definition.name[:LONGEST_NAME]}' cannot be the name of a profile: it begins with a letter, goes on with "
        f"letters, digits, '_' and '-', and has at most {LONGEST_NAME} characters."
    )
    return [Finding(definition.line, FindingSeverity.ERROR, text)]
