"""What the pages of the admin share: choice of the data store, titles, filters, links, deletion."""
