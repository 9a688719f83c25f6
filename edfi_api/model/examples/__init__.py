"""Valid bodies made from a surface: the examples of the OpenAPI documents, and complete bodies from sparse ones.

`completion` adds to a sparse body what its resource requires; `origins` relates the values of references to the members
where they are defined, so that documents of one scope refer to each other; `values` has the values of all other
members; `examples` are the bodies that the documentation shows.
"""

from edfi_api.model.examples.completion import Bodies, Body, Scope, Sparse
from edfi_api.model.examples.examples import Examples
from edfi_api.model.examples.origins import MemberOrigin
from edfi_api.model.examples.values import SCHOOL_YEAR

__all__ = ["SCHOOL_YEAR", "Bodies", "Body", "Examples", "MemberOrigin", "Scope", "Sparse"]
