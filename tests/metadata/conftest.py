"""Surfaces of small models, as in the tests of the surface."""

from tests.surface.conftest import surface_of  # noqa: F401
