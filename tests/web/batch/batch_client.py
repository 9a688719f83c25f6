"""A client that sends batches."""

import gzip
import json
from typing import Any

from tests.conftest import ApiTestClient, http


class BatchClient:
    """Sends batches with the token of a client; `results` are those of an accepted batch, without the summary."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.api = ApiTestClient(token)

    def send(self, operations: Any, path: str = "/batch", content_type: str = "application/json", **extra: Any):
        query = "&".join(
            f"{name.rstrip('_')}={extra.pop(name)}" for name in ("mode", "order", "return_") if name in extra
        )
        sent = operations if isinstance(operations, bytes) else json.dumps(operations).encode()
        # Django's client sends no Content-Type for an empty body.
        headers = {"HTTP_AUTHORIZATION": f"Bearer {self.token}", "CONTENT_TYPE": content_type} | extra
        return http().post(f"{path}?{query}" if query else path, sent, content_type=content_type, **headers)

    def lines(self, operations: Any, **extra: Any):
        text = "\n".join(json.dumps(operation) for operation in operations).encode()
        return self.send(text, content_type="application/x-ndjson", **extra)

    def gzipped(self, operations: Any, **extra: Any):
        return self.send(gzip.compress(json.dumps(operations).encode()), HTTP_CONTENT_ENCODING="gzip", **extra)

    def results(self, operations: Any, **extra: Any) -> list[dict[str, Any]]:
        """The results of a batch that is answered with 200."""
        response = self.send(operations, **extra)
        assert response.status_code == 200, response.content
        *results, summary = parts(response)
        assert set(summary) == {"summary"}
        return results

    def independent(self, *operations: Any, **extra: Any) -> list[dict[str, Any]]:
        return self.results(list(operations), mode="independent", **extra)

    def statuses(self, *operations: Any, **extra: Any) -> list[int]:
        return [result["status"] for result in self.independent(*operations, **extra)]


def parts(response: Any) -> list[dict[str, Any]]:
    """The results and the summary, from either form."""
    content = b"".join(response.streaming_content) if response.streaming else response.content
    if response["Content-Type"] == "application/x-ndjson":
        return [json.loads(line) for line in content.splitlines()]
    return json.loads(content)
