"""The query fields of a resource that a view leaves."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from edfi_api.core.documents.visible_part import is_always_visible
from edfi_api.model.profiles.view import ObjectView
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import QueryField, Resource


def with_visible_fields(resource: Resource, view: ObjectView | None) -> Resource:
    """The resource with those query fields of which a place is visible, at their visible places; likewise its fields of
    identification codes.

    A place below a filter counts as hidden, since a query could find documents by their hidden items.
    """
    if view is None:
        return resource
    return replace(
        resource,
        query_fields=tuple(_visible_fields(resource.query_fields, view)),
        code_fields=tuple(_visible_fields(resource.code_fields, view)),
    )


def _visible_fields(fields: Iterable[QueryField], view: ObjectView) -> Iterator[QueryField]:
    for field in fields:
        paths = tuple(path for path in field.paths if is_always_visible(path, view))
        if field == ID_FIELD:
            yield field
        elif paths:
            yield replace(field, paths=paths)
