"""The MetaEd language: text of data standards and extensions → the linked model."""

from edfi_api.model.metaed.compiler import check_projects, compile_projects
from edfi_api.model.metaed.errors import MetaEdError, ModelErrors, Problem, Severity

__all__ = ["MetaEdError", "ModelErrors", "Problem", "Severity", "check_projects", "compile_projects"]
