"""`manage.py mail_open_causes`"""

from smtplib import SMTPException
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.common.conf import api_settings
from edfi_api.common.contributions import contributions
from edfi_api.common.logs import audit
from edfi_api.features.mail.sending import send_once, this_week


class Command(BaseCommand):
    help = (
        "Sends the weekly mail about what is open, causes of refusals and what rules of validation find, to the "
        "addresses of MEADOWLARK_MAIL_TO that have not got it this week. To be run once a day, by "
        "MEADOWLARK_SCHEDULE='24h housekeeping; 06:00 mail_open_causes'. The exit status is 1 if a mail could not be "
        "sent, after the others were tried."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not api_settings.MAIL_TO:
            self.stdout.write("Nobody gets it: MEADOWLARK_MAIL_TO has no address.")
            return
        sections = [found for section in contributions("mail_sections") if (found := section()).lines]
        if not sections:
            self.stdout.write("Nothing is open, so there is no mail.")
            return
        failed = []
        for address in api_settings.MAIL_TO:
            try:
                was_sent = send_once(address, this_week(), sections)
            except (OSError, SMTPException) as error:
                failed.append(f"{address}: {' '.join(str(error).split())}")
                continue
            if was_sent:
                audit.log_change("mail sent", by="command", address=address)
            self.stdout.write(f"{address}: {'sent' if was_sent else 'has it already'}")
        if failed:
            raise CommandError(f"not sent: {'; '.join(failed)}")
