"""The routes of deletes, key changes and available change versions."""
