"""ApiSchema JSON, the compiled form of a MetaEd project that Ed-Fi publishes: read into a surface, written from one.

`reader.read_api_schemas` and `writer.api_schema` are the doors. Members that only serve other products (OpenAPI
fragments, relational names) are neither read nor written, but for the OpenAPI skeletons that Ed-Fi's server insists on.
"""
