"""The public functions of the package: a model → the files of all its projects, and its problems."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass

from edfi_api.model.metaed.errors import Problem
from edfi_api.model.metaed.model import Model, Project
from edfi_api.model.xsd.core_schema import annotation_schema, core_schema
from edfi_api.model.xsd.interchange_schemas import interchange_schemas
from edfi_api.model.xsd.names import ANNOTATION_FILE
from edfi_api.model.xsd.problems import contradictions, homographs, incomplete_restrictions
from edfi_api.model.xsd.rendering import render
from edfi_api.model.xsd.schema import Schema
from edfi_api.model.xsd.schema_file import SchemaFile, SchemaFiles


@dataclass(frozen=True, slots=True)
class ProjectSchemas:
    """The schemas of one project, why they are not served, and what else there is to say about them."""

    project: Project
    schemas: tuple[Schema, ...]
    reasons_against: tuple[Problem, ...]
    advice: tuple[Problem, ...]

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (*self.reasons_against, *self.advice)


def schema_files(model: Model) -> SchemaFiles:
    """The files of all projects that have valid ones. An extension has none where the core has none."""
    projects = project_schemas(model)
    warnings = tuple(f"{problem.place}: {problem.message}" for made in projects for problem in made.problems)
    core, *extensions = projects
    if core.reasons_against:
        return SchemaFiles(warnings=warnings)
    own = {made.project.name: _files(made.schemas) for made in extensions if not made.reasons_against}
    return SchemaFiles(_files(core.schemas), own, warnings)


def schema_problems(model: Model) -> tuple[Problem, ...]:
    """Warnings about the files of all projects."""
    return tuple(problem for made in project_schemas(model) for problem in made.problems)


def project_schemas(model: Model) -> tuple[ProjectSchemas, ...]:
    """The schemas of each project, the core's first."""
    core, *extensions = model.projects
    of_core = _project_schemas(model, core, core, ())
    shared = tuple(schema for schema in of_core.schemas if schema.file_name != ANNOTATION_FILE)
    return (of_core, *(_project_schemas(model, project, core, shared) for project in extensions))


def _project_schemas(model: Model, project: Project, core: Project, shared: Sequence[Schema]) -> ProjectSchemas:
    schemas = (
        annotation_schema(model, {core.namespace, project.namespace}),
        core_schema(model, project, core.version),
        *interchange_schemas(model, project, core.version),
    )
    return ProjectSchemas(
        project=project,
        schemas=schemas,
        reasons_against=tuple(homographs(model, project)) or tuple(contradictions(project, schemas, shared)),
        advice=tuple(incomplete_restrictions(model, project)),
    )


def _files(schemas: Sequence[Schema]) -> tuple[SchemaFile, ...]:
    in_order = sorted(schemas, key=lambda schema: schema.file_name.lower())
    return tuple(SchemaFile(schema.file_name, gzip.compress(render(schema), mtime=0)) for schema in in_order)
