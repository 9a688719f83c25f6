"""How complete the data of each school are: its enrolled students, and how many of them have what the measures name;
its absences by week, and whether it has sent the attendance of this week.

Students and schools are columns of documents that indexes have, so most is read from indexes alone; days, and the
school years of other documents, are in the bodies. All statements are for a cursor with a time limit (`figure_cache`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any

import orjson
from django.db.backends.utils import CursorWrapper

from edfi_api.core.queries.name_index import organization_name
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.sql import Sql, all_of, any_of
from edfi_api.features.today.measures import Events, Measure, Measures, Source
from edfi_api.model.surface.resource import ALL_ITEMS

_DAYS_OF_WEEK = 7
_WEEKS_OF_YEAR = 52
_SATURDAY = 5
_FEW_SCHOOLS = 5

_TERMS = Sql("""
SELECT school_year, min(from_) FROM ({terms}) AS term
 WHERE from_ <= %(today)s GROUP BY school_year ORDER BY max(from_) DESC LIMIT 1
""")
_SCHOOLS = Sql("""
SELECT d.hierarchy[1], d.id, {name} FROM document d
 WHERE d.resource_type_id = ANY (%(types)s) AND d.hierarchy IS NOT NULL ORDER BY 3, 1
""")
# The organization nearest to the schools that they all belong to.
_ABOVE = Sql("""
SELECT {name}
  FROM (
    SELECT c.ancestor_id, (SELECT count(*) FROM organization_closure b WHERE b.ancestor_id = c.ancestor_id) AS size
      FROM organization_closure c WHERE c.descendant_id = ANY (%(schools)s::bigint[])
     GROUP BY c.ancestor_id HAVING count(*) = cardinality(%(schools)s::bigint[])
     ORDER BY size LIMIT 1
  ) AS nearest
  JOIN document d ON d.hierarchy IS NOT NULL AND d.hierarchy[1] = nearest.ancestor_id
""")
_COMPLETENESS = Sql("""
WITH enrolled AS MATERIALIZED ({enrolled})
SELECT enrolled.school, count(*){counts}
  FROM enrolled{joins}
 WHERE enrolled.school IS NOT NULL AND enrolled.student IS NOT NULL
 GROUP BY enrolled.school
""")
# One row for each school and student, however many documents there are.
_PAIRS = Sql("SELECT DISTINCT school, student FROM ({pairs}) AS pair")
# A source that names no school counts in each one where the student is enrolled.
_ANYWHERE = Sql("SELECT school, student FROM enrolled WHERE student IN (SELECT student FROM ({pairs}) AS anywhere)")
# The statement for students of few schools, by what refers to them; without OFFSET it would be planned as a join of
# all.
_ANYWHERE_OF_FEW = Sql("SELECT school, student FROM enrolled WHERE {exist}")
_REFERS = Sql("""
EXISTS (
    SELECT FROM document person
      JOIN alias a ON a.document_id = person.id
      JOIN reference r ON r.alias_id = a.referential_id AND r.resource_type_id = {number}
      JOIN document d ON d.id = r.document_id
     WHERE person.student = enrolled.student AND person.is_person AND {conditions} OFFSET 0
)""")
_JOIN = Sql("""
  LEFT JOIN ({pairs}) AS {name} ON {name}.school = enrolled.school AND {name}.student = enrolled.student""")
_STUDENTS = Sql("""
WITH enrolled AS MATERIALIZED ({enrolled})
SELECT person.id, enrolled.student, count(*) OVER ()
  FROM enrolled{join}
  LEFT JOIN document person ON person.student = enrolled.student AND person.is_person
 WHERE enrolled.student IS NOT NULL AND {condition}
 ORDER BY enrolled.student LIMIT %(size)s OFFSET %(offset)s
""")
_BY_SCHOOL = Sql("SELECT school, count(*) FROM ({events}) AS event WHERE school IS NOT NULL GROUP BY school")
_WITH_CALENDAR = Sql("""
SELECT school FROM unnest(%(schools)s::bigint[]) AS school
 WHERE EXISTS (SELECT FROM ({days}) AS day WHERE day.school = school.school)
""")
_BY_WEEK = Sql("""
SELECT school, (day::date - %(monday)s::date) / 7, count(*) FROM ({events}) AS event
 WHERE school IS NOT NULL AND day BETWEEN %(monday)s AND %(today)s
 GROUP BY 1, 2
