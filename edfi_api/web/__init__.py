"""The Ed-Fi API over HTTP, and what all pages share."""
