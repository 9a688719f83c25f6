"""Problem details over HTTP: what Django and DRF call for an exception."""
