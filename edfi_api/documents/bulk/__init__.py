"""Many documents at once, with the result that writing them one after the other through the API has.

`candidates` says what comes in and goes out. `pipeline` leads them through, cut into `batches`: `preparation` brings
bodies to what can be stored, in several processes; `order` says which batches may be written side by side, by the
threads of `sessions`; `writing` puts a batch into the database by `statements`, when `judgement` has decided which of
its rows the API would refuse.
"""

from edfi_api.documents.bulk.candidates import Candidate, Refusal, Written
from edfi_api.documents.bulk.pipeline import BulkWriter, bulk_writer, write_documents

__all__ = ["BulkWriter", "Candidate", "Refusal", "Written", "bulk_writer", "write_documents"]
