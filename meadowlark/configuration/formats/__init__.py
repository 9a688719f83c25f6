"""How values are written on pages, by language; Django reads the modules of `FORMAT_MODULE_PATH`."""
