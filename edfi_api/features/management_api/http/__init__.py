"""The routes of the management API, and its views that belong to no version of it."""
