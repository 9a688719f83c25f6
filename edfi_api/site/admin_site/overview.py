"""Document counts per resource and the latest changes, at a bounded cost for any number of documents."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connections
from django.db.models import Exists, OuterRef, QuerySet

from edfi_api.core.models import Document, ResourceType
from edfi_api.core.served import current_surface
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import ResourceName
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.titles import DocumentKey, titles

# Up to this number the documents of a resource are counted, which takes 15 ms; above it, PostgreSQL's statistics give
# an estimate.
COUNTED = 100_000
_CHANGES_SHOWN = 15

# pg_stats has the frequencies of the most common values of a column, here the resource types.
_COUNTS = """
WITH estimate AS (
    SELECT number, share * greatest(c.reltuples, 0) AS documents
      FROM pg_stats s
      JOIN pg_class c ON c.oid = 'document'::regclass
      CROSS JOIN unnest(s.most_common_vals::text::smallint[], s.most_common_freqs) AS common (number, share)
     WHERE s.schemaname = current_schema AND s.tablename = 'document' AND s.attname = 'resource_type_id'
)
SELECT t.id, t.name, counted.documents, coalesce(estimate.documents, 0)
  FROM resource_type t
  LEFT JOIN estimate ON estimate.number = t.id
  CROSS JOIN LATERAL (
      -- Above the limit the estimate is shown, so it suffices to know that there are any.
      SELECT count(*) AS documents
        FROM (
            SELECT FROM document d WHERE d.resource_type_id = t.id
             LIMIT CASE WHEN estimate.documents > %(counted)s THEN 1 ELSE %(counted)s + 1 END
        ) AS first_ones
  ) AS counted
 WHERE counted.documents > 0
 ORDER BY t.project
"""

# The index ends with the newest of each resource; the newest overall are among these.
_LATEST_CHANGES = """
SELECT newest.id, t.project, t.name, newest.natural_key, newest.last_modified_at
  FROM resource_type t
  CROSS JOIN LATERAL (
      SELECT d.id, d.natural_key, d.last_modified_at, d.change_version
        FROM document d WHERE d.resource_type_id = t.id ORDER BY d.change_version DESC LIMIT %(shown)s
  ) AS newest
 ORDER BY newest.change_version DESC
 LIMIT %(shown)s
"""


@dataclass(frozen=True, slots=True)
class Count:
    """The number of documents of a resource: counted up to COUNTED, estimated by the statistics beyond it."""

    resource_type: int
    resource: str
    counted: int
    estimated: float

    @property
    def is_descriptor(self) -> bool:
        return is_descriptor_name(self.resource)

    @property
    def kind(self) -> str:
        return kind_in_words(self.resource).plural

    @property
    def is_exact(self) -> bool:
        return self.counted <= COUNTED and self.estimated <= COUNTED

    @property
    def text(self) -> str:
        """`4,213`; `about 1,200,000`, with two significant digits; `more than 100,000` without statistics."""
        if self.estimated > COUNTED:
            return f"about {int(float(f'{self.estimated:.1e}')):,}"
        return f"{self.counted:,}" if self.counted <= COUNTED else f"more than {COUNTED:,}"


@dataclass(frozen=True, slots=True)
class RecentChange:
    """A document with the time of its last change."""

    row: int
    kind: str
    title: str
    last_modified_at: datetime


def counts(using: str) -> list[Count]:
    """The counts of all resources that have documents, in the order of their words."""
    with connections[using].cursor() as cursor:
        rows = cursor.execute(_COUNTS, {"counted": COUNTED}).fetchall()
    return sorted((Count(*row) for row in rows), key=lambda count: count.kind)


def latest_changes(using: str) -> list[RecentChange]:
    """The most recently written documents, the latest first."""
    with connections[using].cursor() as cursor:
        rows = cursor.execute(_LATEST_CHANGES, {"shown": _CHANGES_SHOWN}).fetchall()
    resources = current_surface().by_name
    keys = [DocumentKey(resources.get(ResourceName(project, name)), key) for _, project, name, key, _ in rows]
    return [
        RecentChange(row, kind_in_words(name).singular, title, at)
        for (row, _, name, _, at), title in zip(rows, titles(keys, using), strict=True)
    ]


def resources_with_documents(using: str) -> QuerySet[ResourceType]:
    """The resource types that have documents: one index probe each."""
    documents = Document.objects.filter(resource_type=OuterRef("pk"))
    return ResourceType.objects.using(using).filter(Exists(documents)).order_by("name", "project")
