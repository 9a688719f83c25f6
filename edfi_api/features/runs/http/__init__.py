"""Runs and their reports over HTTP."""
