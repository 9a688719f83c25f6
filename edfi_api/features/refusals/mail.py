"""The causes of open refusals in the weekly mail: the kind of each, without keys."""

from edfi_api.common.logs.printable import counted
from edfi_api.features.refusals.admin.wording import kind_of_cause
from edfi_api.features.refusals.overview import top_causes
from edfi_api.web.admin_kit.follow_up import is_dismissed, state_in_words
from edfi_api.web.admin_kit.mail_sections import MailSection, path_of


def open_causes() -> MailSection:
    """The most frequent ones that are not dismissed."""
    found = [each for each in top_causes() if not is_dismissed(each.until)]
    lines = [
        (
            f"{each.client_name or f'client {each.client}'}: {kind_of_cause(each.problem, each.awaited_resource)}, "
            f"{counted(each.entries, 'document')}, {state_in_words(each.state, each.until, each.since)}",
            path_of("admin:cause", each.latest),
        )
        for each in found
    ]
    return MailSection("Causes of refused writes", counted(len(lines), "open cause"), lines)
