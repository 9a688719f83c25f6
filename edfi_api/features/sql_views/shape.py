"""Tables of the ODS as values: names as it has them in PostgreSQL, columns in order, types and keys."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from edfi_api.model.metaed.model import Entity
from edfi_api.model.surface.columns import Column, ColumnReference, TableName
from edfi_api.model.surface.path_table import PropertyPath

# PostgreSQL cuts longer names.
MAX_LENGTH = 63
_KEPT = 56
_DIGITS = 6


def table_name(name: TableName) -> str:
    """The name in lower case; a longer one than PostgreSQL has room for ends in a hash of all its parts."""
    text = str(name)
    if len(text) > MAX_LENGTH:
        whole = "".join((*name.parts, *name.appended))
        text = f"{text[:_KEPT]}_{sha256(whole.encode()).hexdigest()[:_DIGITS]}"
    return text.lower()


def schema_name(namespace: str) -> str:
    """`EdFi` → `edfi`."""
    return namespace.lower()


def qualified(schema: str, name: str = "") -> str:
    """The name of an object in SQL. A schema may be called like a reserved word; after it, every word is a name."""
    return f'"{schema}".{name}' if name else f'"{schema}"'


class RowKind(StrEnum):
    """The kind of thing that a row of a table is."""

    DOCUMENT = "document"
    COMMON = "common"
    COLLECTION = "collection item"
    EXTENSION = "additions to a document"
    COMMON_EXTENSION = "additions to a common"
    DESCRIPTOR = "descriptor of one type"
    ANY_DESCRIPTOR = "descriptor"
    SCHOOL_YEAR = "school year"
    ENUMERATION = "item of an enumeration"


class Envelope(StrEnum):
    """Columns whose values are those of the document, not of the model; the values are the columns' names."""

    DISCRIMINATOR = "discriminator"
    URI = "uri"
    CREATE_DATE = "createdate"
    LAST_MODIFIED_DATE = "lastmodifieddate"
    ID = "id"
    AGGREGATE_ID = "aggregateid"
    AGGREGATE_DATA = "aggregatedata"
    CHANGE_VERSION = "changeversion"
    CREATED_BY_OWNERSHIP = "createdbyownershiptokenid"


@dataclass(frozen=True, slots=True)
class FixedMember:
    """A value of a fixed resource, by the name of its JSON member; empty for the number of the row itself."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A column; `type` is its SQL type, `source` says where its values come from, None that it has none."""

    name: str
    type: str
    source: Column | FixedMember | Envelope | None
    is_key: bool = False
    is_nullable: bool = False
    documentation: str = ""

    def __str__(self) -> str:
        """`*schoolid int`, `middlename varchar(75)?`: a key column, one that can be null."""
        return f"{'*' if self.is_key else ''}{self.name} {self.type.lower()}{'?' if self.is_nullable else ''}"


@dataclass(frozen=True, slots=True)
class SqlTable:
    """A table. `entity` is the declaration that it belongs to: an entity, or a project's additions to one.

    `path` is the property path of the common or collection whose items are the rows; `references` are those to other
    tables.
    """

    schema: str
    name: str
    rows: RowKind
    columns: tuple[SqlColumn, ...]
    entity: Entity | None = None
    path: PropertyPath = ()
    documentation: str = ""
    references: tuple[ColumnReference, ...] = ()

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def owner(self) -> Entity:
        """Return its declaration. Raises LookupError for the table of all descriptors, which belongs to none."""
        if self.entity is None:
            raise LookupError(f"{self} belongs to no declaration")
        return self.entity

    @property
    def primary_key(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.is_key)
