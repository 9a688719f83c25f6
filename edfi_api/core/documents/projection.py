"""The visible part of a stored body under a view, as values and as JSON text."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import msgspec

from edfi_api.core.documents import json_text
from edfi_api.model.profiles.view import CollectionView, ItemFilter, ObjectView
from edfi_api.model.surface.naming import EXTENSIONS

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
    """Whether a filter shows an item of its collection."""
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
