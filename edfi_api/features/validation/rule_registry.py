"""The rules of files in the database, which keeps the number of each, and what an administrator set for it."""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from edfi_api.core.storage.driver.sql_files import statements_beside
from edfi_api.features.validation.connections import Connection
from edfi_api.features.validation.rule import Rule
from edfi_api.model.surface.resource import Surface

log = logging.getLogger(__name__)

_LONGEST_LOGIC = 4000
_SAVE = statements_beside(__file__)("save_rule")
_BEFORE = "SELECT source, identifier, version, digest FROM validation_rule"


@dataclass(frozen=True, slots=True)
class RegisteredRule:
    """A rule and its number; `overrides` are texts, by the names of parameters. `published_version` and
    `published_basis` say for which change version and for what else its results are complete."""

    rule: Rule
    number: int = 0
    overrides: Mapping[str, str] = field(default_factory=dict)
    published_version: int | None = None
    published_basis: str | None = None


def register(rules: Iterable[Rule], surface: Surface, connection: Connection) -> list[RegisteredRule]:
    """Save the metadata of the rules; those that are on: active by their files, unless the admin says otherwise."""
    before = {(source, identifier): tuple(facts) for source, identifier, *facts in connection.execute(_BEFORE)}
    found = []
    for rule in rules:
        version, digest = before.get((rule.source, rule.identifier), (None, None))
        if version == rule.version and digest != rule.digest:
            log.warning("the rule %s has another text than before, but the same version %s", rule.name, version)
        [[number, is_on, overrides, *published]] = connection.execute(_SAVE.text, _columns(rule, surface))
        if is_on:
            found.append(RegisteredRule(rule, number, overrides, *published))
    return found


def _columns(rule: Rule, surface: Surface) -> dict[str, Any]:
    resource = surface.resource_at(rule.resource)
    declared = {name: {"type": each.type, "default": str(each.default)} for name, each in rule.parameters.items()}
    return {
        **{name: getattr(rule, name) for name in ("source", "identifier", "version", "digest", "language", "category")},
        **{name: getattr(rule, name) for name in ("short", "description", "help_url", "external_id", "active")},
        "file": str(rule.path),
        "resource": resource.name.resource if resource else rule.resource,
        "severity": rule.severity,
        "logic": rule.text[:_LONGEST_LOGIC] if rule.publish_logic else "",
        "declared_parameters": json.dumps(declared),
    }
