"""What the examples share: a client of an Ed-Fi API, with the standard library alone."""

import base64
import http.client
import json
import sys
import time
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit


class Answer(NamedTuple):
    """Status, headers and the parsed body, if there is one."""

    status: int
    headers: Any
    body: Any


class EdFi:
    """A client on one connection. It gets a token when it needs one, and waits when the server says so."""

    def __init__(self, address: str, key: str, secret: str) -> None:
        self.address = urlsplit(address)
        self._login = base64.b64encode(f"{key}:{secret}".encode()).decode()
        kind = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(self.address.netloc, timeout=60)
        self._token = ""

    def send(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request; `path` may be an address of this server."""
        path = path.removeprefix(f"{self.address.scheme}://{self.address.netloc}")
        path = path if path.startswith(f"{self.address.path}/") else self.address.path + path
        text = None if body is None else json.dumps(body)
        for _ in range(5):
            if not self._token:
                self._get_token()
            headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
            answer = self._send(method, path, text, headers)
            if answer.status == 401:
                self._token = ""
            elif answer.status in (429, 503):
                time.sleep(int(answer.headers.get("Retry-After", "1")))
            else:
                return answer
        return answer

    def pages(self, path: str, size: int = 500) -> Any:
        """Yield all documents of a collection, by page tokens, which stay quick for collections of any length."""
        for token in self.send("GET", f"{path}/partitions?number=1").body["pageTokens"]:
            following = token
            while following:
                query = urlencode({"pageToken": following, "pageSize": size})
                answer = self.send("GET", f"{path}?{query}")
                yield from answer.body
                following = answer.headers.get("Next-Page-Token")

    def _get_token(self) -> None:
        headers = {"Authorization": f"Basic {self._login}", "Content-Type": "application/x-www-form-urlencoded"}
        path = f"{self.address.path}/oauth/token"
        answer = self._send("POST", path, "grant_type=client_credentials", headers)
        if answer.status != 200:
            sys.exit(f"no token: {answer.body}")
        self._token = answer.body["access_token"]

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Answer:
        try:
            self._connection.request(method, path, body, headers)
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        return Answer(response.status, response.headers, json.loads(text) if text else None)


def say(*said: object) -> None:
    """Print, also where output is a file."""
    sys.stdout.write(" ".join(map(str, said)) + "\n")
