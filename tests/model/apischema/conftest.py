"""ApiSchema files for tests."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from edfi_api.model.apischema.reader import read_api_schemas
from edfi_api.model.surface.resource import Surface


@pytest.fixture
def surface_of_files(tmp_path: Path) -> Callable[..., Surface]:
    """Writes each content to a file and reads all of them."""
    numbers = count()

    def read(*contents: Any) -> Surface:
        files = [tmp_path / f"ApiSchema{next(numbers)}.json" for _ in contents]
        for file, content in zip(files, contents, strict=True):
            file.write_text(json.dumps(content))
        return read_api_schemas(files)[0]

    return read


def changed(content: Any, path: str, value: Any) -> Any:
    """A copy with another value at a path such as `projectSchema/projectName`; `...` removes it."""
    copy = json.loads(json.dumps(content))  # Unlike deepcopy, this copies shared parts separately.
    *way, last = path.split("/")
    holder = copy
    for step in way:
        holder = holder[_index(holder, step)]
    if value is ...:
        del holder[_index(holder, last)]
    else:
        holder[_index(holder, last)] = value
    return copy


def _index(holder: Any, step: str) -> int | str:
    return int(step) if isinstance(holder, list) else step
