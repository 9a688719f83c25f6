"""Query string → selection → plan → the SQL of a page; totals, partitions, and the choice of a replica."""
