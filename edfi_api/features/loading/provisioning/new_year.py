"""Which resources a new school year takes over: those whose documents belong neither to a time nor to a person.

Organizations and what they have (locations, courses, class periods, programs, graduation plans), and people without
their associations.
"""

from edfi_api.model.metaed.core_names import CONTACT, STAFF, STUDENT
from edfi_api.model.surface.load_order import targets_of
from edfi_api.model.surface.resource import Resource, ResourceKind, ResourceName, Surface

_PEOPLE = STUDENT | STAFF | CONTACT


def of_every_year(surface: Surface) -> list[Resource]:
    """Return the resources in load order, descriptors included; school years are made with the database."""
    years = {resource.name for resource in surface.resources if resource.kind is ResourceKind.SCHOOL_YEAR}
    people = {resource.name for resource in surface.resources if resource.name.resource in _PEOPLE}
    left_out = years | {
        resource.name
        for resource in surface.resources
        if _refers_to_its_year_or_a_person(resource, years, people)
        or (_has_a_date(resource) and resource.name not in people)
    }
    required = targets_of(surface.by_name, surface.abstract_resources, only_required=True)
    required = {name: targets - years for name, targets in required.items()}
    # What needs a document that is left out is left out too.
    while more := {name for name, targets in required.items() if name not in left_out and targets & left_out}:
        left_out |= more
    return [resource for resource in surface.resources if resource.name not in left_out]


def _refers_to_its_year_or_a_person(resource: Resource, years: set[ResourceName], people: set[ResourceName]) -> bool:
    return any(
        reference.target in people or (reference.target in years and not _has_role(reference.path.steps[-1], years))
        for reference in resource.references
        if reference.is_required
    )


def _has_role(member: str, years: set[ResourceName]) -> bool:
    """A year in a role, as the graduation year of a plan, is a value, and not the year of the document."""
    return not any(member.lower() == f"{year.resource}reference".lower() for year in years)


def _has_a_date(resource: Resource) -> bool:
    required = set(resource.json_schema.get("required", ()))
    dates = (*resource.value_paths.dates, *resource.value_paths.date_times)
    return any(len(path.steps) == 1 and path.steps[0] in required for path in dates)
