"""HTTP for documents: one viewset class for each resource, made from the surface."""
