"""Property → type of its column."""

from edfi_api.model.metaed.model import Property, PropertyType

INTEGER = "INT"
SMALL_INTEGER = "SMALLINT"

_TYPES = {
    PropertyType.BOOLEAN: "BOOLEAN",
    PropertyType.CURRENCY: "MONEY",
    PropertyType.DATE: "DATE",
    PropertyType.DATETIME: "TIMESTAMP",
    PropertyType.DURATION: "VARCHAR(30)",
    PropertyType.PERCENT: "NUMERIC(5,4)",
    PropertyType.TIME: "TIME",
    PropertyType.YEAR: SMALL_INTEGER,
    PropertyType.SHORT: SMALL_INTEGER,
    PropertyType.SHARED_SHORT: SMALL_INTEGER,
    PropertyType.SCHOOL_YEAR_ENUMERATION: SMALL_INTEGER,
    # Keys of rows, and 32 bits whatever a shared integer says.
    PropertyType.DESCRIPTOR: INTEGER,
    PropertyType.ENUMERATION: INTEGER,
    PropertyType.SHARED_INTEGER: INTEGER,
}


def column_type(prop: Property) -> str:
    """The SQL type of a scalar property's column."""
    match prop.type:
        case PropertyType.STRING | PropertyType.SHARED_STRING:
            return f"VARCHAR({prop.max_length})"
        case PropertyType.DECIMAL | PropertyType.SHARED_DECIMAL:
            return f"NUMERIC({prop.total_digits},{prop.decimal_places})"
        case PropertyType.INTEGER:
            return "BIGINT" if prop.is_big else INTEGER
        case _:
            return _TYPES[prop.type]
