"""Documents as Parquet, for analytics: a file per resource, with typed columns as the JSON schema of its body says.

Reference objects are structs, collections lists of structs, times of day texts. Numbers with decimals are doubles; JSON
Lines have every digit. Needs pyarrow, which is not installed by default.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from edfi_api.loading.json_lines.exceptions import PyArrowMissing
from edfi_api.loading.json_lines.exporting import WriteResource, whole_files
from edfi_api.model.surface.resource import Resource

try:
    import pyarrow
    import pyarrow.json
    import pyarrow.parquet
except ImportError:
    pyarrow = None

_ROW_GROUP_BYTES = 32 * 1024 * 1024


@contextmanager
def into_parquet(folder: Path, resources: Iterable[Resource]) -> Iterator[WriteResource]:
    """A file for each resource, named after it; PyArrowMissing if that cannot be."""
    if pyarrow is None:
        raise PyArrowMissing

    def write(resource: Resource, pages: Iterable[Sequence[str]]) -> None:
        read, stored = (pyarrow.schema(_fields(resource.json_schema, type_of)) for type_of in (_read_as, _stored_as))
        with pyarrow.parquet.ParquetWriter(growing(resource), stored, compression="zstd") as file:
            for text in _row_groups(pages):
                file.write_table(_table(text, read).cast(stored))

    with whole_files(folder, resources, ".parquet") as growing:
        yield write


def _table(text: bytes, schema: Any) -> Any:
    return pyarrow.json.read_json(
        BytesIO(text),
        read_options=pyarrow.json.ReadOptions(block_size=len(text)),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )


def _row_groups(pages: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """JSON Lines in pieces that are worth a row group each."""
    group = bytearray()
    for page in pages:
        group += "".join([f"{body}\n" for body in page]).encode()
        if len(group) > _ROW_GROUP_BYTES:
            yield bytes(group)
            group.clear()
    if group:
        yield bytes(group)


def _fields(schema: dict[str, Any], type_of: Callable[[dict[str, Any]], Any]) -> list[tuple[str, Any]]:
    """Name and type of every member; Parquet has no struct without members."""
    members = schema["properties"].items()
    return [(name, _type(member, type_of)) for name, member in members if member.get("properties") != {}]


def _type(schema: dict[str, Any], type_of: Callable[[dict[str, Any]], Any]) -> Any:
    match schema["type"]:
        case "object":
            return pyarrow.struct(_fields(schema, type_of))
        case "array":
            return pyarrow.list_(_type(schema["items"], type_of))
        case "integer":
            return pyarrow.int64()
        case "number":
            return pyarrow.float64()
        case "boolean":
            return pyarrow.bool_()
    return type_of(schema)


def _read_as(schema: dict[str, Any]) -> Any:
    """What pyarrow can make of a JSON string: it reads moments, but no dates."""
    match schema.get("format"):
        case "date":
            return pyarrow.timestamp("s")
        case "date-time":
            return pyarrow.timestamp("s", "UTC")
    return pyarrow.string()


def _stored_as(schema: dict[str, Any]) -> Any:
    match schema.get("format"):
        case "date":
            return pyarrow.date32()
        case "date-time":
            return pyarrow.timestamp("ms", "UTC")
    return pyarrow.string()
