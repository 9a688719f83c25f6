"""ApiSchema JSON, the compiled form of a MetaEd project that Ed-Fi publishes: read into a surface, written from one.

The entry points are `reader.read_api_schemas` and `writer.api_schema`. Members that only other products use (OpenAPI
fragments, relational names) are neither read nor written, except the OpenAPI skeletons that Ed-Fi's server requires.
"""
