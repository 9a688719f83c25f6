"""Today, the first page of the admin: what is missing, was refused or found, and how complete each school is."""
