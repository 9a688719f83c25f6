"""The resource claims of one claim set as Ed-Fi's Configuration Service exports and imports them ↔ grants.

    [{"name": "students", "claimName": "http://ed-fi.org/identity/claims/domains/students",
      "parentClaimName": "http://ed-fi.org/identity/claims/domains/people",
      "actions": [{"name": "Read", "enabled": true}],
      "_defaultAuthorizationStrategies": [...],
      "authorizationStrategyOverrides": [
        {"actionName": "Read", "authorizationStrategies": [{"authStrategyName": "NamespaceBased"}]}]}]

An import ignores the default strategies, actions that are not enabled, and overrides of actions that are not granted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from edfi_api.core.security.claim_names import action_named, actions_in_order, claim_uri, short_name
from edfi_api.core.security.claims.compile import all_defaults
from edfi_api.core.security.claims.model import ByAction, ClaimNames, Claims, ClaimSetValue, Grants, lineage
from edfi_api.core.security.claims.stored_claims import load, stored_claims
from edfi_api.core.security.claims.validation import unknown_for
from edfi_api.core.security.models import ClaimSet
from edfi_api.model.surface.resource import Surface


class MalformedResourceClaims(Exception):
    """A member has another type than it should have, or a resource claim has no name; the message says where."""


class InvalidResourceClaims(Exception):
    """Resource claims break rules; `findings` has all texts."""

    def __init__(self, findings: Sequence[str]) -> None:
        super().__init__(" ".join(findings))
        self.findings = findings


@dataclass
class Imported:
    """The grants of resource claims. `unknown` are the names of those that are not in the tree, which are skipped;
    `misplaced` are messages about those whose parent is another."""

    grants: Grants = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    misplaced: list[str] = field(default_factory=list)

    @property
    def warnings(self) -> list[str]:
        """Return the warnings of both kinds, each once."""
        return list(dict.fromkeys([*self.unknown, *self.misplaced]))


def export_claim_set(claim_set: ClaimSet) -> dict[str, Any]:
    """Return the name and resource claims of a claim set. Needs a transaction, in which claims are held before
    `claim_set` is read.
    """
    claims = stored_claims(claim_set.tenant)
    grants = claims.claim_sets[claim_set.name].grants
    return {"claimSetName": claim_set.name, "resourceClaims": exported(grants, claims, all_defaults())}


def copy_claim_set(original: ClaimSet, copy: ClaimSet, by: str) -> None:
    """Store `copy` with the grants of `original`. Needs a transaction, in which claims are locked before `original` is
    read. Raises IntegrityError where the name is taken."""
    grants = stored_claims(original.tenant).claim_sets[original.name].grants
    copy.save(force_insert=True)
    replace_grants(copy, grants, by)


def replace_grants(claim_set: ClaimSet, grants: Grants, by: str) -> None:
    """Let a stored claim set grant this and nothing else. Needs a transaction, in which claims are locked before."""
    load(Claims({}, {claim_set.name: ClaimSetValue(claim_set.description, grants)}), by, tenant=claim_set.tenant)


def exported(grants: Grants, claims: Claims, defaults: Mapping[str, ByAction]) -> list[dict[str, Any]]:
    """The flat list of the claims on which something is granted, parents before children."""
    return [
        {
            "name": short_name(name),
            "claimName": claim_uri(name),
            "parentClaimName": claim_uri(parent) if (parent := claims.resource_claims[name].parent) else None,
            "actions": [{"name": action, "enabled": True} for action in actions_in_order(grants[name])],
            "_defaultAuthorizationStrategies": _strategies_shown(defaults.get(name, {})),
            "authorizationStrategyOverrides": _strategies_shown(grants[name]),
        }
        for name in by_lineage(grants, claims)
    ]


def by_lineage(names: Iterable[str], claims: Claims) -> list[str]:
    """Names of claims in the order of the tree: parents before children, siblings by name."""
    return sorted(names, key=lambda name: lineage(claims.resource_claims, name)[::-1])


def imported(claim_set: str, sent: Sequence[Mapping[str, Any]], claims: Claims, surface: Surface) -> Imported:
    """Return what resource claims, whose members have names in lower case (`objects`), grant to the claim set of this
    name.

    Raises MalformedResourceClaims, and InvalidResourceClaims with all that is wrong.
    """
    names = ClaimNames(surface, claims.resource_claims)
    items = [item for each in sent for item in _Item.all_of(each, names)]
    texts = list(dict.fromkeys(text for item in items for text in item.findings(claim_set, surface)))
    if findings := [*_duplicates(items), *texts]:
        raise InvalidResourceClaims(findings)
    return _resolved(items, claims)


def objects(sent: Mapping[str, Any], member: str) -> list[dict[str, Any]]:
    """The objects of a member that is a list, with names in lower case. Raises MalformedResourceClaims."""
    found = sent.get(member)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise MalformedResourceClaims(f"{member} is not a list of objects")
    return [{name.lower(): value for name, value in each.items()} for each in found]


def _strategies_shown(by_action: ByAction) -> list[dict[str, Any]]:
    return [
        {
            "actionId": None,
            "actionName": action,
            "authorizationStrategies": [{"authStrategyName": name} for name in by_action[action]],
        }
        for action in actions_in_order(by_action)
        if by_action[action]
    ]


def _duplicates(items: Sequence["_Item"]) -> list[str]:
    counted = Counter(item.name.lower() for item in items)
    repeated = dict.fromkeys(item.shown.lower() for item in items if counted[item.name.lower()] > 1)
    return [
        f"Only unique resource claims can be added. The following is a duplicate resource: '{shown}'."
        for shown in repeated
    ]


def _resolved(items: Sequence["_Item"], claims: Claims) -> Imported:
    known = {name.lower(): name for name in claims.resource_claims}
    result = Imported()
    for item in items:
        name = known.get(item.name.lower())
        if name is None:
            result.unknown.append(item.shown)
            continue
        parent = claims.resource_claims[name].parent
        if item.parent and item.parent.lower() != (parent or "").lower():
            correct = claim_uri(parent) if parent else ""
            result.misplaced.append(
                f"Child resource '{item.shown}' added to the wrong parent resource. Correct parent resource is: "
                f"'{correct}'."
            )
        result.grants[name] = item.granted()
    return result


@dataclass(frozen=True)
class _Item:
    """One resource claim. `name` and `parent` are without the beginning of all URIs."""

    shown: str
    name: str
    parent: str
    actions: Sequence[tuple[str, bool]]
    overrides: Sequence[tuple[str, tuple[str, ...]]]

    @classmethod
    def all_of(cls, sent: Mapping[str, Any], names: ClaimNames) -> list["_Item"]:
        """One, or one for each project with a resource of the name. Raises MalformedResourceClaims."""
        shown = _text(sent, "claimname") or _text(sent, "name")
        if not shown:
            raise MalformedResourceClaims("a resource claim has no name")
        parent = _text(sent, "parentclaimname")
        actions = [(_text(each, "name"), each.get("enabled", True) is not False) for each in objects(sent, "actions")]
        overrides = [
            (_text(each, "actionname"), tuple(_strategy_names(each)))
            for each in objects(sent, "authorizationstrategyoverrides")
        ]
        return [
            cls(shown, name, names.one_of(parent) if parent else "", actions, overrides) for name in names.all_of(shown)
        ]

    def findings(self, claim_set: str, surface: Surface) -> Iterator[str]:
        if not self.actions:
            yield f"Actions can not be empty. Resource name: '{self.shown}'"
        elif not any(is_enabled for _, is_enabled in self.actions):
            yield (
                "A resource must have at least one action associated with it to be added. Resource name: "
                f"'{self.shown}'"
            )
        for name, number in Counter(name.lower() for name, _ in self.actions).items():
            if number > 1:
                yield f"{action_named(name) or name} action is duplicated. Resource name: '{self.shown}'"
        for name, _ in self.actions:
            if action_named(name) is None:
                yield f"{name} is not a valid action. Resource name: '{self.shown}'"
        for action, names in self.granted().items():
            for unknown in unknown_for(action, names, surface) if names else ():
                yield (
                    "This resource claim contains an authorization strategy which is not in the system. ClaimSet Name: "
                    f"'{claim_set}' Resource name: '{self.shown}' Authorization strategy: '{unknown}'."
                )

    def granted(self) -> ByAction:
        enabled = {action for name, is_enabled in self.actions if is_enabled and (action := action_named(name))}
        overrides = {action_named(name): names for name, names in self.overrides if names}
        return {action: overrides.get(action, ()) for action in actions_in_order(enabled)}


def _strategy_names(sent: Mapping[str, Any]) -> list[str]:
    """The names in `authorizationStrategies`, which may be objects or texts."""
    found = sent.get("authorizationstrategies")
    if isinstance(found, list) and all(isinstance(each, str) for each in found):
        return list(found)
    return [_text(each, "authstrategyname") or _text(each, "name") for each in objects(sent, "authorizationstrategies")]


def _text(sent: Mapping[str, Any], member: str) -> str:
    found = sent.get(member)
    if found is None:
        return ""
    if not isinstance(found, str) or "\0" in found:
        raise MalformedResourceClaims(f"{member} is not a text")
    return found
