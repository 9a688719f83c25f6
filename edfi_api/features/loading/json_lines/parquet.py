"""Documents as Parquet, for analytics: a file per resource, with typed columns as the JSON schema of its body says.

Reference objects are structs, collections lists of structs, times of day texts. Decimals have the digits of the model;
what a client has sent after those is rounded, JSON Lines have it. Needs pyarrow, which is not installed by default.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

from edfi_api.core.documents import json_text
from edfi_api.core.documents.paths import values_at
from edfi_api.features.loading.exceptions import PyArrowMissing
from edfi_api.features.loading.json_lines.exporting import WriteResource, whole_files
from edfi_api.model.surface.resource import ALL_ITEMS, DecimalLimit, JsonPath, Resource

try:
    import pyarrow
    import pyarrow.json
    import pyarrow.parquet
except ImportError:
    pyarrow = None

_ROW_GROUP_BYTES = 32 * 1024 * 1024
_MOST_DIGITS = 38
_ROUNDING = Context(prec=1_000, rounding=ROUND_HALF_UP)


@contextmanager
def into_parquet(folder: Path, resources: Iterable[Resource]) -> Iterator[WriteResource]:
    """A file for each resource, named after it, also without rows. Raises PyArrowMissing."""
    if pyarrow is None:
        raise PyArrowMissing

    def write(resource: Resource, pages: Iterable[Sequence[str]]) -> None:
        read, stored = (_Columns(type_of, resource.decimals).schema(resource) for type_of in (_read_as, _stored_as))
        with pyarrow.parquet.ParquetWriter(growing(resource), stored, compression="zstd") as file:
            for text in _row_groups(pages):
                file.write_table(_table(text, read, resource.decimals).cast(stored))

    with whole_files(folder, resources, ".parquet") as growing:
        yield write
        for resource in resources:
            if not growing(resource).exists():
                write(resource, ())


def _table(text: bytes, schema: Any, decimals: Sequence[DecimalLimit]) -> Any:
    try:
        return _read(text, schema)
    except pyarrow.ArrowInvalid:
        return _read(_rounded(text, decimals), schema)


def _rounded(text: bytes, decimals: Sequence[DecimalLimit]) -> bytes:
    """The bodies with the decimal places of the model."""
    bodies = [json_text.loads(line) for line in text.splitlines()]
    for limit in decimals:
        *around, name = limit.path.steps
        unit = Decimal(1).scaleb(-limit.decimal_places)
        for body in bodies:
            for _, value in values_at(body, tuple(around)):
                if name in value:
                    value[name] = Decimal(str(value[name])).quantize(unit, context=_ROUNDING)
    return b"\n".join(map(json_text.dumps, bodies))


def _read(text: bytes, schema: Any) -> Any:
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


@dataclass(frozen=True)
class _Columns:
    """Types of columns: `type_of` a text, by its JSON schema, and of the other members."""

    type_of: Callable[[dict[str, Any]], Any]
    decimals: Sequence[DecimalLimit]

    def schema(self, resource: Resource) -> Any:
        return pyarrow.schema(self._fields(resource.json_schema, JsonPath(())))

    def _fields(self, schema: dict[str, Any], path: JsonPath) -> list[tuple[str, Any]]:
        """Name and type of every member; Parquet has no struct without members."""
        members = schema["properties"].items()
        return [(name, self._type(member, path / name)) for name, member in members if member.get("properties") != {}]

    def _type(self, schema: dict[str, Any], path: JsonPath) -> Any:
        match schema["type"]:
            case "object":
                return pyarrow.struct(self._fields(schema, path))
            case "array":
                return pyarrow.list_(self._type(schema["items"], path / ALL_ITEMS))
            case "integer":
                return pyarrow.int64()
            case "number":
                return self._number(path)
            case "boolean":
                return pyarrow.bool_()
        return self.type_of(schema)

    def _number(self, path: JsonPath) -> Any:
        """A decimal, or a double where the model does not say its digits, or more than a decimal has."""
        limits = (limit for limit in self.decimals if limit.path == path and limit.total_digits <= _MOST_DIGITS)
        limit = next(limits, None)
        return pyarrow.float64() if limit is None else pyarrow.decimal128(limit.total_digits, limit.decimal_places)


def _read_as(schema: dict[str, Any]) -> Any:
    """Return what pyarrow can make of a JSON string: it reads timestamps, but no dates."""
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
