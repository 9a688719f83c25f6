"""A school with two enrolled students, and what is sent about them."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from edfi_api.core.models import Document
from edfi_api.features.today import figure_cache
from tests.support.admin_users import client_of
from tests.support.factories import STUDENT


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    """Figures of other tests are of other transactions."""
    figure_cache.cache.clear()
    yield
    figure_cache.cache.clear()


@pytest.fixture
def steward(db: None) -> Client:
    """A user of the admin with all permissions."""
    return client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))


class School:
    """A school, to which documents are sent."""

    def __init__(self, api, documents, resource_named) -> None:
        self._api, self._documents, self._resource_named = api, documents, resource_named
        documents.store(resource_named("StudentSchoolAssociation"))
        self.enrolment = self.stored("StudentSchoolAssociation").body
        self.id = self.enrolment["schoolReference"]["schoolId"]
        self.row = self.stored("School").pk

    def stored(self, name: str) -> Document:
        """Return the first document of a resource."""
        return Document.objects.filter(resource_type__name=name).order_by("pk")[0]

    def send(self, path: str, body: dict) -> None:
        """Send a document that is accepted."""
        answer = self._api.post(path, body)
        assert answer.status_code in {200, 201}, answer.content

    def like(self, name: str, path: str, **members: object) -> None:
        """Store the minimal document of a resource, and send another one with these members."""
        self._documents.store(self._resource_named(name))
        self.send(path, self.stored(name).body | members)

    def enrol(self, **members: object) -> None:
        """Send the student Mae Ortiz with an enrolment."""
        self.send("/students", STUDENT)
        reference = {"studentReference": {"studentUniqueId": STUDENT["studentUniqueId"]}}
        self.send("/studentSchoolAssociations", self.enrolment | reference | members)

    def absent(self, day: date, kind: str = "Unexcused Absence") -> None:
        """Send an event of attendance."""
        self._of_kind("/attendanceEventCategoryDescriptors", "AttendanceEventCategoryDescriptor", kind)
        self.like(
            "StudentSchoolAttendanceEvent",
            "/studentSchoolAttendanceEvents",
            eventDate=day.isoformat(),
            attendanceEventCategoryDescriptor=f"uri://ed-fi.org/AttendanceEventCategoryDescriptor#{kind}",
        )

    def calendar(self, day: date, kind: str) -> None:
        """Send a date of the calendar."""
        self._of_kind("/calendarEventDescriptors", "CalendarEventDescriptor", kind)
        event = {"calendarEventDescriptor": f"uri://ed-fi.org/CalendarEventDescriptor#{kind}"}
        self.like("CalendarDate", "/calendarDates", date=day.isoformat(), calendarEvents=[event])

    def _of_kind(self, path: str, name: str, kind: str) -> None:
        self.send(path, {"namespace": f"uri://ed-fi.org/{name}", "codeValue": kind, "shortDescription": kind})


@pytest.fixture
def school(api, documents, resource_named) -> School:
    """A school with one enrolled student."""
    return School(api, documents, resource_named)


def this_monday() -> date:
    """The first day of the present week."""
    today = timezone.localdate()
    return today - timedelta(days=today.weekday())
