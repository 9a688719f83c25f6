"""The number of refusals with which a load still succeeds: `--max-refused` of the loading commands."""

from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import dataclass

_HELP = "load all that can be, then fail if more was refused: a number, or a percentage of the documents, such as 5%%"


@dataclass(frozen=True, slots=True)
class RefusalLimit:
    """A number of documents, or a percentage of all documents in the input."""

    given: str
    number: float
    is_percentage: bool

    def allows(self, refused: int, sent: int) -> bool:
        return refused <= (sent * self.number / 100 if self.is_percentage else self.number)


def refusal_limit(given: str) -> RefusalLimit:
    """The type of the argument: `0`, `100`, `5%`, `0.5%`."""
    text = given.removesuffix("%")
    is_percentage = text != given
    is_number = text.isascii() and (text.replace(".", "", 1) if is_percentage else text).isdecimal()
    if not is_number or (is_percentage and float(text) > 100):
        raise ArgumentTypeError(f"{given!r} is not a number of documents or a percentage such as 5%")
    return RefusalLimit(given, float(text), is_percentage)


def add_strict_and_max_refused(parser: ArgumentParser) -> None:
    """Add both options; they exclude each other."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--strict", action="store_true", help="stop at the first refusal")
    group.add_argument(
        "--max-refused",
        type=refusal_limit,
        metavar="N",
        help=f"{_HELP}; default: any number, as long as a document is accepted",
    )


def add_max_refused(parser: ArgumentParser) -> None:
    """Add `--max-refused` alone, with a default of 0, to commands that should have no refusals."""
    parser.add_argument("--max-refused", type=refusal_limit, default="0", metavar="N", help=f"{_HELP}; default: 0")
