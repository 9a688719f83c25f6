"""Files → many documents at once, and back; databases that are filled."""
