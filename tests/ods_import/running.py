"""The command, in the process of the tests and on their one connection."""

from tests.management_commands import printed
from tests.ods_import.ods import Ods


def import_documents(ods: Ods, *options: object) -> str:
    """What it prints."""
    return printed("import_ods", "documents", "--from", ods.address, "--processes", 0, *options).out
