"""What it costs to show a client only what it may see: pages and totals of guarded collections beside unguarded ones.

    python -m tests.benchmarks.guarded_pages [RESOURCE ...]

for the database that `DATABASE_URL` names, filled by `make bench-data`. Times are the shortest of several, in
milliseconds; what counts are the ratios within one run.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import django

_RESOURCES = ["StudentSchoolAttendanceEvent", "Student", "Contact", "StudentContactAssociation"]
_STRATEGY = "RelationshipsWithEdOrgsAndPeople"
_PAGE = 25


def measure(names: list[str]) -> Iterator[str]:
    """One line for each resource and client."""
    from edfi_api.documents import collection  # noqa: PLC0415  Django is set up by now
    from edfi_api.security.authorization import Rules, StrategiesGuard  # noqa: PLC0415
    from edfi_api.security.tokens import AuthenticatedClient  # noqa: PLC0415
    from edfi_api.startup import current_surface  # noqa: PLC0415
    from edfi_api.surface.resource import ResourceName  # noqa: PLC0415

    for name in names:
        resource = current_surface().by_name[ResourceName("Ed-Fi", name)]
        everything = collection.all_documents(resource)
        page = _shortest(lambda all_=everything: list(collection.page(all_, _PAGE, 0, True)))
        total = _shortest(lambda all_=everything: collection.count(all_), times=2)
        yield f"{name}: page {page:.2f}, total {total:.1f}"
        rules = Rules(resource, (_STRATEGY,), is_for_changes=False)
        for who, organizations in _clients().items():
            client = AuthenticatedClient(
                row_id=1,
                key="bench",
                name="bench",
                claim_set_name="",
                claim_set_id=0,
                claims_version=0,
                education_organization_ids=tuple(organizations),
                namespace_prefixes=(),
                token_expires=datetime.now(UTC),
            )
            visible = everything.guarded_by(StrategiesGuard(rules, client, "default"))
            guarded_page = _shortest(lambda visible=visible: list(collection.page(visible, _PAGE, 0, True)))
            guarded_total = _shortest(lambda visible=visible: collection.count(visible), times=2)
            yield (
                f"  {who:30} page {guarded_page:8.2f} ({guarded_page / page:.1f}x)"
                f"  total {guarded_total:8.1f} ({guarded_total / total:.1f}x)"
            )


def _clients() -> dict[str, list[int]]:
    """Agencies stand in the order of their schools' documents."""
    from edfi_api.models import OrganizationClosure  # noqa: PLC0415  Django is set up by now

    below = OrganizationClosure.objects.order_by("ancestor_id", "descendant_id")
    pairs = [(above, school) for above, school in below.values_list("ancestor_id", "descendant_id") if above != school]
    agencies = sorted({above for above, _ in pairs})
    return {
        "agencies that see most": agencies[:-1],
        "an agency at the far end": agencies[-1:],
        "a school at the far end": [pairs[-1][1]],
        "nobody": [],
    }


def _shortest(action: Callable[[], object], times: int = 20) -> float:
    durations = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        durations.append(time.perf_counter() - started)
    return min(durations) * 1000


def main() -> None:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("resource", nargs="*", default=_RESOURCES)
    names = parser.parse_args().resource
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    for line in measure(names):
        print(line)


if __name__ == "__main__":
    main()
