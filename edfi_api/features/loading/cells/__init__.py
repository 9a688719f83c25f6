"""Rows of cells, and columns that are named by the paths of members: what is read from CSV and spreadsheets."""
