"""The members of documents that a client wants, `fields=studentUniqueId,lastSurname`."""

from collections.abc import Mapping
from functools import lru_cache

from edfi_api.core.documents.other_names import OtherNames
from edfi_api.core.documents.text_projection import TextProjection, compile_text_projection
from edfi_api.core.queries.exceptions import ParameterValidationFailed
from edfi_api.core.queries.parameters import last_values
from edfi_api.model.profiles.view import ObjectView
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.resource import Resource

MEMBERS_PARAMETER = "fields"
# Every document that is served has these members.
_ALWAYS = ("id", "_etag", "_lastModifiedDate")


def requested_members(query: Mapping[str, str], resource: Resource, view: ObjectView | None) -> TextProjection | None:
    """The function from the text of a served body, which a profile may have narrowed to `view`, to that of the members
    that `fields` names, with those of the identity; None without `fields`.

    Raises ParameterValidationFailed for names that are no members of the resource, or hidden ones.
    """
    given = last_values(query).get(MEMBERS_PARAMETER)
    if given is None:
        return None
    served = OtherNames.of(resource.served_names).own
    members = (name for name in resource.json_schema["properties"] if view is None or _shows(view, name))
    visible = {name: served.get(name, name) for name in members}
    visible |= {name: name for name in visible.values()}
    names = {name.strip() for name in given[1].split(",")}.difference(_ALWAYS)
    for name in sorted(names - visible.keys()):
        raise ParameterValidationFailed([f"Fields must have members of the resource; '{name}' is not one."])
    identity = {path.steps[0] for path in resource.identity}
    return _projection(frozenset({visible.get(name, name) for name in names} | {served.get(n, n) for n in identity}))


def _shows(view: ObjectView, name: str) -> bool:
    if name == EXTENSIONS:
        return bool(view.whole_extensions or view.narrowed_extensions)
    return view.shows(name)


@lru_cache(maxsize=256)
def _projection(names: frozenset[str]) -> TextProjection:
    return compile_text_projection(ObjectView(whole=names))
