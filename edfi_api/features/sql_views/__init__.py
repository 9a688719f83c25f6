"""SQL views shaped like the tables of the Ed-Fi ODS, generated from the MetaEd model: names, columns, order, types."""
