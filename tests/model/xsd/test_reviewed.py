"""The files equal the reviewed text: see reviewed.py."""

from difflib import unified_diff

import pytest

from tests.model.xsd.reviewed import NAMES, reviewed, text_of


@pytest.mark.parametrize("name", NAMES)
def test_the_files_are_the_reviewed_ones(name: str) -> None:
    """After an intended change, `python -m tests.model.xsd.reviewed` regenerates the text."""
    changes = unified_diff(reviewed(name).splitlines(), text_of(name).splitlines(), "reviewed", "now", lineterm="", n=1)

    assert list(changes) == []
