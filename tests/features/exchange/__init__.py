"""Connections to other Ed-Fi APIs."""
