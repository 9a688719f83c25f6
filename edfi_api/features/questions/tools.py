"""What assistants can do: describe, find, ask, count and plot. No tool writes, and each statement is traced."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import psycopg
from django.db import connections
from psycopg import errors, sql

from edfi_api.features.questions.asking import NOTE, Answer, answer, marked
from edfi_api.features.questions.exceptions import Refused
from edfi_api.features.questions.models import Question, QuestionReader
from edfi_api.features.questions.people import Place
from edfi_api.features.questions.plotting import plot
from edfi_api.features.questions.roles import RoleNotMade, Roles, is_withheld
from edfi_api.features.questions.semantics import Semantics, semantics
from edfi_api.features.sql_views.views import View

_MOST_FOUND = 20
_MOST_GROUPED = 8
_ONLY_COUNTS = (
    "You are shown counts of {least} or more and nothing else: use count. A statement of SQL could single out a child,"
    " so none is executed for you."
)
_NO_ROLE = (
    "The roles of the database that questions need could not be made; the log of the server tells the operator why."
)
_UNIQUE_IDS = "SELECT DISTINCT student FROM document WHERE is_person AND student IS NOT NULL AND id = ANY (%s)"

log = logging.getLogger(__name__)


class Describe(msgspec.Struct, forbid_unknown_fields=True):
    """Explains what there is: domains, views, columns, keys, values of descriptors, from the model's documentation.
    With a name of a domain, a view or a descriptor all about it; with other words the views and columns that have them;
    without any the domains."""

    name: str = ""


class Find(msgspec.Struct, forbid_unknown_fields=True):
    """Finds people, schools, sections and others by name, with the numbers by which views refer to them. `what` is the
    name of a view: student, staff, school, section, course, program."""

    what: str
    name: str


class Ask(msgspec.Struct, forbid_unknown_fields=True):
    """Answers one SELECT of PostgreSQL over the views: at most 1,000 rows and 1 MB. Describe the views first; schema
    edfi_text has descriptors as text. Count and group in SQL rather than list."""

    statement: str


class Condition(msgspec.Struct, forbid_unknown_fields=True):
    """A condition on a column; `value` is compared as text of the column's type, and not given with `is null`."""

    column: str
    operator: Literal["=", "<>", "<", "<=", ">", ">=", "is null", "is not null"] = "="
    value: str | int | float | bool | None = None


class Count(msgspec.Struct, forbid_unknown_fields=True):
    """Counts the students of a view, or other people, or its rows if they are about no one, by values of columns."""

    view: str
    by: list[str] = []
    where: list[Condition] = []


