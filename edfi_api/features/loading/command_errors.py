"""What ends a load as a whole, with the line that its user reads."""

import sqlite3

from edfi_api.common.commands import ErrorTexts
from edfi_api.common.logs.printable import printable
from edfi_api.features.loading.files import NoSuchPath, StoppedAtRefusal

# Whatever a load reads.
ERRORS_OF_LOADS: ErrorTexts = {
    NoSuchPath: lambda error: f"{printable(error.path)} does not exist",
    StoppedAtRefusal: lambda error: f"stopped at the first refusal: {error.refusal}",
    sqlite3.Error: lambda error: (
        f"the temporary database that documents wait in, in the folder of TMPDIR, failed: {error}"
    ),
    OSError: lambda error: f"{printable(error.filename)}: {error.strerror}",
}
