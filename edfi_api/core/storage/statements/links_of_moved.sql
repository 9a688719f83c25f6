-- For the document whose identity changes, since its references may have changed too. Runs after the aliases have been
-- moved.
WITH {links} SELECT types, ids, are_there FROM links
