"""Bulk loading, with the same result as writing the documents one by one through the API.

`candidates` defines input and output. `pipeline` processes them in batches: `preparation` makes these, validates bodies
and builds rows in several processes; its threads write batches that do not depend on each other; `writing` writes a
batch by `storage.sets`. `free_order` writes documents whose targets may follow. A `dry_run` determines results without
writing, and keeps the documents that it accepts.
"""

from edfi_api.features.loading.bulk.candidates import Candidate, Written
from edfi_api.features.loading.bulk.pipeline import BulkWriter, bulk_writer, write_documents

__all__ = ["BulkWriter", "Candidate", "Written", "bulk_writer", "write_documents"]
