"""System checks of the model and of the database."""
