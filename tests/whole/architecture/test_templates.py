"""Every static file that a template of ours names exists."""

import re

from django.contrib.staticfiles import finders

from tests.whole.architecture.source import TOP

_NAMED = re.compile(r"""{% static ["']([^"']+)["'] %}""")


def test_static_files_of_templates_exist() -> None:
    templates = [path for path in (TOP / "edfi_api").rglob("*.html") if "templates" in path.parts]
    named = {(path.name, file) for path in templates for file in _NAMED.findall(path.read_text())}

    assert len(named) > 10
    assert {each for each in named if finders.find(each[1]) is None} == set()
