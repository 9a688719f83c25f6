"""The part of a body that a view leaves: what a client may write of it, and the schema of what is read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from edfi_api.core.documents.projection import is_visible
from edfi_api.model.profiles.view import CollectionView, ObjectView
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath

Schema = dict[str, Any]


def writable_schema(schema: Schema, view: ObjectView) -> Schema:
    """The JSON schema of the visible part: hidden members are neither properties nor required. A filtered collection is
    not required either, since its hidden items may be there already."""
    shown = {}
    for name, member in schema.get("properties", {}).items():
        narrowed = view.narrowed.get(name)
        if name in view.whole:
            shown[name] = member
        elif isinstance(narrowed, ObjectView):
            shown[name] = writable_schema(member, narrowed)
        elif narrowed is not None:
            shown[name] = _writable_collection(member, narrowed)
    if extensions := _writable_extensions(schema, view):
        shown[EXTENSIONS] = extensions
    filtered = {name for name, each in view.narrowed.items() if isinstance(each, CollectionView) and each.filter}
    required = [name for name in schema.get("required", ()) if name in shown and name not in filtered]
    return {**schema, "properties": shown, "required": required}


def hidden_items(body: Mapping[str, Any], view: ObjectView, path: str = "$") -> Iterator[str]:
    """The concrete paths of items in a valid body that a filter hides: `$.addresses[1]`, nested ones too."""
    for name, narrowed in view.narrowed.items():
        if name not in body:
            continue
        if isinstance(narrowed, ObjectView):
            yield from hidden_items(body[name], narrowed, f"{path}.{name}")
            continue
        for index, item in enumerate(body[name]):
            place = f"{path}.{name}[{index}]"
            if not is_visible(item, narrowed.filter):
                yield place
            elif narrowed.items is not None:
                yield from hidden_items(item, narrowed.items, place)
    for key, narrowed_extension in view.narrowed_extensions.items():
        if key in body.get(EXTENSIONS, {}):
            yield from hidden_items(body[EXTENSIONS][key], narrowed_extension, f"{path}.{EXTENSIONS}.{key}")


def keep_emptied(sent: Any, visible: Any, view: ObjectView) -> None:
    """Restore, as empty objects, what coercion dropped from the visible part because it was sent with hidden members
    alone: extensions, and items of collections. The merge refuses those that would be new."""
    if type(sent) is not dict or type(visible) is not dict:
        return
    for name, narrowed in view.narrowed.items():
        if isinstance(narrowed, ObjectView):
            keep_emptied(sent.get(name), visible.get(name), narrowed)
        elif narrowed.items is not None and type(items := sent.get(name)) is list:
            if name not in visible and any(map(_has_values, items)):
                visible[name] = [{} for _ in items]
            for item, visible_item in zip(items, visible.get(name, ()), strict=False):
                keep_emptied(item, visible_item, narrowed.items)
    for key, narrowed_extension in view.narrowed_extensions.items():
        added = extensions.get(key) if type(extensions := sent.get(EXTENSIONS)) is dict else None
        if _has_values(added) and not _is_hidden(narrowed_extension):
            kept = visible.setdefault(EXTENSIONS, {}).setdefault(key, {})
            keep_emptied(added, kept, narrowed_extension)


def without_indexes(path: str) -> tuple[str, ...]:
    """The steps of a path in a body: of `$.addresses[1].city` `("addresses", "city")`."""
    return tuple(step.partition("[")[0] for step in path.split(".")[1:])


def is_visible_path(steps: Sequence[str], view: ObjectView, *, in_every_item: bool = False) -> bool:
    """Whether the member at these steps, without indexes, is visible; in a filtered collection some items may be hidden
    anyway, which `in_every_item` excludes."""
    if not steps:
        return True
    name, *rest = steps
    if name == EXTENSIONS:
        return not rest or _is_visible_extension(rest, view, in_every_item)
    if name in view.whole:
        return True
    narrowed = view.narrowed.get(name)
    if isinstance(narrowed, CollectionView):
        if in_every_item and narrowed.filter is not None:
            return False
        return narrowed.items is None or is_visible_path(rest, narrowed.items, in_every_item=in_every_item)
    return narrowed is not None and is_visible_path(rest, narrowed, in_every_item=in_every_item)


def is_always_visible(path: JsonPath, view: ObjectView) -> bool:
    """Whether every value at the path is visible."""
    return is_visible_path([step for step in path.steps if step != ALL_ITEMS], view, in_every_item=True)


def _has_values(sent: Any) -> bool:
    return type(sent) is dict and any(value is not None for value in sent.values())


def _is_hidden(extension: ObjectView) -> bool:
    """A rule that shows nothing is how an extension is hidden: what is sent of it is dropped."""
    return not (extension.whole or extension.narrowed)


def _writable_collection(schema: Schema, view: CollectionView) -> Schema:
    items = schema["items"] if view.items is None else writable_schema(schema["items"], view.items)
    fewest = {} if view.filter is None else {"minItems": 0}
    return {**schema, "items": items, **fewest}


def _writable_extensions(schema: Schema, view: ObjectView) -> Schema | None:
    extensions = schema.get("properties", {}).get(EXTENSIONS)
    if extensions is None:
        return None
    shown = {
        key: writable_schema(members, view.narrowed_extensions[key]) if key in view.narrowed_extensions else members
        for key, members in extensions["properties"].items()
        if key in view.whole_extensions or key in view.narrowed_extensions
    }
    return {**extensions, "properties": shown} if shown else None


def _is_visible_extension(steps: Sequence[str], view: ObjectView, in_every_item: bool) -> bool:
    key, *rest = steps
    if key in view.whole_extensions:
        return True
    narrowed = view.narrowed_extensions.get(key)
    return narrowed is not None and is_visible_path(rest, narrowed, in_every_item=in_every_item)


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
