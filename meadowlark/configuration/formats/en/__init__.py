"""The language of the pages."""
