"""Questions in words: assistants ask the SQL views by the Model Context Protocol, with the rights of a person."""
