"""The XML schemas of a data standard and of its extensions, as Ed-Fi publishes them with the standard.

`schema_files` in `files.py` is the door: model → files. `core_schema.py` and `interchange_schemas.py` say what stands
in which file, the modules that they import which types follow from which declaration; `files.py` is the only module
that writes XML. `problems.py` finds models that make no valid file.
"""
