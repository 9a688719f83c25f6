"""The command, in the process of the tests and on their one connection."""

from tests.features.ods_import.ods import Ods
from tests.support.management_commands import printed


def import_documents(ods: Ods, *options: object) -> str:
    """What it prints."""
    return printed("import_ods", "documents", "--from", ods.address, "--processes", 0, *options).out
