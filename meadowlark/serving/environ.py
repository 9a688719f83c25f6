"""WSGI variables from the engine's description of a request."""

import sys
from functools import lru_cache
from io import SEEK_END, BytesIO, RawIOBase
from typing import IO
from wsgiref.types import WSGIEnvironment

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from meadowlark.serving.rsgi import Scope

FIXED: WSGIEnvironment = {
    "SCRIPT_NAME": "",
    "wsgi.errors": sys.stderr,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.url_scheme": "http",
    "wsgi.version": (1, 0),
}
_VERSIONS = {"1": "HTTP/1.0", "1.1": "HTTP/1.1"}
_WITHOUT_PREFIX = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}
# In place of values that are not ASCII, which the engine does not hand over: a condition must not be ignored.
_NOT_ASCII = "?"


def variables(scope: Scope, client: str) -> WSGIEnvironment:
    """Return the variables that differ between requests, without `wsgi.input`. `client` is `scope.client`: address and
    port."""
    path, headers = scope.path, scope.headers
    address, _, port = client.rpartition(":")
    environ = {
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": path if path.isascii() else path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_PROTOCOL": _VERSIONS[scope.http_version],
        "REMOTE_ADDR": address.strip("[]"),
        "REMOTE_PORT": port,
    }
    fields = headers.items()
    for name, value in fields:
        variable = _variable(name)
        if variable in environ:
            separator = "; " if name == "cookie" else ","
            environ[variable] += separator + value
        elif variable:
            environ[variable] = value
    if len(fields) < len(headers):
        environ |= {
            variable: _NOT_ASCII for name in headers if (variable := _variable(name)) and variable not in environ
        }
    return environ


@lru_cache(1024)
def _variable(name: str) -> str:
    """The variable of a header; none for a name with an underscore, which a proxy may take for another header than the
    application does."""
    return "" if "_" in name else _WITHOUT_PREFIX.get(name) or f"HTTP_{name.upper().replace('-', '_')}"


def body_length(variables: WSGIEnvironment) -> int | None:
    """Return the length of a body in bytes; None for a chunked one."""
    return None if _CODING in variables else int(variables.get("CONTENT_LENGTH") or 0)


def bytes_in_file(variables: WSGIEnvironment) -> int:
    """Return the limit of a body that may be large and is read into a file: that of a batch, or of a form with a file.
    0 for other bodies."""
    if variables["REQUEST_METHOD"] != "POST":
        return 0
    if variables.get("CONTENT_TYPE", "").lower().startswith(_FORM_WITH_FILE):
        return api_settings.upload_bytes
    path: str = variables["PATH_INFO"]
    if path.rstrip("/").rpartition("/")[2].lower() not in _BATCHES:
        return 0
    return int(api_settings.BATCH_BYTES) if api_settings.BATCH else 0


def add_body(variables: WSGIEnvironment, body: bytes | IO[bytes] | None) -> None:
    """`wsgi.input`, which raises OSError for a body that is not complete. A chunked body gets a length."""
    if body is None:
        variables["wsgi.input"] = _Incomplete()
        return
    stream = BytesIO(body) if isinstance(body, bytes) else body
    variables["wsgi.input"] = stream
    if variables.pop(_CODING, None):
        variables["CONTENT_LENGTH"] = str(stream.seek(0, SEEK_END))
        stream.seek(0)


_CODING = "HTTP_TRANSFER_ENCODING"
_FORM_WITH_FILE = "multipart/form-data"
_BATCHES = frozenset({addresses.BATCH, addresses.BATCH_ALIAS})


class _Incomplete(RawIOBase):
    def read(self, size: int = -1) -> bytes:
        raise OSError("The body is not complete.")
