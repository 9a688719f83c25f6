"""The stored data for people who use SQL."""
