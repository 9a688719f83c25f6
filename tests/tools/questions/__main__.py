"""How many of the hundred questions an assistant answers rightly.

    python -m tests.tools.questions --assistant "my-assistant --server district"

The command is started for each question, with the question and how to answer it on standard input. It asks `run_mcp` of
a demo district as it likes, and prints the rows of its answer as JSON on the last line. `--only 1,5` asks some of them.

    python -m tests.tools.questions --write READER

writes the answers of the page again, where READER is the address of a reader of the views of the demo district.
"""

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import psycopg

from tests.tools.questions.corpus import PAGE, STUDENTS, TODAY, Question, questions, with_answers

_HOW = (
    "Answer from the data of the district. On the last line print nothing but the rows of the answer as a JSON array of"
    " arrays, with the columns that the question asks for, names rather than numbers of schools, dates as 2026-01-31."
)


def main() -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--assistant", metavar="COMMAND", help="is run by the shell for each question")
    what.add_argument("--write", metavar="READER", help=f"a district of {STUDENTS} students on {TODAY}")
    parser.add_argument("--only", help="numbers of questions, separated by commas")
    parser.add_argument("--seconds", type=float, default=300, help="for each question (default 300)")
    options = parser.parse_args()
    if options.write:
        _write(options.write)
        return 0
    only = {int(number) for number in options.only.split(",")} if options.only else None
    chosen = [each for each in questions() if only is None or each.number in only]
    right = sum(_is_right(each, options.assistant, options.seconds) for each in chosen)
    print(f"{right} of {len(chosen)} answers are right")
    return 0


def _is_right(question: Question, command: str, seconds: float) -> bool:
    began = time.monotonic()
    answer = _answer(f"{question.words}\n\n{_HOW}\n", command, seconds)
    is_right = question.is_answered_by(answer)
    print(
        f"{question.number:>3} {'right' if is_right else 'WRONG'} {time.monotonic() - began:6.1f} s  {question.words}"
    )
    if not is_right:
        print(f"    expected {json.dumps(question.rows)}\n    answered {json.dumps(answer)}", flush=True)
    return is_right


def _answer(text: str, command: str, seconds: float) -> Any:
    """What the last line says; None if it is no JSON, or does not come in time."""
    try:
        done = subprocess.run(  # noqa: S602 - the command is that of the person at the shell
            command, shell=True, input=text, stdout=subprocess.PIPE, text=True, check=False, timeout=seconds
        )
        return json.loads(done.stdout.strip().rpartition("\n")[2])
    except (subprocess.TimeoutExpired, ValueError):
        return None


def _write(reader: str) -> None:
    with psycopg.connect(reader, autocommit=True) as connection:
        found = {
            each.number: [list(map(_as_json, row)) for row in connection.execute(each.statement).fetchall()]
            for each in questions()
        }
    PAGE.write_text(with_answers(PAGE.read_text(), {number: sorted(rows, key=str) for number, rows in found.items()}))


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value) if hasattr(value, "isoformat") else float(value)


if __name__ == "__main__":
    sys.exit(main())
