"""What rules of validation find at schools, in the weekly mail: counts, without persons."""

from django.db import DEFAULT_DB_ALIAS

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import counted
from edfi_api.core.security.organizations import names_in
from edfi_api.features.validation.admin.overview import open_by_organization
from edfi_api.web.admin_kit.follow_up import is_dismissed, state_in_words
from edfi_api.web.admin_kit.mail_sections import MailSection, path_of


def open_findings() -> MailSection:
    """Those of the documents in the admin database that are not dismissed, the largest numbers first."""
    found = open_by_organization(DEFAULT_DB_ALIAS) if api_settings.has_main_store else []
    found = [each for each in found if not is_dismissed(each.until)]
    names = names_in({each.organization for each in found if each.organization is not None}, DEFAULT_DB_ALIAS)
    lines = [
        (
            f"{each.name}, {names.get(each.organization or 0) or each.organization or 'without an organization'}: "
            f"{counted(each.entries, 'result')}, {state_in_words(each.state, each.until, each.since)}",
            path_of("admin:validation_rule_at", each.rule, each.organization or 0),
        )
        for each in found
    ]
    return MailSection("What rules of validation find", counted(len(lines), "finding"), lines)
