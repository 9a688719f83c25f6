"""Runs in the clients' environment: prints what edfi-api-client reads from a server, as JSON."""

import json
import os
import sys

from edfi_api_client import EdFiClient

client = EdFiClient(os.environ["BASE_URL"], os.environ["API_KEY"], os.environ["API_SECRET"])
years = client.resource("schoolYearTypes")
grades = client.descriptor("gradeLevelDescriptors")
first_year = years.get(limit=1)[0]
swagger = client.get_swagger("resources")

json.dump(
    {
        "version": client.get_ods_version(),
        "standard": client.get_data_model_version(),
        "ping": years.ping().status_code,
        "resources": [name for _, name in client.resources],
        "descriptors": [name for _, name in client.descriptors],
        "description": grades.description,
        "schemas": sorted(swagger.json["components"]["schemas"]),
        "total_count": years.get_total_count(),
        "filtered_count": client.resource("schoolYearTypes", params={"schoolYear": 2026}).get_total_count(),
        "rows_by_cursor": [row["schoolYear"] for page in years.get_pages_cursor(page_size=20) for row in page],
        "rows_by_offset": [row["schoolYear"] for page in years.get_pages(page_size=20) for row in page],
        "rows_by_choice": [row["schoolYear"] for row in years.get_rows(page_size=20)],
        "by_id": years.get_by_id(first_year["id"])["schoolYear"],
        "first": first_year["schoolYear"],
        "token_is_active": client.get_token_info()["active"],
    },
    sys.stdout,
)
