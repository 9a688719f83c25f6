"""The routes of rules, runs and results of validation. See meadowlark/docs/operate/validation.md."""
