"""Imported by the process from which others are forked (`processes`): loads what all of them need."""

import importlib

import django

django.setup()
importlib.import_module("edfi_api.documents.bulk.preparation")
