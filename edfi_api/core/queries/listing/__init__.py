"""Lists over HTTP that are no collections of documents: query string → filters, and rows → a page of JSON objects."""
