"""The figures of pages about schools: each with the address of a list that has as many rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.backends.utils import CursorWrapper
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from edfi_api.features.today import ledger_figures
from edfi_api.features.today.counting import Counting, SchoolFigures, SchoolYear, StoredSchool, monday
from edfi_api.features.today.figure_cache import Figure, PageFigures
from edfi_api.features.today.measures import UnusableMeasures, current_measures
from edfi_api.features.validation.admin.overview import open_at_and_below
from edfi_api.web.admin_kit.store_choice import Shown
from edfi_api.web.admin_kit.tables import filtered

SEES_DATA = "edfi_api.view_document"
SEES_REFUSALS = "refusals.view_refusal"
SEES_RESULTS = "validation.view_validationresult"
REFUSALS = "admin:refusals_refusal_changelist"
RESULTS = "admin:validation_validationresult_changelist"
_MOST_WEEKS = 20
_WEEK = timedelta(days=7)
# From this share on, a figure is in order.
_GOOD, _PERCENT = 0.95, 100
_HEIGHT, _WIDTH, _MARGIN = 28, 120, 4


@dataclass(frozen=True, slots=True)
class Number:
    """A number as a link; `text` is what the page shows in its place."""

    value: int
    address: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """The number of enrolled students who have something. The address leads to those who do not."""

    title: str
    covered: int
    of: int
    address: str

    @property
    def missing(self) -> int:
        return self.of - self.covered

    @property
    def text(self) -> str:
        """`98.9%`; 100% of all alone, and 0% of none."""
        if not self.covered:
            return "none"
        if not self.missing:
            return "100%"
        return f"{min(self.covered / self.of * _PERCENT, 99.9):.1f}%"

    @property
    def level(self) -> str:
        if not self.covered:
            return "none"
        return "good" if self.covered >= self.of * _GOOD else "some"


@dataclass(frozen=True, slots=True)
class Line:
    """The absences of a school by week, drawn as a line; `last` is the number of the latest week."""

    points: str
    end: tuple[float, float]
    label: str
    last: Number


@dataclass(frozen=True, slots=True)
class SchoolRow:
    """A school with its figures; None for what is not known, or not shown to the user."""

    school: StoredSchool
    address: str
    enrolled: Number | None
    shares: Sequence[Share | None]
    absences: Line | None
    refused: Number | None
    findings: Number | None


@dataclass(frozen=True, slots=True)
class SchoolTable:
    """Rows below heads."""

    measures: Sequence[str]
    rows: Sequence[SchoolRow]
    has_refused: bool
    has_findings: bool


class SchoolCounts:
    """The figures that are counted for one request: in the database that it shows, for the user who asks."""

    def __init__(self, request: HttpRequest, shown: Shown) -> None:
        """Raises UnusableMeasures."""
        self._user: Any = request.user
        self.using = shown.using
        self.data_store = ledger_number(shown)
        self.today = timezone.localdate()
        self.counting = Counting(current_measures(), self.using, self.today)
        self.notes = PageFigures()

    def get(self, what: str, find: Any, *key: object, type: Any = None, is_shown: bool = True) -> Any:
        """Return what a function of a cursor counts, or has counted lately; None if it takes too long. Values that have
        a type are shared with other processes, and have no personal data. What is not shown now is counted in the
        background, for the next time."""
        figure = Figure(self.using, (what, self.today, *key), find, type)
        return self.notes.get(what, figure) if is_shown else self.notes.prepare(figure)

    def year(self) -> SchoolYear | None:
        """Return the school year; None if there is none, or finding it took too long."""
        found = self.get(
            "The school year", lambda cursor: [self.counting.school_year(cursor)], type=list[SchoolYear | None]
        )
        return found[0] if found else None

    def schools(self) -> list[StoredSchool]:
        """Return the schools by name."""
        return self.get("The schools", self.counting.schools, type=list[StoredSchool]) or []

    def completeness(self, schools: Sequence[int] | None = None) -> dict[int, SchoolFigures] | None:
        """Return the figures of these schools, or of all."""
        year = self.year()

        def find(cursor: CursorWrapper) -> dict[int, SchoolFigures]:
            return self.counting.completeness(cursor, year, schools)

        types = dict[int, SchoolFigures]
        found: dict[int, SchoolFigures] | None = self.get(
            "How complete schools are", find, year, _key(schools), type=types
        )
        return found

    def first_week(self) -> date:
        """Return the Monday of the first week of which absences are shown."""
        earliest = monday(self.today) - (_MOST_WEEKS - 1) * _WEEK
        year = self.year()
        return max(earliest, monday(year.first_day)) if year else earliest

    def absences(self, schools: Sequence[int] | None = None, *, is_shown: bool = True) -> dict[int, list[int]]:
        """Return the absences of schools by week."""
        first = self.first_week()

        def find(cursor: CursorWrapper) -> dict[int, list[int]]:
            return self.counting.absences(cursor, first, schools)

        types = dict[int, list[int]]
        return self.get("Absences by week", find, first, _key(schools), type=types, is_shown=is_shown) or {}

    def table(
        self,
        schools: Sequence[StoredSchool],
        completeness: Mapping[int, SchoolFigures] | None,
        absences: Mapping[int, list[int]],
    ) -> SchoolTable:
        """Return the rows of these schools."""
        ids = [each.organization for each in schools]
        refused, findings = self._refused(ids), self._findings(ids)
        rows = [
            SchoolRow(
                school=each,
                address=reverse("admin:edfi_api_document_change", args=[each.row]),
                enrolled=self._enrolled(each, completeness),
                shares=self._shares(each, completeness),
                absences=self._line(each, absences.get(each.organization, [])),
                refused=_number(refused, each, self.refused_address),
                findings=_number(findings, each, self.findings_address),
            )
            for each in schools
        ]
        titles = [each.title for each in self.counting.measures]
        return SchoolTable(titles, rows, refused is not None, findings is not None)

    def refused_address(self, school: int, **filters: Any) -> str:
        """Return the address of the list of open refusals about a school."""
        return refusals_address(self.data_store, organization=school, **filters)

    def findings_address(self, school: int, **filters: Any) -> str:
        """Return the address of the list of open results about a school."""
        return filtered(RESULTS, {"organization": school, **filters})

    def _refused(self, ids: list[int]) -> dict[int, int] | None:
        if not self._user.has_perm(SEES_REFUSALS):
            return None

        def find(cursor: CursorWrapper) -> dict[int, int]:
            return ledger_figures.open_by_organization(self.data_store, ids, cursor)

        key = ("refused by school", self.data_store, tuple(ids))
        return self.notes.get("Refused writes by school", Figure(DEFAULT_DB_ALIAS, key, find, dict[int, int]))

    def _findings(self, ids: list[int]) -> dict[int, int] | None:
        if not self._user.has_perm(SEES_RESULTS):
            return None
        found: dict[int, int] | None = self.get(
            "Findings by school", lambda _: open_at_and_below(ids, self.using), tuple(ids), type=dict[int, int]
        )
        return found

    def _enrolled(self, school: StoredSchool, found: Mapping[int, SchoolFigures] | None) -> Number | None:
        if found is None:
            return None
        figures = found.get(school.organization)
        return Number(figures.enrolled if figures else 0, reverse("admin:school_students", args=[school.organization]))

    def _shares(self, school: StoredSchool, found: Mapping[int, SchoolFigures] | None) -> list[Share | None]:
        figures = found.get(school.organization) if found else None
        if figures is None:
            return [None] * len(self.counting.measures)
        address = reverse("admin:school_students", args=[school.organization])
        return [
            Share(each.title, figures.covered[each.name], figures.enrolled, f"{address}?without={each.name}")
            for each in self.counting.measures
        ]

    def _line(self, school: StoredSchool, weeks: list[int]) -> Line | None:
        # The present week has just begun, or is a holiday, as long as it has nothing.
        shown = weeks if weeks and weeks[-1] else weeks[:-1]
        if not shown:
            return None
        last = self.first_week() + (len(shown) - 1) * _WEEK
        address = f"{reverse('admin:school_absences', args=[school.organization])}?week={last}"
        points = _points(shown)
        text = " ".join(f"{x:g},{y:g}" for x, y in points)
        return Line(text, points[-1], f"{shown[-1]:,} absences in the week of {last}", Number(shown[-1], address))


def counts_of(request: HttpRequest, shown: Shown) -> SchoolCounts | None:
    """Return what counts for a request; None if the measures cannot be used, of which a check warns."""
    try:
        return SchoolCounts(request, shown)
    except UnusableMeasures:
        return None


def ledger_number(shown: Shown | None) -> int | None:
    """Return the number of the shown data store in the ledger of refusals; None where there is nothing to choose."""
    return shown.number if shown and shown.text else None


def refusals_address(data_store: int | None, **filters: Any) -> str:
    """Return the address of the list of refused writes, without warnings, under filters."""
    of_store = {} if data_store is None else {"data_store": data_store}
    return filtered(REFUSALS, {**filters, **of_store, "status__gte": ledger_figures.REFUSED})


def _key(schools: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if schools is None else tuple(schools)


def least_complete(schools: Iterable[StoredSchool], found: Mapping[int, SchoolFigures]) -> list[StoredSchool]:
    """Return the schools with enrolled students, those that lack most first."""

    def share(school: StoredSchool) -> float:
        figures = found[school.organization]
        return sum(figures.covered.values()) / figures.enrolled

    return sorted((each for each in schools if each.organization in found), key=share)


def _number(found: Mapping[int, int] | None, school: StoredSchool, address: Any) -> Number | None:
    return None if found is None else Number(found.get(school.organization, 0), address(school.organization))


def _points(weeks: Sequence[int]) -> list[tuple[float, float]]:
    """Return places in a box whose top is the largest number."""
    top, steps = max(*weeks, 1), max(len(weeks) - 1, 1)
    wide, high = _WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN
    return [
        (round(_MARGIN + wide * place / steps, 1), round(_MARGIN + high * (1 - number / top), 1))
        for place, number in enumerate(weeks)
    ]
