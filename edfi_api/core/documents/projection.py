"""The visible part of a stored body under a view, compiled once per view into a tree of functions."""

from collections.abc import Callable, Mapping
from typing import Any

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
