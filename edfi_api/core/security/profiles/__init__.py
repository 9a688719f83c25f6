"""Stored API profiles, their assignment to applications, and the choice of the one that a request is under.

What definitions mean is in `edfi_api.model.profiles`; bodies are projected and merged in `edfi_api.core.documents`.
"""
