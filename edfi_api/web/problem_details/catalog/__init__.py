"""The error contract: exception → status, type URN, title, detail. `problem_of` is the entry point.

Ed-Fi clients match on these texts. See meadowlark/docs/reference/contract.md#problem-details. Each exception has its
text in one module of this package, by what the client has to change. Sentences that stand elsewhere are parts of a
text whose rest is here, or are not in problem details at all:

- `edfi_api/core/documents/violations.py`: the sentence for each broken rule of a body. Loads report the same
  texts without HTTP.
- `edfi_api/core/documents/json_text.py`: where a text stops being JSON, mostly in the words of the parser.
- `edfi_api/core/queries/pagination.py`, `edfi_api/core/queries/parameters.py`, `edfi_api/core/queries/selection.py`,
  `edfi_api/core/queries/filters.py`, `edfi_api/core/queries/listing.py`,
  `edfi_api/features/changes/change_queries/windows.py`, `edfi_api/features/changes/history/views.py`,
  `edfi_api/features/refusals/http/entries.py`, `edfi_api/web/batch/sent_batch.py`, `edfi_api/web/relations/related.py`:
  which values a query parameter takes, next to the check, since several are reported at once with the limits that were
  checked.
- `edfi_api/core/security/requests/authentication.py`, `edfi_api/core/security/oauth/views.py`: which part of
  the header or the form is missing, one sentence for each step of reading it.
- `edfi_api/core/security/strategies/`: hints by which associations a client would be authorized.
- `edfi_api/core/security/oauth/views.py`: errors of the token endpoint, in the member that RFC 6749 requires.
- `edfi_api/web/metadata/urls.py`: the plain text of an unknown section, as Ed-Fi's server answers it.
- `edfi_api/features/management_api/problems.py`, `edfi_api/features/management_api/texts.py`: errors of the management
  API, in the words of Ed-Fi's Configuration Service.
- `meadowlark/serving/own_answers.py`: requests that the server refuses before Django runs.
"""

from edfi_api.web.problem_details.catalog import (
    authorization,
    bodies,
    clients,
    conflicts,
    data_stores,
    profiles,
    requests,
)
from edfi_api.web.problem_details.catalog.registry import problem_of
from edfi_api.web.problem_details.problem import SYSTEM_ERROR

__all__ = [
    "SYSTEM_ERROR",
    "authorization",
    "bodies",
    "clients",
    "conflicts",
    "data_stores",
    "problem_of",
    "profiles",
    "requests",
]
