"""What a process imports when it starts: each module that it does not use makes all commands and servers slower."""

import subprocess
import sys
from pathlib import Path

import pytest

from edfi_api.core.served import current_compilation

_TOP = Path(__file__).parents[3]
_LIST_MODULES = """
import os, sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "meadowlark.settings"
django.setup()

from edfi_api.core.served import current_surface

current_surface()
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """The modules of a process that has set up Django and read its surface from the cache."""
    current_compilation()  # Fills the cache.
    program = [sys.executable, "-c", _LIST_MODULES]
    ended = subprocess.run(program, cwd=_TOP, check=True, stdout=subprocess.PIPE, text=True)
    return set(ended.stdout.split())


def test_a_surface_from_the_cache_needs_no_compiler(imported: set[str]):
    assert "edfi_api.model.surface.resource" in imported
    compilers = {"lark", "edfi_api.model.metaed.compiler", "edfi_api.model.xsd.files", "edfi_api.model.surface.builder"}
    assert not compilers & imported


def test_commands_do_without_the_pages_of_the_admin(imported: set[str]):
    assert not {name for name in imported if name.endswith(".admin") and name.startswith(("edfi_api.", "descriptors."))}
