"""Documents of one data standard → documents of another, by mapping files.

A file (`files`) is checked against the surfaces of both standards and compiled (`plans`); `translation` applies it to
bodies. Files that lead from one to the next bundled standard are in `bundled/`, and can be chained (`translation`).
Whatever does not arrive is counted by member.
"""

from edfi_api.features.loading.mapping.translation import Translated, Translator, UnmappedCounts, mapping_named

__all__ = ["Translated", "Translator", "UnmappedCounts", "mapping_named"]
