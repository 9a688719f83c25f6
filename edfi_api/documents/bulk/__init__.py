"""Many documents at once, with the result that writing them one after the other through the API has.

`candidates` says what comes in and goes out, `preparation` brings bodies to what can be stored (in several processes,
see `pipeline`), `judgement` decides which rows of a batch the API would refuse, `writing` puts a batch into the
database by the statements of `statements`.
"""

from edfi_api.documents.bulk.candidates import Candidate, Refusal, Written
from edfi_api.documents.bulk.pipeline import BulkWriter, bulk_writer, write_documents

__all__ = ["BulkWriter", "Candidate", "Refusal", "Written", "bulk_writer", "write_documents"]
