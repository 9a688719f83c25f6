"""The settings table in README agrees with the settings."""

import re
from pathlib import Path

import pytest

from meadowlark.environment import Variable, table
from meadowlark.settings import env

TOP = Path(__file__).parents[2]
# Files that may name a variable of an operator.
SOURCES = [path for folder in ("meadowlark", "edfi_api", "docker") for path in (TOP / folder).rglob("*")]


def test_readme_has_the_table_of_the_settings():
    """If this fails: `python -m meadowlark.environment` prints the table."""
    section = (TOP / "README.md").read_text().partition("\n## Settings\n")[2].partition("\n## ")[0]

    assert section.strip() == table(env.declared.values())


@pytest.mark.parametrize("variable", env.declared.values(), ids=lambda variable: variable.name)
def test_every_variable_has_a_meaning(variable: Variable):
    assert variable.meaning


def test_every_variable_in_the_sources_is_declared():
    texts = [path.read_text() for path in SOURCES if path.suffix in (".py", ".sh", ".yaml")]
    named = {name for text in texts for name in re.findall(r"\bMEADOWLARK_[A-Z_]*[A-Z]\b", text)}

    assert named - set(env.declared) == set()
