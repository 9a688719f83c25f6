"""Logging in to the admin: by OpenID Connect, and by password with a second factor."""
