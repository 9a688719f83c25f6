"""The JSON schema of what is served through a view: what `projection` leaves of a valid body fits it."""

from edfi_api.core.documents.visible_part import Schema, writable_schema
from edfi_api.model.profiles.view import CollectionView, ObjectView
from edfi_api.model.surface.naming import EXTENSIONS


def readable_schema(schema: Schema, view: ObjectView) -> Schema:
    """The JSON schema of the visible part. A narrowed member is required only if something of it is always left, since
    the projection leaves out what is empty."""
    return _without_possibly_empty(writable_schema(schema, view), view)


def _without_possibly_empty(visible: Schema, view: ObjectView) -> Schema:
    members = dict(visible["properties"])
    for name, narrowed in view.narrowed.items():
        members[name] = _member(members[name], narrowed)
    if view.narrowed_extensions:
        members[EXTENSIONS] = _extensions(members[EXTENSIONS], view)
    required = [name for name in visible["required"] if name in view.whole or _is_never_empty(members[name])]
    return {**visible, "properties": members, "required": required}


def _member(schema: Schema, narrowed: ObjectView | CollectionView) -> Schema:
    if isinstance(narrowed, ObjectView):
        return _without_possibly_empty(schema, narrowed)
    if narrowed.items is None:
        return schema
    return {**schema, "items": _without_possibly_empty(schema["items"], narrowed.items)}


def _extensions(schema: Schema, view: ObjectView) -> Schema:
    narrowed = {
        key: _without_possibly_empty(schema["properties"][key], each) for key, each in view.narrowed_extensions.items()
    }
    return {**schema, "properties": schema["properties"] | narrowed}


def _is_never_empty(narrowed: Schema) -> bool:
    """Whether something is left of every object, or of every item of a collection that has items in every body."""
    if narrowed["type"] == "array":
        return narrowed.get("minItems", 0) > 0 and _is_never_empty(narrowed["items"])
    return bool(narrowed.get("required"))
