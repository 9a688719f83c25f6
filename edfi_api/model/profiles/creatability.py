"""What cannot be created under a view: things of which the schema requires members that the view hides.

What is new has nothing stored from which hidden members could be taken. Members under a rule of their own are not
hidden by being narrowed, nor by a filter.
"""

from edfi_api.model.profiles.members import Members
from edfi_api.model.profiles.view import ObjectView


def hidden_required_members(view: ObjectView | None, members: Members, always: frozenset[str]) -> list[str]:
    """The hidden members that an object of this view needs, in order of name; `always` are never hidden."""
    if view is None:
        return []
    return sorted(name for name in members.required - always if not view.shows(name))
