"""What pages read of tables with many rows."""
