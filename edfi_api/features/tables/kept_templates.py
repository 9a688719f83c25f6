"""Templates from files of either form, and those that are kept."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import orjson

from edfi_api.features.tables.data_import import is_of_data_import, read_data_import
from edfi_api.features.tables.exceptions import InvalidTemplate
from edfi_api.features.tables.members import Members
from edfi_api.features.tables.models import TableTemplate
from edfi_api.features.tables.reading import Header, Table
from edfi_api.features.tables.suggesting import suggested
from edfi_api.features.tables.template import MappedMember, Template, read_template, template_of
from edfi_api.model.surface.resource import Resource

MOST_BYTES = 2**20
# Rows whose cells say what a column is.
_LOOKED_AT = 20


class ReadTemplate(NamedTuple):
    """A template, and sentences about what was left out of it."""

    template: Template
    left_out: Sequence[str] = ()


def templates_in(text: bytes) -> list[ReadTemplate]:
    """The templates of a file: one of ours, or those of an export of Ed-Fi's Data Import. Raises InvalidTemplate."""
    if len(text) > MOST_BYTES:
        raise InvalidTemplate(["A template has one megabyte at most."])
    try:
        decoded = orjson.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise InvalidTemplate(["This is not JSON."]) from error
    if is_of_data_import(decoded):
        read = read_data_import(decoded)
        return [ReadTemplate(each, read.left_out) for each in read.templates]
    return [ReadTemplate(read_template(orjson.dumps(decoded)))]


def templates_named(named: str) -> list[ReadTemplate]:
    """The kept template of this name, or those of the file. Raises InvalidTemplate, and OSError for a file that cannot
    be read."""
    kept = TableTemplate.objects.filter(name=named).first()
    if kept is not None:
        return [ReadTemplate(template_of(kept.content), kept.left_out)]
    path = Path(named)
    if not path.is_file():
        raise InvalidTemplate([f"There is neither a kept template nor a file {named}."])
    with path.open("rb") as file:
        return templates_in(file.read(MOST_BYTES + 1))


def template_of_headers(header: Header, resource: Resource) -> Template:
    """The template of a table whose headers are members by their paths, `schoolReference.schoolId`; columns with other
    headers are left out. Raises InvalidTemplate if there is none."""
    members = Members(resource)
    names = {each.path for each in members.all}
    found = [MappedMember(name, name) for name in header.columns if name in names]
    if not found:
        raise InvalidTemplate(["No header is the path of a member. Name a template."])
    return Template(resource.url_path, tuple(found))


def suggested_template(table: Table, resource: Resource) -> Template:
    """The template that the columns suggest."""
    rows = [row.cells for row in islice(table.rows(), _LOOKED_AT)]
    return Template(resource.url_path, tuple(suggested(table.header.columns, Members(resource), rows)))
