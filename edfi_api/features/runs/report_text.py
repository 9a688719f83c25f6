"""A report as plain text, for terminals and mails."""

from collections.abc import Iterator, Sequence
from typing import Any

from edfi_api.common.logs.printable import printable

_TIMES = ("p50", "p95", "p99")


def report_text(report: dict[str, Any]) -> str:
    """The report, with a table for each of its parts that has anything to say."""
    return "\n".join(_lines(report))


def _lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"Run of {printable(report['name'])} ({report['client']})"
    if report["firstRequestAt"] is None:
        yield "No request has been counted."
        return
    yield f"from {report['firstRequestAt']} to {report['lastRequestAt']}, {report['seconds']} seconds"
    times = [
        [each["kind"], each["requests"], each["perSecond"], *(each["milliseconds"].get(name, "") for name in _TIMES)]
        for each in report["requests"]
    ]
    yield from _table("Requests", ["kind", "requests", "per second", "p50 ms", "p95 ms", "p99 ms"], times)
    for title, rows in (
        ("Writes", report["writes"]),
        ("Refused", [_without(each, "type") for each in report["refusals"]]),
        ("Reads", report["reads"]),
        ("Exercised", report["exercised"]),
    ):
        if rows:
            yield from _table(title, [_in_words(name) for name in rows[0]], [list(row.values()) for row in rows])
    yield ""
    yield "Environment"
    for name, value in report["environment"].items():
        shown = ", ".join(f"{_in_words(key)} {each}" for key, each in value.items()) if name == "limits" else value
        yield f"  {_in_words(name)}: {_shown(shown) or 'none'}"


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    texts = [list(heads), *([_shown(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(heads))]
    yield f"\n{title}"
    for row in texts:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else printable(value)


def _in_words(name: str) -> str:
    """`from change version` for `fromChangeVersion`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)


def _without(row: dict[str, Any], left_out: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != left_out}
