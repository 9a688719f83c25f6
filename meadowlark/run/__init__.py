"""`make run` and `make demo`: PostgreSQL of a home, its preparation, the server, and what is printed."""
