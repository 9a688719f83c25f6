"""The MetaEd language: text of data standards and extensions → the linked model."""
