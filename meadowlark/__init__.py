"""The Django project: settings, URL map, WSGI application, `make run`, and the embedded PostgreSQL."""
