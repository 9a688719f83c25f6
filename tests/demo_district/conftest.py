"""Districts of both bundled standards, small ones."""

from functools import cache

from edfi_api.conf import BUNDLED_STANDARDS
from edfi_api.loading.demo_district import District, generate
from edfi_api.model.examples import Bodies
from edfi_api.model.surface.bundled_descriptors import bundled_values
from tests.serving import served

STUDENTS = 200


@cache
def bodies_of(standard: str) -> Bodies:
    """Completes bodies with the values that are bundled with the standard."""
    return Bodies(served(standard).surface, list(bundled_values(BUNDLED_STANDARDS / standard)))


def district_of(standard: str, students: int = STUDENTS, seed: int = 1) -> District:
    return generate(bodies_of(standard), students, seed)
