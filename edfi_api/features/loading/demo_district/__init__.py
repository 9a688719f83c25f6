"""A small school district to try the server with: a school year of enrollment, classes, attendance and grades.

`generation` has the one table of what the district is made of, with the members that matter; it walks the table and has
every body completed by the model of the served standard. `calendar` and `place` are what its schools share.
`mistakes` puts errors into the result, for people who look for them. The same seed gives the same district.
"""

from edfi_api.features.loading.demo_district.calendar import SchoolYear
from edfi_api.features.loading.demo_district.generation import District, generate

# Each mistake needs a student of its own; and what the memory of a small machine holds.
FEWEST_STUDENTS, MOST_STUDENTS = 200, 50_000

__all__ = ["FEWEST_STUDENTS", "MOST_STUDENTS", "District", "SchoolYear", "generate"]
