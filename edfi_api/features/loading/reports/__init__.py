"""What becomes of the documents of any load: results and their causes, what was tolerated, and the reports of both."""