""")
_EVENTS = Sql("""
SELECT id, count(*) OVER () FROM ({events}) AS event
 WHERE day BETWEEN %(monday)s AND %(last)s ORDER BY day DESC, id DESC LIMIT %(size)s OFFSET %(offset)s
""")
# The code value of a descriptor. A path through a list has many; one without is read seven times as fast so.
_HAS_KIND = "coalesce(lower(split_part(d.body #>> '{{{path}}}', '#', -1)) = ANY (%({parameter})s), false)"
_LISTS_KIND = (
    "EXISTS (SELECT FROM jsonb_path_query(d.body, '{path}') AS kind"
    " WHERE lower(split_part(kind #>> '{{}}', '#', -1)) = ANY (%({parameter})s))"
)


@dataclass(frozen=True, slots=True)
class SchoolYear:
    """The school year that it is, and its first day."""

    name: str
    first_day: date

    def week(self, today: date) -> int | None:
        """Return the number of the week of a day, 1 for the first one; None outside of the year."""
        number = (monday(today) - monday(self.first_day)).days // _DAYS_OF_WEEK + 1
        return number if 1 <= number <= _WEEKS_OF_YEAR else None


@dataclass(frozen=True, slots=True)
class SchoolFigures:
    """The enrolled students of a school, and how many of them have what each measure names, by its name."""

    enrolled: int
    covered: dict[str, int]


@dataclass(frozen=True, slots=True)
class StoredSchool:
    """A school by its id in the hierarchy, with the primary key of its document."""

    organization: int
    row: int
    name: str


def monday(day: date) -> date:
    """Return the first day of the week."""
    return day - timedelta(days=day.weekday())


class Counting:
    """The counting in one database on one day. `schools` are ids; None for all."""

    def __init__(self, measures: Measures, using: str, today: date) -> None:
        self._measures = measures
        self._numbers = resource_types.numbers(using)
        self.today = today

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self._measures.measures

    def measure(self, name: str) -> Measure | None:
        """Return the measure of this name."""
        return next((each for each in self.measures if each.name == name), None)

    def school_year(self, cursor: CursorWrapper) -> SchoolYear | None:
        """Return the school year whose first term began last; None without terms."""
        terms = self._documents(self._measures.terms, ("school_year", "from_"))
        found = next(iter(self._rows(cursor, _TERMS.fill(terms=terms))), None)
        return SchoolYear(str(found[0]), date.fromisoformat(found[1][:10])) if found else None

    def schools(self, cursor: CursorWrapper) -> list[StoredSchool]:
        """Return the schools that are stored by name, whether anybody is enrolled or not."""
        types = [self._numbers[name] for name in self._measures.schools if name in self._numbers]
        cursor.execute(_with_name(_SCHOOLS), {"types": types})
        return [StoredSchool(id_, row, name or str(id_)) for id_, row, name in cursor]

    def name_above(self, cursor: CursorWrapper, schools: Sequence[StoredSchool]) -> str:
        """Return the name of the nearest organization that all schools belong to; empty without one."""
        cursor.execute(_with_name(_ABOVE), {"schools": [each.organization for each in schools]})
        found = cursor.fetchone()
        return (found[0] or "") if found else ""

    def completeness(
        self, cursor: CursorWrapper, year: SchoolYear | None, schools: Sequence[int] | None = None
    ) -> dict[int, SchoolFigures]:
        """Return the figures of each school with enrolled students, by its id."""
        names = [f"measure_{number}" for number in range(len(self.measures))]
        joins = [self._join(name, each, year, schools) for name, each in zip(names, self.measures, strict=True)]
        counts = "".join(f", count({name}.student)" for name in names)
        statement = _COMPLETENESS.fill(enrolled=self._enrolled(schools), counts=counts, joins=Sql.join("", joins))
        return {
            id_: SchoolFigures(number, dict(zip([each.name for each in self.measures], covered, strict=True)))
            for id_, number, *covered in self._rows(cursor, statement)
        }

    def students(
        self,
        cursor: CursorWrapper,
        school: int,
        *,
        without: Measure | None,
        year: SchoolYear | None,
        size: int,
        offset: int,
    ) -> tuple[list[tuple[int | None, str]], int]:
        """Return a page of the enrolled students of a school, or of those who lack a measure: the primary key of the
        document of each, and the unique id; and the number of all."""
        statement = _STUDENTS.fill(
            enrolled=self._enrolled([school]),
            join=self._join("covered", without, year, [school]) if without else "",
            condition="covered.student IS NULL" if without else "true",
        )
        rows = self._rows(cursor, statement.with_values(size=size, offset=offset))
        return [(row, student) for row, student, _ in rows], rows[0][2] if rows else 0

    def without_attendance(self, cursor: CursorWrapper, schools: Sequence[int]) -> list[int]:
        """Return those of these schools that had a day of school this week and have sent no attendance of it."""
        first = monday(self.today)
        days = [first + timedelta(days=number) for number in range((self.today - first).days + 1)]
        sent = dict(self._rows(cursor, _BY_SCHOOL.fill(events=self._of_days(self._measures.attendance, days))))
        calendar = self._measures.calendar
        open_ = dict(self._rows(cursor, _BY_SCHOOL.fill(events=self._of_days(calendar, days, calendar.kinds))))
        dates = self._documents(calendar.sources, ("school",))
        statement = _WITH_CALENDAR.fill(days=dates).with_values(schools=list(schools))
        with_calendar = {school for (school,) in self._rows(cursor, statement)}
        has_weekday = any(day.weekday() < _SATURDAY for day in days)
        expected = (each for each in schools if (each in open_ if each in with_calendar else has_weekday))
        return [each for each in expected if each not in sent]

    def absences(
        self, cursor: CursorWrapper, first: date, schools: Sequence[int] | None = None
    ) -> dict[int, list[int]]:
        """Return the absences of each school by week, from that of the Monday `first` to the present one."""
        statement = _BY_WEEK.fill(events=self._absences(("school", "day"), schools)).with_values(
            monday=first.isoformat()
        )
        weeks = (monday(self.today) - first).days // _DAYS_OF_WEEK + 1
        found: dict[int, list[int]] = {}
        for id_, week, number in self._rows(cursor, statement):
            found.setdefault(id_, [0] * weeks)[week] = number
        return found

    def absences_of_week(
        self, cursor: CursorWrapper, school: int, first: date, *, size: int, offset: int
    ) -> tuple[list[int], int]:
        """Return a page of the events of a school in a week, the latest first, as primary keys; and their number."""
        rest = timedelta(days=_DAYS_OF_WEEK - 1)
        # In this order, since the last week that dates have is not whole.
        last = min(first, self.today - rest) + rest
        statement = _EVENTS.fill(events=self._absences(("id", "day"), [school])).with_values(
            monday=first.isoformat(), last=last.isoformat(), size=size, offset=offset
        )
        rows = self._rows(cursor, statement)
        return [row for row, _ in rows], rows[0][1] if rows else 0

    def _absences(self, columns: Sequence[str], schools: Sequence[int] | None) -> Sql:
        attendance = self._measures.attendance
        return self._documents(attendance.sources, columns, schools=schools, without=attendance.without)

    def _of_days(self, events: Events, days: Sequence[date], kinds: Sequence[str] = ()) -> Sql:
        return self._documents(events.sources, ("school",), days=days, kinds=kinds)

    def _enrolled(self, schools: Sequence[int] | None) -> Sql:
        """Return pairs of schools and students who are enrolled today."""
        return _PAIRS.fill(pairs=self._documents(self._measures.enrolled, ("school", "student"), schools=schools))

    def _join(self, name: str, measure: Measure, year: SchoolYear | None, schools: Sequence[int] | None) -> Sql:
        """Return a join with the pairs that have the measure; `name` is that of the joined rows."""
        there = [each for each in measure.sources if each.school]
        anywhere = [each for each in measure.sources if not each.school]
        parts = []
        if there:
            parts.append(self._documents(there, ("school", "student"), schools=schools, year=year))
        if anywhere and schools is not None and len(schools) <= _FEW_SCHOOLS:
            parts.append(_ANYWHERE_OF_FEW.fill(exist=any_of(self._referring(anywhere, year))))
        elif anywhere:
            parts.append(_ANYWHERE.fill(pairs=self._documents(anywhere, ("student",), year=year)))
        return _JOIN.fill(pairs=_PAIRS.fill(pairs=Sql.join(" UNION ALL ", parts)), name=name)

    def _referring(self, sources: Iterable[Source], year: SchoolYear | None) -> Iterator[Sql]:
        """Yield the condition that a document of a source refers to the student of `enrolled`."""
        for source in sources:
            if number := self._numbers.get(source.name):
                conditions = all_of([*self._of_school(source, None, year), *self._of_time(source, number, ())])
                yield _REFERS.fill(number=str(number), conditions=conditions)

    def _documents(
        self,
        sources: Iterable[Source],
        columns: Sequence[str],
        *,
        schools: Sequence[int] | None = None,
        year: SchoolYear | None = None,
        days: Sequence[date] = (),
        kinds: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> Sql:
        """Return these columns of the documents of all sources: of schools, a school year, days, or kinds, and of today
        if they have a first or a last day."""
        parts = []
        for source in sources:
            number = self._numbers.get(source.name)
            if number is None:
                continue
            conditions = [
                Sql(f"d.resource_type_id = {number} AND {source.rows}"),
                *self._of_school(source, schools, year),
                *self._of_time(source, number, days),
                *self._of_kind(source, kinds, without),
            ]
            parts.append(_selected(columns, source) + " WHERE " + all_of(conditions))
        return Sql.join(" UNION ALL ", parts) if parts else _selected(columns, None) + " WHERE false"

    def _of_school(self, source: Source, schools: Sequence[int] | None, year: SchoolYear | None) -> Iterable[Sql]:
        if schools is not None and source.school:
            yield Sql(f"{source.school} = ANY (%(schools)s)", {"schools": list(schools)})
        # What a document does not say is no reason to leave it out.
        if year is not None and source.school_year:
            yield _of_many(f"coalesce({source.school_year}, %(year)s) = %(year)s", year=year.name)

    def _of_time(self, source: Source, number: int, days: Sequence[date]) -> Iterable[Sql]:
        # Days are texts, which are in their order.
        if source.from_ and source.until:
            yield _of_many(f"coalesce({source.from_}, %(today)s) <= %(today)s", today=self.today.isoformat())
            yield _of_many(f"coalesce({source.until}, %(today)s) >= %(today)s", today=self.today.isoformat())
        if days and source.day_path:
            values = [orjson.dumps({str(number): _at(source.day_path.steps, day)}).decode() for day in days]
            parameter = f"days_{number}"
            yield Sql(f"scoped_body(d.resource_type_id, d.body) @> ANY (%({parameter})s::jsonb[])", {parameter: values})

    def _of_kind(self, source: Source, kinds: Sequence[str], without: Sequence[str]) -> Iterable[Sql]:
        if source.kind_path is None:
            return
        path = source.kind_path
        has_kind = (
            partial(_LISTS_KIND.format, path=str(path))
            if ALL_ITEMS in path.steps
            else partial(_HAS_KIND.format, path=",".join(path.steps))
        )
        if kinds:
            yield Sql(has_kind(parameter="kinds"), {"kinds": list(kinds)})
        if without:
            yield Sql("NOT " + has_kind(parameter="without"), {"without": list(without)})

    def _rows(self, cursor: CursorWrapper, statement: Sql) -> list[Any]:
        values = {"today": self.today.isoformat(), **statement.parameters}
        cursor.execute(statement.text, values)
        return list(cursor.fetchall())


def _with_name(statement: Sql) -> str:
    return statement.fill(name=organization_name("d.body")).text


def _of_many(condition: str, **values: str) -> Sql:
    """Return a condition on a member that most documents meet. PostgreSQL, which has no statistics about members, would
    expect one document in two hundred, and join the others one by one; of a CASE it expects every second one."""
    return Sql(f"CASE WHEN {condition} THEN true END", values)


def _selected(columns: Sequence[str], source: Source | None) -> Sql:
    """Return the head of a statement; a source lacks some columns, None all of them."""
    shown = [
        f"{_expression(column, source) or ('NULL::bigint' if column in _NUMBERS else 'NULL::text')} AS {column}"
        for column in columns
    ]
    return Sql(f"SELECT {', '.join(shown)} FROM document d")  # noqa: S608  No text of others.


_NUMBERS = {"id", "school"}


def _expression(column: str, source: Source | None) -> str:
    if column == "id":
        return "d.id"
    return getattr(source, column) if source else ""


def _at(steps: tuple[str, ...], day: date) -> Any:
    value: Any = day.isoformat()
    for step in reversed(steps):
        value = {step: value}
    return value
