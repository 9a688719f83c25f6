"""Measurements → a table, ratios to the upper bounds, JSON, and the comparison with an earlier run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from meadowlark import interpreter
from tests.tools.benchmarks import queries
from tests.tools.benchmarks.load import Measured

STATEMENT = "bare statement (pgbench)"
PLAIN_TABLES = "plain tables (pgbench)"
CONSTANT = "constant Django view"
LEAN = "lean view of a document"
PLAIN_CONSTANT = "constant, plain gunicorn"
RESPONDER = "trivial responder"
FEDERATED = "GET association by id, JWT"


@dataclass(frozen=True)
class Row:
    """All rounds of one operation with this number of connections, as medians; errors are summed up."""

    operation: str
    connections: int
    per_second: float
    p50: float
    p99: float
    errors: int
    generator_share: float | None
    server_cost: float | None
    database_cost: float | None


@dataclass(frozen=True)
class Ratio:
    """The ratio of an operation to its upper bound, both with 16 connections: median, minimum and maximum."""

    operation: str
    ceiling: str
    target: float | None
    value: float
    least: float
    greatest: float


_HEAD = (
    f"{'':28}{'conn.':>6}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'errors':>8}"
    f"{'generator':>11}{'server us':>11}{'database us':>13}"
)

# Targets of the project; ratios without a number are printed for information. Those to our own statement and to a
# constant view have none: they fall when the statement or the engine gets faster, although requests do, too.
RATIOS: list[tuple[str, str, float | None]] = [
    ("POST association", PLAIN_TABLES, 0.09),
    ("POST association", STATEMENT, None),
    ("POST student", STATEMENT, None),
    ("GET association by id", LEAN, 0.80),
    ("GET association by id", CONSTANT, None),
    ("GET association by id", PLAIN_CONSTANT, None),
    (FEDERATED, "GET association by id", 0.98),
    ("GET student by id", CONSTANT, None),
    ("POST association again", "POST association", 1.5),
]

# Rounds of one operation with one number of connections.
Rounds = Mapping[tuple[str, int], list[Measured]]
# Rates by operation and connections, ratios by operation and upper bound.
Baseline = Mapping[tuple[str, int | str], float]

# Below both of these the generator was not the bottleneck.
_MOST_OF_A_CORE = 0.8
_LEAST_MARGIN = 2


def rows(rounds: Rounds) -> list[Row]:
    return [_row(operation, connections, measured) for (operation, connections), measured in rounds.items()]


def ratios(rounds: Rounds, connections: int) -> list[Ratio]:
    """Per round, since other load on the machine affects both operations of a round alike."""
    found = []
    for operation, ceiling, target in RATIOS:
        pairs = zip(rounds[operation, connections], rounds[ceiling, connections], strict=True)
        values = [meadowlark.per_second / reference.per_second for meadowlark, reference in pairs]
        found.append(Ratio(operation, ceiling, target, median(values), min(values), max(values)))
    return found


def text(found: Iterable[Row], against: Iterable[Ratio], before: Baseline) -> str:
    """A readable report; with a baseline, each figure is compared with it."""
    lines = [_HEAD + (f"{'change':>8}" if before else "")]
    lines += [_line(row) + _change(before.get((row.operation, row.connections)), row.per_second) for row in found]
    lines += ["", f"{'':28}{'':28}{'ratio':>7}{'least':>8}{'most':>7}{'target':>8}"]
    lines += [
        _ratio_line(ratio) + _change(before.get((ratio.operation, ratio.ceiling)), ratio.value) for ratio in against
    ]
    return "\n".join(lines)


def conclusions(found: Sequence[Row], against: Iterable[Ratio], generator: str) -> str:
    """The conclusions: targets, errors, and the load generator."""
    return "\n".join([_about_generator(found, generator), _about_targets(against), _about_errors(found)])


def _about_generator(found: Sequence[Row], generator: str) -> str:
    served = [row for row in found if row.generator_share is not None and row.operation != RESPONDER]
    share = max(row.generator_share or 0 for row in served)
    alone = {row.connections: row.per_second for row in found if row.operation == RESPONDER}
    margin = min(alone[row.connections] / row.per_second for row in served)
    is_fast = share < _MOST_OF_A_CORE and margin > _LEAST_MARGIN
    verdict = "it was not the bottleneck" if is_fast else "IT MAY HAVE BEEN THE BOTTLENECK: do not trust the rates"
    return (
        f"Load generator: {generator}. It took {share:.0%} of a core at most, and is at least {margin:.1f} times as "
        f"fast where the server costs nothing; {verdict}."
    )


def _about_targets(against: Iterable[Ratio]) -> str:
    missed = [
        f"{ratio.operation} has {ratio.value:.2f} of {ratio.target:.2f}"
        for ratio in against
        if ratio.target is not None and ratio.value < ratio.target
    ]
    return f"Targets missed: {', '.join(missed)}." if missed else "All targets are met."


def _about_errors(found: Iterable[Row]) -> str:
    failed = [f"{row.operation} ({row.errors})" for row in found if row.errors]
    return f"REQUESTS FAILED: {', '.join(failed)}." if failed else "No request failed."


def as_json(found: Iterable[Row], against: Iterable[Ratio], generator: str, query_rows: Iterable[queries.Row]) -> str:
    """JSON for `--baseline`, including the section of queries."""
    document = {
        "interpreter": interpreter.build(),
        "generator": generator,
        "rows": [asdict(row) for row in found],
        "ratios": [asdict(ratio) for ratio in against],
        "queries": [asdict(row) for row in query_rows],
    }
    return json.dumps(document, indent=1)


def _row(operation: str, connections: int, measured: list[Measured]) -> Row:
    return Row(
        operation,
        connections,
        per_second=median(each.per_second for each in measured),
        p50=median(each.p50 for each in measured),
        p99=median(each.p99 for each in measured),
        errors=sum(each.errors for each in measured),
        generator_share=_median([each.generator_share for each in measured]),
        server_cost=_median([each.server_cost for each in measured]),
        database_cost=_median([each.database_cost for each in measured]),
    )


def _median(values: list[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return median(present) if present else None


def baseline(file: Path) -> Baseline:
    """Rates and ratios of an earlier run; ValueError, LookupError or TypeError if the file is something else, or of an
    interpreter that was built in another way: builds differ by more than most changes do."""
    document = json.loads(file.read_text())
    if document["interpreter"] != interpreter.build():
        raise ValueError(f"measured with {document['interpreter']}, and this is {interpreter.build()}")
    figures = {(row["operation"], row["connections"]): row["per_second"] for row in document["rows"]}
    return figures | {(ratio["operation"], ratio["ceiling"]): ratio["value"] for ratio in document["ratios"]}


def _line(row: Row) -> str:
    share = "-" if row.generator_share is None else f"{row.generator_share:.0%}"
    times = f"{row.p50:>9.2f}{row.p99:>9.2f}"
    costs = f"{_cost(row.server_cost):>11}{_cost(row.database_cost):>13}"
    return f"{row.operation:28}{row.connections:>6}{row.per_second:>9,.0f}{times}{row.errors:>8}{share:>11}{costs}"


def _cost(microseconds: float | None) -> str:
    return "-" if microseconds is None else f"{microseconds:.0f}"


def _ratio_line(ratio: Ratio) -> str:
    target = "-" if ratio.target is None else f"{ratio.target:.2f}"
    spread = f"{ratio.value:>7.2f}{ratio.least:>8.2f}{ratio.greatest:>7.2f}"
    return f"{ratio.operation:28}{'to ' + ratio.ceiling:28}{spread}{target:>8}"


def _change(before: float | None, now: float) -> str:
    return f"{now / before - 1:>+8.0%}" if before else ""
