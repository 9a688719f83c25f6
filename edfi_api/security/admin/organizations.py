"""Education organizations with their names, on pages of applications and clients."""

from collections.abc import Iterator, Sequence

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from ..organizations import OrganizationNames, organization_names

MOST_SHOWN = 100


def named_organizations(ids: Sequence[int], data_stores: Sequence[int]) -> SafeString:
    """A line for each id."""
    shown = ids[:MOST_SHOWN]
    lines = list(_lines(shown, organization_names(shown, data_stores))) if ids else []
    if len(ids) > MOST_SHOWN:
        lines.append(f"and {len(ids) - MOST_SHOWN} more")
    return format_html_join("", "{}<br>", ((line,) for line in lines)) or SafeString("-")


def unknown_organizations(ids: Sequence[int], data_stores: Sequence[int]) -> list[str]:
    """A sentence about those that do not exist: no error, since an application may be made before them."""
    found = organization_names(ids, data_stores)
    unknown = sorted(set(ids) - found.names.keys()) if found.is_complete else []
    return [f"There is no education organization {', '.join(map(str, unknown))} yet."] if unknown else []


def _lines(ids: Sequence[int], found: OrganizationNames) -> Iterator[str]:
    without_name = "does not exist yet" if found.is_complete else "not found; not every data store answers"
    for id_ in ids:
        yield f"{id_}: {found.names.get(id_, without_name)}"
