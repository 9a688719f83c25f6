"""Exception → problem details: every text and status of an error."""
