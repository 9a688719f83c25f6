"""The admin site, and its pages of documents."""
