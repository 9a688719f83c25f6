"""What `settings.py` reads from the environment, and settings of Django that are computed from it."""
