"""The admin site: its front page, navigation and search."""
