"""Moving in from an Ed-Fi ODS: its documents with ids, times and change versions; its clients and claim sets."""
