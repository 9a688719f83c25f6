"""What ends a command about JSON Lines, with the line that its user reads."""

from concurrent.futures.process import BrokenProcessPool

from edfi_api.common.commands import ErrorTexts
from edfi_api.common.logs.printable import printable
from edfi_api.features.loading.command_errors import ERRORS_OF_LOADS
from edfi_api.features.loading.json_lines.exceptions import NoLinesFound, PyArrowMissing, ResourceNotServed

ERRORS_OF_JSON_LINES: ErrorTexts = {
    **ERRORS_OF_LOADS,
    NoLinesFound: lambda error: f"no .jsonl or .csv file in {', '.join(map(printable, error.paths))}",
    ResourceNotServed: lambda error: f"the API offers no {error.name}",
    PyArrowMissing: lambda _: "Parquet needs pyarrow, which is not installed: pip install -r requirements/parquet.lock",
    BrokenProcessPool: lambda _: "a process that prepared documents has died; was there too little memory?",
    BrokenPipeError: lambda _: "the reader of standard output has ended",
}
