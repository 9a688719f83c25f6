"""Delivers changes, in order and at least once. See the README beside this module."""
