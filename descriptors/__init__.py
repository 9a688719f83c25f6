"""Descriptors: loading their values, and their page in the admin."""
