"""The part of a body that a view leaves: what a client may write of it, the schema of what is read, and the visible
part of a stored body as values and as JSON text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

import msgspec

from edfi_api.core.documents import json_text
from edfi_api.model.profiles.view import CollectionView, ItemFilter, ObjectView
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
    """Return whether the member at these steps, without indexes, is visible; in a filtered collection some items may be
    hidden anyway, which `in_every_item` excludes."""
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
    """Return whether every value at the path is visible."""
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
    """Return whether something is left of every object, or of every item of a collection that has items in every
    body."""
    if narrowed["type"] == "array":
        return narrowed.get("minItems", 0) > 0 and _is_never_empty(narrowed["items"])
    return bool(narrowed.get("required"))


Body = dict[str, Any]
Projection = Callable[[Any], Any]


def compile_projection(view: ObjectView) -> Callable[[Body], Body]:
    """The function that returns the visible part of a body and leaves its argument unchanged.

    Members and items keep their order. Narrowed objects, items and collections of which nothing is left are left out,
    and so are those that were stored with another type than the standard has now.
    """
    whole = view.whole
    narrowed: Mapping[str, Projection] = {name: _compiled(each) for name, each in view.narrowed.items()}
    extensions = _compiled_extensions(view)

    def project(body: Body) -> Body:
        visible: Body = {}
        if type(body) is not dict:
            return visible
        for name, value in body.items():
            if name in whole:
                visible[name] = value
            elif narrow := narrowed.get(name):
                if left := narrow(value):
                    visible[name] = left
            elif name == EXTENSIONS and (left := extensions(value)):
                visible[name] = left
        return visible

    return project


def _compiled(view: ObjectView | CollectionView) -> Projection:
    if isinstance(view, ObjectView):
        return compile_projection(view)
    items = None if view.items is None else compile_projection(view.items)
    return _compiled_collection(items, view.filter)


def _compiled_collection(items: Projection | None, item_filter: ItemFilter | None) -> Projection:
    def project(stored: list[Any]) -> list[Any]:
        if type(stored) is not list:
            return []
        shown = stored if item_filter is None else [each for each in stored if is_visible(each, item_filter)]
        return shown if items is None else [left for each in shown if (left := items(each))]

    return project


def _compiled_extensions(view: ObjectView) -> Projection:
    whole = view.whole_extensions
    narrowed = {key: compile_projection(each) for key, each in view.narrowed_extensions.items()}

    def project(extensions: Mapping[str, Any]) -> dict[str, Any]:
        visible = {}
        for key, added in extensions.items():
            left = added if key in whole else narrowed[key](added) if key in narrowed else None
            if left:
                visible[key] = left
        return visible

    return project


def is_visible(item: Mapping[str, Any], item_filter: ItemFilter | None) -> bool:
    """Return whether a filter shows an item of its collection."""
    return item_filter is None or (type(item) is dict and item_filter.shows(item.get(item_filter.member)))


# A view becomes a type for msgspec, whose decoder skips hidden members and keeps the text of those that are visible as
# a whole: they are neither parsed nor formatted, so no digit is lost.

TextProjection = Callable[[bytes], bytes]
# Returns what is not empty of a decoded value; the value itself may be changed.
_Remainder = Callable[[Any], Any]

_WHOLE_OBJECT = dict[str, msgspec.Raw]


def compile_text_projection(view: ObjectView) -> TextProjection:
    """The function from the text of a body to the text of its visible part, as `compile_projection` defines it."""
    decode = msgspec.json.Decoder(_object_type(view)).decode
    encode = msgspec.json.Encoder().encode
    remainder, project = _remainder_of_object(view), compile_projection(view)

    def project_text(text: bytes) -> bytes:
        try:
            visible = decode(text)
        except msgspec.ValidationError:  # It was stored when a narrowed member had another type.
            return json_text.dumps(project(json_text.loads(text)))
        return encode(remainder(visible))

    return project_text


def _object_type(view: ObjectView, *others: str) -> Any:
    """The type of an object with the visible members, and with these others."""
    members: dict[str, Any] = dict.fromkeys((*view.whole, *others), msgspec.Raw)
    members |= {name: _member_type(each) for name, each in view.narrowed.items()}
    if view.whole_extensions or view.narrowed_extensions:
        members[EXTENSIONS] = _typed_dict(
            dict.fromkeys(view.whole_extensions, _WHOLE_OBJECT)
            | {key: _object_type(each) for key, each in view.narrowed_extensions.items()}
        )
    return _typed_dict(members)


def _typed_dict(members: dict[str, Any]) -> Any:
    return TypedDict("Visible", members, total=False)  # type: ignore[operator]  # mypy knows literals only


def _member_type(view: ObjectView | CollectionView) -> Any:
    if isinstance(view, ObjectView):
        return _object_type(view)
    if view.items is None:
        return list[_WHOLE_OBJECT]
    return list[_object_type(view.items, *_filter_members(view))]  # type: ignore[misc]


def _filter_members(view: CollectionView) -> tuple[str, ...]:
    return () if view.filter is None else (view.filter.member,)


def _remainder_of_object(view: ObjectView) -> _Remainder:
    members = {name: _remainder_of_member(each) for name, each in view.narrowed.items()}
    extensions: dict[str, _Remainder] = dict.fromkeys(view.whole_extensions, _itself)
    extensions |= {key: _remainder_of_object(each) for key, each in view.narrowed_extensions.items()}
    if extensions:
        members[EXTENSIONS] = _remainder_of_members(extensions)
    return _remainder_of_members(members) if members else _itself


def _itself(value: Any) -> Any:
    return value


def _remainder_of_members(members: Mapping[str, _Remainder]) -> _Remainder:
    def remainder(visible: dict[str, Any]) -> dict[str, Any]:
        for name, left_of in members.items():
            if name in visible:
                if left := left_of(visible[name]):
                    visible[name] = left
                else:
                    del visible[name]
        return visible

    return remainder


def _remainder_of_member(view: ObjectView | CollectionView) -> _Remainder:
    return _remainder_of_object(view) if isinstance(view, ObjectView) else _remainder_of_collection(view)


def _remainder_of_collection(view: CollectionView) -> _Remainder:
    shown = _itself if view.filter is None else _filtered(view.filter)
    if view.items is None:
        return shown
    hidden = [name for name in _filter_members(view) if not view.items.shows(name)]
    left_of = _remainder_of_object(view.items)

    def remainder(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = shown(items)
        for item in found if hidden else ():
            item.pop(hidden[0], None)
        return [left for item in found if (left := left_of(item))]

    return remainder


def _filtered(item_filter: ItemFilter) -> _Remainder:
    member, nothing = item_filter.member, msgspec.Raw(b"null")

    def shown(items: list[dict[str, msgspec.Raw]]) -> list[dict[str, msgspec.Raw]]:
        return [item for item in items if item_filter.shows(msgspec.json.decode(item.get(member, nothing)))]

    return shown
