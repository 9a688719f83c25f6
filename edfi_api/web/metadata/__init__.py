"""The routes that describe the API: discovery, OpenAPI, dependencies, XML schemas, `/docs`."""
