"""`manage.py drop_ended_sandboxes`"""

from typing import Any

from edfi_api.common.commands import ReportingCommand
from edfi_api.features.sandboxes.creating import drop_ended
from edfi_api.features.sandboxes.exceptions import ERRORS_OF_SANDBOXES


class Command(ReportingCommand):
    error_texts = ERRORS_OF_SANDBOXES
    help = "Drops the sandboxes that ended a week ago or earlier, with their databases and clients."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"sandboxes dropped: {drop_ended()}")
