"""HTTP: the routes of the API."""
