"""The bound of forms with files, before anything of them is kept."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler

from edfi_api.common.conf import api_settings


class BoundedUpload(FileUploadHandler):
    """Refuses a form that is longer than the server receives. The next handlers take the files."""

    def handle_raw_input(self, input_data: Any, META: Any, content_length: int, *_: Any, **__: Any) -> None:
        """Raise RequestDataTooBig."""
        if content_length > api_settings.upload_bytes:
            raise RequestDataTooBig(f"A form with a file has {api_settings.upload_bytes:,} bytes at most.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None
