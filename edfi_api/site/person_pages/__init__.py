"""Pages of persons in the admin: what a layout says that belongs to a student, a staff member or a contact."""
