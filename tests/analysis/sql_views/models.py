"""Models of MetaEd projects, each compiled once for all tests: that takes longer than most of them."""

from functools import cache
from pathlib import Path

from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.metaed.model import Model


@cache
def compiled(*paths: Path) -> Model:
    """The model of these projects."""
    return compile_projects(list(paths))
