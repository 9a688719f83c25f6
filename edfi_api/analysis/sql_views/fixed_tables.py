"""The tables and columns that do not depend on the properties of the model: descriptors, enumerations, envelopes."""

from collections.abc import Iterator
from dataclasses import replace

from edfi_api.analysis.sql_views.column_types import INTEGER, SMALL_INTEGER
from edfi_api.analysis.sql_views.names import schema_name, table_name
from edfi_api.analysis.sql_views.shape import Envelope, FixedMember, RowKind, SqlColumn, SqlTable
from edfi_api.model.metaed.model import CORE_NAMESPACE, Entity, EntityKind, Model
from edfi_api.model.surface.columns import ENUMERATION_SUFFIX, TableName
from edfi_api.model.surface.naming import resource_name, with_suffix

DISCRIMINATOR = SqlColumn("discriminator", "VARCHAR(128)", Envelope.DISCRIMINATOR, is_nullable=True)
CREATE_DATE = SqlColumn("createdate", "TIMESTAMP", Envelope.CREATE_DATE)
# The columns of the tables whose rows are documents.
DOCUMENT = (
    CREATE_DATE,
    SqlColumn("lastmodifieddate", "TIMESTAMP", Envelope.LAST_MODIFIED_DATE),
    SqlColumn("id", "UUID", Envelope.ID),
    SqlColumn("aggregateid", INTEGER, Envelope.AGGREGATE_ID),
    SqlColumn("aggregatedata", "BYTEA", Envelope.AGGREGATE_DATA, is_nullable=True),
    SqlColumn("changeversion", "BIGINT", Envelope.CHANGE_VERSION),
    SqlColumn("createdbyownershiptokenid", SMALL_INTEGER, Envelope.CREATED_BY_OWNERSHIP, is_nullable=True),
)

_DESCRIPTOR = (
    SqlColumn("descriptorid", INTEGER, FixedMember(), is_key=True),
    SqlColumn("namespace", "VARCHAR(255)", FixedMember("namespace")),
    SqlColumn("codevalue", "VARCHAR(50)", FixedMember("codeValue")),
    SqlColumn("shortdescription", "VARCHAR(75)", FixedMember("shortDescription")),
    SqlColumn("description", "VARCHAR(1024)", FixedMember("description"), is_nullable=True),
    # The API has no member for it.
    SqlColumn("priordescriptorid", INTEGER, None, is_nullable=True),
    SqlColumn("effectivebegindate", "DATE", FixedMember("effectiveBeginDate"), is_nullable=True),
    SqlColumn("effectiveenddate", "DATE", FixedMember("effectiveEndDate"), is_nullable=True),
)
_SCHOOL_YEAR = (
    SqlColumn("schoolyear", SMALL_INTEGER, FixedMember("schoolYear"), is_key=True),
    SqlColumn("schoolyeardescription", "VARCHAR(50)", FixedMember("schoolYearDescription")),
    SqlColumn("currentschoolyear", "BOOLEAN", FixedMember("currentSchoolYear")),
)
# Items of an enumeration are no documents: the columns of the envelope are empty.
_WITHOUT_DOCUMENT = tuple(replace(column, source=None, is_nullable=True) for column in DOCUMENT)


def fixed_tables(model: Model) -> Iterator[SqlTable]:
    """The tables of descriptors, enumerations and school years."""
    descriptors = list(model.of_kind(EntityKind.DESCRIPTOR))
    if descriptors:
        uri = SqlColumn("uri", "VARCHAR(306)", Envelope.URI)
        columns = (*_DESCRIPTOR, replace(DISCRIMINATOR, is_nullable=False), uri, *DOCUMENT)
        yield SqlTable(schema_name(CORE_NAMESPACE), "descriptor", RowKind.ANY_DESCRIPTOR, columns)
    yield from map(_descriptor_table, descriptors)
    for entity in model.of_kind(EntityKind.SCHOOL_YEAR_ENUMERATION):
        yield _table(entity, resource_name(entity), RowKind.SCHOOL_YEAR, (*_SCHOOL_YEAR, *DOCUMENT))
    yield from map(_enumeration_table, model.of_kind(EntityKind.ENUMERATION))


def _descriptor_table(entity: Entity) -> SqlTable:
    name = resource_name(entity)
    key = SqlColumn(f"{name}Id".lower(), INTEGER, FixedMember(), is_key=True)
    return _table(entity, name, RowKind.DESCRIPTOR, (key,))


def _enumeration_table(entity: Entity) -> SqlTable:
    name = with_suffix(entity.name, ENUMERATION_SUFFIX)
    columns = (
        SqlColumn(f"{name}Id".lower(), INTEGER, FixedMember(), is_key=True),
        SqlColumn("codevalue", "VARCHAR(50)", FixedMember("codeValue")),
        SqlColumn("description", "VARCHAR(1024)", FixedMember("description")),
        SqlColumn("shortdescription", "VARCHAR(450)", FixedMember("shortDescription")),
    )
    return _table(entity, name, RowKind.ENUMERATION, (*columns, *_WITHOUT_DOCUMENT))


def _table(entity: Entity, name: str, rows: RowKind, columns: tuple[SqlColumn, ...]) -> SqlTable:
    schema = schema_name(entity.namespace)
    return SqlTable(schema, table_name(TableName((name,))), rows, columns, entity, (), entity.documentation)
