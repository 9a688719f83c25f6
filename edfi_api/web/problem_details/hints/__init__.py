"""Exception → hints: what was sent, and what to do, beside the texts on which Ed-Fi clients match.

They are for people, in a member of their own in a problem: at most ten, each cut to about a thousand characters. A hint
names only what the client has sent, what everyone may know (the names of resources, query fields and members), and
descriptors and keys of documents that the client may read. It names no member of a resource that the client sees
through a profile. See meadowlark/docs/reference/contract.md#hints.
"""

from edfi_api.web.problem_details.hints import body_hints, document_hints, request_hints
from edfi_api.web.problem_details.hints.attempted_request import AttemptedRequest, hints_of

__all__ = ["AttemptedRequest", "body_hints", "document_hints", "hints_of", "request_hints"]
