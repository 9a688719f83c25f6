"""What ends a command about interchange files, with the line that its user reads."""

from edfi_api.common.commands import ErrorTexts
from edfi_api.common.logs.printable import printable
from edfi_api.features.loading.command_errors import ERRORS_OF_LOADS
from edfi_api.features.loading.interchange.exceptions import NothingFound

ERRORS_OF_INTERCHANGE_FILES: ErrorTexts = {
    **ERRORS_OF_LOADS,
    NothingFound: lambda error: f"no XML file in {', '.join(map(printable, error.paths))}",
}
