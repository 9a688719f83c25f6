"""Model and surface → all views; those of the configured model, for a database; and the texts of what can keep them
from being created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.commands import ErrorTexts
from edfi_api.common.conf import api_settings
from edfi_api.core.documents.securables import SecurableKind
from edfi_api.core.served import current_surface, is_api_schema
from edfi_api.core.storage import resource_types
from edfi_api.features.sql_views.bodies import ResourceBodies
from edfi_api.features.sql_views.casts import column_type
from edfi_api.features.sql_views.changes import ViewsNotInstalled
from edfi_api.features.sql_views.checks import current_fingerprint
from edfi_api.features.sql_views.definitions import Definition, definitions
from edfi_api.features.sql_views.tables import UnusableNames, sql_tables
from edfi_api.features.sql_views.views import READ_ONLY, Person, View, views
from edfi_api.model.apischema.format import ApiSchemaError
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.metaed.core_names import (
    CONTACT_PATHWAY,
    EDUCATION_ORGANIZATION,
    RESPONSIBILITY_PATHWAY,
    STAFF_PATHWAY,
    STUDENT_PATHWAY,
)
from edfi_api.model.metaed.errors import ModelErrors
from edfi_api.model.metaed.model import CORE_NAMESPACE, EntityKey, EntityKind, Model
from edfi_api.model.surface.resource import ResourceName, Surface

SCHEMA = "auth"

_SOURCE = "sourceeducationorganizationid"
_TARGET = "targeteducationorganizationid"
_PARENT = EntityKey(CORE_NAMESPACE, EntityKind.DOMAIN_ENTITY, "Parent")


def all_views(model: Model, surface: Surface, numbers: Mapping[ResourceName, int]) -> list[View]:
    """A view for each table of the ODS, then those of the schema `auth`.

    `numbers` are those of the resource types; all resources of the surface must have one. Raises UnusableNames.
    """
    bodies = ResourceBodies(model, surface, numbers)
    return [*views(sql_tables(model), bodies), *authorization_views(model, surface, numbers)]


@dataclass(frozen=True, slots=True)
class CurrentViews:
    """The views, their definitions, what identifies the model and the code that they come from, and the model."""

    views: list[View]
    definitions: list[Definition]
    fingerprint: str
    model: Model


def current_views(using: str) -> CurrentViews:
    """The views of the configured projects.

    Raises ImproperlyConfigured if one of them is an ApiSchema file, LookupError if `migrate` has to be run first, and
    what compiling raises.
    """
    files = [path for path in api_settings.model_sources if is_api_schema(path)]
    if files:
        raise ImproperlyConfigured(
            f"{files[0]} is an ApiSchema file, which has neither the prefixes nor the tables of the ODS: SQL views need"
            " the MetaEd text of the standard and of all extensions"
        )
    surface, numbers = current_surface(), resource_types.numbers(using)
    missing = sorted(resource.name.resource for resource in surface.resources if resource.name not in numbers)
    if missing:
        raise LookupError(f"the database has no resource types for {', '.join(missing[:5])}: run migrate")
    model = compile_projects(list(api_settings.model_sources))
    views = all_views(model, surface, numbers)
    return CurrentViews(views, definitions(views, surface), current_fingerprint(), model)


def authorization_views(model: Model, surface: Surface, numbers: Mapping[ResourceName, int]) -> Iterator[View]:
    """The views of `auth`; none for a standard without education organizations."""
    organization = model.entities.get(EDUCATION_ORGANIZATION)
    if organization is None:
        return
    # Data standards before 5 have parents.
    contact = "parent" if _PARENT in model.entities else "contact"
    type_ = column_type(next(prop for prop in organization.properties if prop.is_identity))
    columns = ((_SOURCE, f"c.ancestor_id::{type_}"), (_TARGET, f"c.descendant_id::{type_}"))
    closure = f"FROM public.organization_closure c\n  {READ_ONLY}"
    yield View(SCHEMA, "educationorganizationidtoeducationorganizationid", columns, closure)
    found = _Associations(surface, numbers, type_)
    yield from found.people("student", SecurableKind.STUDENT, STUDENT_PATHWAY)
    yield from found.people(contact, SecurableKind.CONTACT, CONTACT_PATHWAY, enrollment=STUDENT_PATHWAY)
    yield from found.people("staff", SecurableKind.STAFF, STAFF_PATHWAY)
    yield from found.people("student", SecurableKind.STUDENT, RESPONSIBILITY_PATHWAY, suffix="throughresponsibility")


@dataclass(frozen=True, slots=True)
class _Associations:
    surface: Surface
    numbers: Mapping[ResourceName, int]
    type: str

    def people(
        self, person: str, kind: SecurableKind, pathway: str, *, enrollment: str = "", suffix: str = ""
    ) -> Iterator[View]:
        """The organizations above those of the associations with their people; contacts by way of the enrollments of
        their students. None if the standard has no such association."""
        if not self._on(pathway):
            return
        joins = [f"FROM public.document d{self._of_enrollments(enrollment)}"]
        place = "e" if enrollment else "d"
        joins += [
            f"JOIN public.organization_closure c ON c.descendant_id = {place}.organization",
            f"JOIN public.document p ON {Person(kind).condition('p', f'd.{kind}')}",
            f"WHERE d.opens_pathway AND {self._of_types('d', pathway)}",
        ]
        if not enrollment:
            joins.append("  AND d.organization IS NOT NULL")
        columns = ((_SOURCE, f"c.ancestor_id::{self.type}"), (f"{person}usi", "p.id::integer"))
        name = f"educationorganizationidto{person}usi{suffix}"
        yield View(SCHEMA, name, columns, "\n  ".join(joins), keyword="DISTINCT ")

    def _of_enrollments(self, pathway: str) -> str:
        if not pathway:
            return ""
        found = "e.opens_pathway AND e.organization IS NOT NULL AND e.student = d.student"
        return f"\n  JOIN public.document e ON {found} AND {self._of_types('e', pathway)}"

    def _of_types(self, alias: str, pathway: str) -> str:
        return f"{alias}.resource_type_id IN ({', '.join(map(str, self._on(pathway)))})"

    def _on(self, pathway: str) -> list[int]:
        resources = self.surface.resources
        return sorted(self.numbers[each.name] for each in resources if pathway in each.authorization_pathways)


def _lines(values: Any) -> str:
    return "\n".join(map(str, values))


ERRORS_OF_SQL_VIEWS: ErrorTexts = {
    ViewsNotInstalled: lambda refused: _lines(refused.args),
    UnusableNames: lambda refused: _lines(refused.args),
    ModelErrors: lambda errors: _lines(errors.problems),
    ApiSchemaError: str,
    ImproperlyConfigured: str,
    LookupError: str,
}
