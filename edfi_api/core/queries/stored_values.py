"""The value at a path of a stored body as SQL. Rows are named `d`.

Values are compared as JSONB: numbers as numbers, texts (dates too, whose canonical form has their order) by the
collation of the database. A missing value is JSON's null, which is less than any other. So each expression has a value
in every document, and one index on it answers all comparisons and gives an order.
"""

from edfi_api.model.surface.resource import JsonPath

MISSING = "'null'::jsonb"
# More than any text that begins with the same characters.
_LAST_CHARACTER = r"U&'\+10FFFF'"


def value_at(path: JsonPath, row: str = "d.") -> str:
    """The value as JSONB."""
    return f"coalesce({row}body{_steps(path)}, {MISSING})"


def text_at(path: JsonPath, row: str = "d.") -> str:
    """The value as a text in lower case, compared by code points; NULL if it is missing."""
    *parents, last = path.steps
    return f"lower({row}body{_steps(JsonPath(tuple(parents)))} ->> '{last}') COLLATE \"C\""


def begins_with(text: str, prefix: str) -> str:
    """Whether a text of `text_at` begins with the prefix, as the range that an index has."""
    lower = f'lower({prefix}) COLLATE "C"'
    return f"{text} >= {lower} AND {text} <= {lower} || {_LAST_CHARACTER}"


def _steps(path: JsonPath) -> str:
    return "".join(f" -> '{step}'" for step in path.steps)
