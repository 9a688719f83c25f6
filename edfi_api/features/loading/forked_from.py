"""Preloaded by the fork server of `processes`, so that the worker processes share the loaded modules."""

import importlib

import django

django.setup()
importlib.import_module("edfi_api.features.loading.bulk.preparation")
