"""Names of tables and columns as the ODS has them in PostgreSQL."""

from hashlib import sha256

from edfi_api.model.surface.columns import TableName

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
    """The name of an object in SQL. A schema may be called like a reserved word; behind it, every word is a name."""
    return f'"{schema}".{name}' if name else f'"{schema}"'
