"""Level 2 validation: rules over stored documents, their runs and results. See
meadowlark/docs/operate/validation.md."""