class Plot(msgspec.Struct, forbid_unknown_fields=True):
    """Draws a small table as SVG: of each series one number for each label."""

    title: str
    labels: list[str]
    series: dict[str, list[float]]
    kind: Literal["bar", "line"] = "bar"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a tool: text for the model, the same for programs, or a picture."""

    text: str
    structured: dict[str, Any] | None = None
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """A person who asks a database; a new one for each call, since rights change."""

    place: Place
    reader: QuestionReader

    @property
    def _semantics(self) -> Semantics:
        return semantics(self.place.using)

    def describe(self, given: Describe) -> Outcome:
        known = self._semantics
        if not given.name.strip():
            return Outcome(known.overview())
        if (domain := known.domain(given.name.strip())) is not None:
            return Outcome(domain)
        view = known.named(given.name)
        if view is None:
            return Outcome(known.search(given.name))
        text = known.view(view, self._visible(view))
        statement = known.values_statement(view)
        # Values of descriptors are about no one.
        return Outcome(text) if statement is None else self._outcome(self._ask("describe", statement), before=text)

    def find(self, given: Find) -> Outcome:
        self._refuse_if_only_counts()
        findable = self._semantics.findable.get(given.what.strip().lower())
        if findable is None:
            names = ", ".join(sorted(self._semantics.findable))
            raise Refused(f"Rows of {given.what} have no names. Of these they have: {names}.")
        view = self._semantics.views[findable.view]
        shown = [column for column in findable.shown if self._may_see(view, column.partition(".")[2])]
        searched = [column for column in findable.searched if column in shown]
        words = given.name.split()
        if not words or not searched:
            raise Refused(
                f"Say a name; rows of {given.what} are found by {', '.join(searched) or 'nothing you may see'}."
            )
        text = sql.SQL(f"lower(concat_ws(' ', {', '.join(searched)}))")
        conditions = [sql.SQL("strpos({}, lower({})) > 0").format(text, sql.Literal(word)) for word in words]
        statement = sql.SQL(
            f"SELECT {', '.join(shown)} FROM {findable.source} WHERE {{}} ORDER BY {{}} LIMIT {_MOST_FOUND}"
        )
        places = sql.SQL(", ").join(sql.SQL(str(number)) for number in range(1, len(shown) + 1))
        return self._outcome(self._ask("find", statement.format(sql.SQL(" AND ").join(conditions), places).as_string()))

    def ask(self, given: Ask) -> Outcome:
        self._refuse_if_only_counts()
        return self._outcome(self._ask("ask", given.statement))

    def count(self, given: Count) -> Outcome:
        view = self._semantics.named(given.view)
        if view is None:
            raise Refused(f"There is no view {given.view}; describe names them.")
        person = self._semantics.person_column(view)
        names = {name for name, _ in view.columns}
        unknown = [name for name in [*given.by, *(each.column for each in given.where)] if name not in names]
        if unknown or len(given.by) > _MOST_GROUPED:
            raise Refused(
                f"{view} has the columns {', '.join(sorted(names))}; at most {_MOST_GROUPED} of them can group."
            )
        counted = (
            sql.SQL("count(*)") if person is None else sql.SQL("count(DISTINCT {})").format(sql.Identifier(person))
        )
        grouped = sql.SQL(", ").join(map(sql.Identifier, given.by))
        conditions = sql.SQL(" AND ").join(map(_condition, given.where))
        parts = [
            sql.SQL("SELECT {}{} AS number FROM {}").format(
                grouped + sql.SQL(", ") if given.by else sql.SQL(""), counted, sql.Identifier(view.schema, view.name)
            ),
            *([sql.SQL("WHERE ") + conditions] if given.where else []),
            *([sql.SQL("GROUP BY {0} ORDER BY {0}").format(grouped)] if given.by else []),
        ]
        found = self._ask("count", sql.SQL(" ").join(parts).as_string())
        shown, hidden = without_small_counts(found.rows, self.reader.least_count)
        note = (
            f"{hidden} groups are not shown, which are small or would tell the number of a small one." if hidden else ""
        )
        return self._outcome(Answer(found.columns, found.origins, shown), before=note)

    def plot(self, given: Plot) -> Outcome:
        picture = plot(given.title, given.labels, given.series, given.kind)
        return Outcome("The plot, as SVG.", picture=picture)

    def _refuse_if_only_counts(self) -> None:
        if self.reader.least_count:
            raise Refused(_ONLY_COUNTS.format(least=self.reader.least_count))

    def _may_see(self, view: View, column: str) -> bool:
        """Return whether a column of the view, or of that of its base, is not withheld."""
        bases = [key.target for key in view.foreign_keys]
        places = [(view.schema, view.name), *((base.schema, base.name) for base in bases)]
        return not any(is_withheld(self.reader.withheld, schema, name, column) for schema, name in places)

    def _visible(self, view: View) -> frozenset[str]:
        patterns = self.reader.withheld
        return frozenset(name for name, _ in view.columns if not is_withheld(patterns, view.schema, view.name, name))

    def _ask(self, tool: str, statement: str) -> Answer:
        """Answer a statement, of which there is a trace before: a server that is killed leaves one, too."""
        question = Question.objects.create(
            person=self.reader.name, data_store=self.place.data_store, tool=tool, statement=statement.replace("\0", "")
        )
        try:
            found = self._answer(statement)
        except Refused as refusal:
            Question.objects.filter(pk=question.pk).update(outcome=f"refused: {refusal}")
            raise
        students = self._students(found)
        Question.objects.filter(pk=question.pk).update(outcome="answered", rows=len(found.rows), students=students)
        return found

    def _answer(self, statement: str) -> Answer:
        roles = Roles(self.reader, self.place.using)
        try:
            login = roles.login()
            try:
                return answer(statement, login, self._semantics.search_path)
            except errors.OperationalError as error:
                if "password" not in str(error):
                    raise
                roles.set_password()
                return answer(statement, login, self._semantics.search_path)
        except RoleNotMade as error:
            log.error("%s", error)
            raise Refused(_NO_ROLE) from error
        except psycopg.OperationalError as error:
            log.error("questions: %s", error)
            raise Refused(
                "The database cannot be reached, or too many questions are being answered. Try again."
            ) from error

    def _students(self, found: Answer) -> list[str]:
        """Return the unique ids of the students whose number or unique id is in an answer."""
        numbers: set[int] = set()
        unique_ids: set[str] = set()
        for position, is_number in self._semantics.student_columns(found.origins):
            values = {row[position] for row in found.rows} - {None}
            if is_number:
                numbers |= values
            else:
                unique_ids |= values
        if numbers:
            with connections[self.place.using].cursor() as cursor:
                cursor.execute(_UNIQUE_IDS, [sorted(numbers)])
                unique_ids |= {unique_id for (unique_id,) in cursor.fetchall()}
        return sorted(unique_ids)

    def _outcome(self, found: Answer, before: str = "") -> Outcome:
        table = {"columns": list(found.columns), "rows": found.rows}
        text = "\n".join(filter(None, [before, f"{len(found.rows)} rows. {NOTE}", marked(table)]))
        return Outcome(text, {"contentOfDocuments": table})


def without_small_counts(rows: list[list[Any]], least: int) -> tuple[list[list[Any]], int]:
    """Return the rows whose last value, a count, is not below the least number, and how many are hidden.

    If one small group alone is hidden, the next smallest is, too: the total would tell its number.
    """
    small = [row for row in rows if row[-1] < least]
    shown = [row for row in rows if row[-1] >= least]
    if len(small) == 1 and shown:
        shown.remove(min(shown, key=lambda row: row[-1]))
    return shown, len(rows) - len(shown)


def _condition(condition: Condition) -> sql.Composable:
    column = sql.Identifier(condition.column)
    if condition.operator in ("is null", "is not null"):
        return sql.SQL("{} " + condition.operator.upper()).format(column)
    if condition.value is None:
        raise Refused(f"The condition on {condition.column} has no value.")
    # PostgreSQL reads a literal of any type so.
    value = condition.value if isinstance(condition.value, str) else msgspec.json.encode(condition.value).decode()
    return sql.SQL("{} " + condition.operator + " {}").format(column, sql.Literal(value))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what its arguments are, and the function of a session that answers."""

    arguments: type[msgspec.Struct]
    function: Callable[[Session, Any], Outcome]

    @property
    def description(self) -> str:
        """Return what the tool does, on one line."""
        return " ".join((self.arguments.__doc__ or "").split())

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        _, components = msgspec.json.schema_components([self.arguments], ref_template="#/$defs/{name}")
        root: dict[str, Any] = components.pop(self.arguments.__name__)
        return root | ({"$defs": components} if components else {})

    def call(self, session: Session, arguments: Mapping[str, Any]) -> Outcome:
        """Answer the arguments. Raises Refused."""
        try:
            given = msgspec.convert(dict(arguments), self.arguments)
        except msgspec.ValidationError as error:
            raise Refused(f"The arguments do not fit: {error}.") from error
        return self.function(session, given)


TOOLS = {
    "describe": Tool(Describe, Session.describe),
    "find": Tool(Find, Session.find),
    "ask": Tool(Ask, Session.ask),
    "count": Tool(Count, Session.count),
    "plot": Tool(Plot, Session.plot),
}
