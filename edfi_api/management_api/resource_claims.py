"""Resource claims in the bodies of claim sets ↔ grants, and how the management API names and numbers them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from edfi_api.security.actions import Action
from edfi_api.security.claim_uris import BEGINNING, claim_uri
from edfi_api.security.claims_file import ByAction, Claims
from edfi_api.security.policies.table import STRATEGIES
from edfi_api.security.strategy_faults import unknown_for
from edfi_api.startup import current_surface

from . import problems

ACTION_IDS: Mapping[str, int] = {action.value: number for number, action in enumerate(Action, start=1)}
STRATEGY_IDS: Mapping[str, int] = {name: number for number, name in enumerate(STRATEGIES, start=1)}
_ACTIONS = {action.value.lower(): action.value for action in Action}
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

Grants = dict[str, ByAction]


def short_name(claim: str) -> str:
    """`student` of `ed-fi/student`."""
    return claim.rpartition("/")[2]


def display_name(strategy: str) -> str:
    """`Namespace Based` of `NamespaceBased`."""
    return _WORD.sub(" ", strategy)


def action_named(name: str) -> str | None:
    """The action of this name, in any case."""
    return _ACTIONS.get(name.lower())


def actions_in_order(by_action: ByAction) -> list[str]:
    return [action.value for action in Action if action in by_action]


def by_lineage(claims: Claims) -> Any:
    """The key by which names of claims are sorted: parents before children."""

    def lineage(name: str) -> tuple[str, ...]:
        found: list[str] = []
        step: str | None = name
        while step is not None:
            found.append(step)
            step = claims.resource_claims[step].parent
        return tuple(reversed(found))

    return lineage


def exported(grants: Grants, claims: Claims, defaults: Mapping[str, ByAction]) -> list[dict[str, Any]]:
    """The flat list of the claims on which something is granted."""
    return [
        {
            "name": short_name(name),
            "claimName": claim_uri(name),
            "parentClaimName": claim_uri(parent) if (parent := claims.resource_claims[name].parent) else None,
            "actions": [{"name": action, "enabled": True} for action in actions_in_order(grants[name])],
            "_defaultAuthorizationStrategies": _strategies_shown(defaults.get(name, {})),
            "authorizationStrategyOverrides": _strategies_shown(grants[name]),
        }
        for name in sorted(grants, key=by_lineage(claims))
    ]


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


@dataclass
class Imported:
    """What the resource claims of a body grant; `warnings` are about claims that were skipped or misplaced."""

    grants: Grants = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def imported(claim_set: str, sent: Sequence[Mapping[str, Any]], claims: Claims) -> Imported:
    """Read the resource claims of a body. Raises a Refusal with all that is wrong."""
    items = [_Item.of(each) for each in sent]
    texts = list(dict.fromkeys(text for item in items for text in item.findings(claim_set)))
    counted = Counter(item.name.lower() for item in items)
    repeated = dict.fromkeys(item.shown for item in items if counted[item.name.lower()] > 1)
    duplicates = [
        f"Only unique resource claims can be added. The following is a duplicate resource: '{shown}'."
        for shown in dict.fromkeys(shown.lower() for shown in repeated)
    ]
    if duplicates or texts:
        raise problems.invalid_data({"ResourceClaims": [*duplicates, *texts]})
    return _resolved(items, claims)


def _resolved(items: Sequence["_Item"], claims: Claims) -> Imported:
    known = {name.lower(): name for name in claims.resource_claims}
    result = Imported()
    for item in items:
        name = known.get(item.name.lower())
        if name is None:
            result.warnings.append(item.shown)
            continue
        parent = claims.resource_claims[name].parent
        if item.parent and item.parent.lower() != (parent or "").lower():
            correct = claim_uri(parent) if parent else ""
            result.warnings.append(
                f"Child resource '{item.shown}' added to the wrong parent resource. Correct parent resource is: "
                f"'{correct}'."
            )
        result.grants[name] = item.granted()
    result.warnings = list(dict.fromkeys(result.warnings))
    return result


@dataclass(frozen=True)
class _Item:
    """One resource claim of a body. `name` and `parent` are without the beginning of all URIs."""

    shown: str
    name: str
    parent: str
    actions: Sequence[tuple[str, bool]]
    overrides: Sequence[tuple[str, tuple[str, ...]]]

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> "_Item":
        """Raises a Refusal if a member has another type."""
        shown = _text(sent, "claimname") or _text(sent, "name")
        if not shown:
            raise problems.invalid_json()
        return cls(
            shown,
            shown.removeprefix(BEGINNING),
            _text(sent, "parentclaimname").removeprefix(BEGINNING),
            [(_text(each, "name"), each.get("enabled", True) is not False) for each in objects(sent, "actions")],
            [
                (_text(each, "actionname"), tuple(strategy_names(each)))
                for each in objects(sent, "authorizationstrategyoverrides")
            ],
        )

    def findings(self, claim_set: str) -> Iterator[str]:
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
            for unknown in unknown_for(action, names, current_surface()) if names else ():
                yield (
                    "This resource claim contains an authorization strategy which is not in the system. ClaimSet Name: "
                    f"'{claim_set}' Resource name: '{self.shown}' Authorization strategy: '{unknown}'."
                )

    def granted(self) -> ByAction:
        enabled = {action for name, is_enabled in self.actions if is_enabled and (action := action_named(name))}
        overrides = {action_named(name): names for name, names in self.overrides if names}
        return {action: overrides.get(action, ()) for action in actions_in_order(dict.fromkeys(enabled, ()))}


def objects(sent: Mapping[str, Any], member: str) -> list[dict[str, Any]]:
    """The objects of a member that is a list, with names in lower case. Raises a Refusal."""
    found = sent.get(member)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise problems.invalid_json()
    return [{name.lower(): value for name, value in each.items()} for each in found]


def strategy_names(sent: Mapping[str, Any]) -> list[str]:
    """The names in `authorizationStrategies`, which may be objects or texts. Raises a Refusal."""
    found = sent.get("authorizationstrategies")
    if isinstance(found, list) and all(isinstance(each, str) for each in found):
        return list(found)
    return [_text(each, "authstrategyname") or _text(each, "name") for each in objects(sent, "authorizationstrategies")]


def _text(sent: Mapping[str, Any], member: str) -> str:
    found = sent.get(member)
    if found is None:
        return ""
    if not isinstance(found, str) or "\0" in found:
        raise problems.invalid_json()
    return found
