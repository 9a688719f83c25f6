"""Types for the arguments of commands; argparse words the refusal."""

from argparse import ArgumentTypeError
from collections.abc import Callable


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """From `least` to `most`, both included."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError as error:
            raise ArgumentTypeError(f"{text!r} is not a whole number") from error
        if not least <= number <= most:
            raise ArgumentTypeError(f"{text} is not between {least} and {most}")
        return number

    return convert


def seconds(text: str) -> float:
    """At most a day; not negative."""
    try:
        number = float(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds") from error
    if not 0 <= number <= _DAY:
        raise ArgumentTypeError(f"{text} is not between 0 and {_DAY} seconds")
    return number


_DAY = 86_400
