"""Requests of API clients: who sends one, which database answers it, and what it may do."""
