"""Why a rule cannot be run, in words without values of documents."""

import traceback

import psycopg

from edfi_api.features.validation.finding import RuleFault
from edfi_api.features.validation.login import NoLogin
from edfi_api.features.validation.query_text import QueryFault
from edfi_api.features.validation.rule import Rule
from edfi_api.features.validation.values import UnusableValue
from edfi_api.model.surface.resource import Resource, Surface


def resource_of(rule: Rule, surface: Surface) -> Resource:
    """The resource of the offending documents. Raises RuleFault."""
    resource = surface.resource_at(rule.resource)
    if resource is None:
        raise RuleFault(f"the standard has no resource {rule.resource}; one reads like ed-fi/students")
    return resource


def fault_of(error: BaseException, rule: Rule) -> str:
    """Why a rule failed, without values of documents. Class 42 is about names and syntax of the rule's own text."""
    if isinstance(error, RuleFault | QueryFault | UnusableValue | NoLogin):
        return str(error)
    if isinstance(error, psycopg.Error):
        state = error.sqlstate or ""
        text = error.diag.message_primary if state.startswith("42") or state == "25006" else ""
        return f"{type(error).__name__}{f': {text}' if text else ''} ({state})"
    lines = [step.lineno for step in traceback.extract_tb(error.__traceback__) if step.filename == str(rule.path)]
    return f"{type(error).__name__}{f' in line {lines[-1]}' if lines else ''}"
