"""The pages of settings and commands agree with the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from edfi_api.common.conf import DEFAULTS
from edfi_api.common.settings_table import OF_THE_SERVER, SETTINGS, Setting
from meadowlark.reference_pages import pages

TOP = Path(__file__).parents[3]
# Files that may name a variable of an operator.
SOURCES = [path for folder in ("meadowlark", "edfi_api", "docker") for path in (TOP / folder).rglob("*")]


@pytest.mark.parametrize(("path", "text"), pages().items(), ids=lambda value: getattr(value, "name", ""))
def test_the_page_is_what_make_docs_writes(path: Path, text: str) -> None:
    assert path.read_text() == text


def test_make_docs_starts_without_django_being_set_up() -> None:
    subprocess.run([sys.executable, "-c", "import meadowlark.reference_pages"], cwd=TOP, check=True)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.name)
def test_every_setting_has_a_meaning(setting: Setting) -> None:
    assert setting.meaning


def test_a_setting_is_of_the_server_or_of_the_api() -> None:
    assert set(SETTINGS) >= OF_THE_SERVER
    assert set(SETTINGS) - OF_THE_SERVER <= set(DEFAULTS)


def test_every_variable_in_the_sources_and_pages_is_a_setting() -> None:
    texts = [path.read_text() for path in SOURCES if path.suffix in (".py", ".sh", ".yaml", ".md")]
    named = {name for text in texts for name in re.findall(r"\bMEADOWLARK_[A-Z_]*[A-Z]\b", text)}

    # The example has a connection string, whose variable may have any name.
    assert named - {setting.variable for setting in SETTINGS.values()} == {"MEADOWLARK_STORE_LAKESIDE"}


def test_every_argument_of_a_command_has_a_help() -> None:
    (commands,) = (text for path, text in pages().items() if path.stem == "commands")

    assert re.findall(r"^\| `.*` \|\s*\|$", commands, flags=re.MULTILINE) == []
